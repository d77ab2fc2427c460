"""Blocking work beside the event loop: a fixed number of threads, a bounded queue, and a deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import TypeVar

from core.service.errors import RETRY, Refusal

Result = TypeVar("Result")


class Workers:
    """``threads`` calls are worked on at once, ``waiting`` more wait; none is waited for longer than ``seconds``."""

    def __init__(self, *, threads: int = 8, waiting: int = 256, seconds: float = 180.0) -> None:
        self.seconds = seconds
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="assay-call")
        self._most = threads + waiting
        self._inside = 0
        self._lock = Lock()

    async def run(self, work: Callable[[], Result]) -> Result:
        """What ``work`` returns, run in one of the threads.

        Raises:
            Refusal: 503, too many calls wait already; 502, it took longer than ``seconds``. Whatever ``work`` raises.
        """
        self._enter()
        try:
            future = self._pool.submit(work)
        except BaseException:
            self._leave()
            raise
        future.add_done_callback(self._leave)
        try:
            async with asyncio.timeout(self.seconds) as limit:
                return await asyncio.wrap_future(future)
        except TimeoutError:
            if not limit.expired():  # it was the work's own
                raise
            raise Refusal(
                502, f"no answer within {self.seconds:g} s; what was begun may still be finished"
            ) from None

    def close(self) -> None:
        """Ends the threads; what has begun is finished, what waits is not begun."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _enter(self) -> None:
        with self._lock:
            if self._inside >= self._most:
                raise Refusal(503, "too many requests are waiting; try again in a moment", RETRY)
            self._inside += 1

    def _leave(self, _: Future[Result] | None = None) -> None:
        with self._lock:
            self._inside -= 1
