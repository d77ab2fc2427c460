"""Progress bars with rate and time left, on stderr, quiet where nobody watches. The only module that knows tqdm."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[int], None]
"""Called with the number of items just finished."""


def quiet(finished: int) -> None:
    """Shows nothing."""


@contextmanager
def bar(label: str, *, total: int | None = None, unit: str = "items") -> Iterator[Progress]:
    """A bar while the block runs; nothing where stderr is not a terminal."""
    from tqdm import tqdm

    with tqdm(
        total=total, desc=label, unit=f" {unit}", disable=not sys.stderr.isatty(), leave=False
    ) as shown:
        yield lambda finished: void(shown.update(finished))


def void(_result: object) -> None:
    """Drops a result, for callbacks that return nothing."""
