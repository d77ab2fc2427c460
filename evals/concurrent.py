"""Several at once, results in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Given = TypeVar("Given")
Made = TypeVar("Made")


def in_order(make: Callable[[Given], Made], items: Sequence[Given], at_once: int) -> Iterator[Made]:
    """``make`` of every item, in the items' order, at most ``at_once`` at a time and not far ahead of the reader.

    The first error ends it; what has not begun is not begun.
    """
    if at_once <= 1:
        yield from map(make, items)
        return
    waiting: deque[Future[Made]] = deque()
    with ThreadPoolExecutor(at_once, thread_name_prefix="assay-eval") as pool:
        try:
            for item in items:
                waiting.append(pool.submit(make, item))
                if len(waiting) >= 2 * at_once:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
