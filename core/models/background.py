"""One event loop in a thread of its own and one HTTP client on it, shared by every hosted chat model of the process.

A timeout of an HTTP library bounds one read, so a server that sends a byte now and then is waited for without end.
Here a call is a coroutine with a limit in wall time: when it is over, the call is cancelled and its connection closed.
"""

from __future__ import annotations

import asyncio
import atexit
import os
from collections.abc import Awaitable, Callable
from threading import Lock, Thread
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T")
CONNECT_SECONDS = 5.0
GRACE_SECONDS = 5.0
"""How much longer than its limit a call is waited for, should its cancelling hang."""


class _Background:
    """The loop, its thread and the client, of one process."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.loop = asyncio.new_event_loop()
        self._http: httpx2.AsyncClient | None = None
        self._thread = Thread(target=self.loop.run_forever, name="chat-models", daemon=True)
        self._thread.start()

    async def http(self) -> httpx2.AsyncClient:
        if self._http is None:
            import httpx2

            limits = httpx2.Limits(max_connections=100, max_keepalive_connections=20)
            self._http = httpx2.AsyncClient(follow_redirects=True, limits=limits)
        return self._http

    def close(self) -> None:
        """Ends the connections, the loop and the thread."""
        if self.pid != os.getpid():  # a fork has no such thread, and the sockets are the parent's
            return
        asyncio.run_coroutine_threadsafe(self._end(), self.loop).result(GRACE_SECONDS)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(GRACE_SECONDS)
        self.loop.close()

    async def _end(self) -> None:
        calls = asyncio.all_tasks() - {asyncio.current_task()}
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        if self._http is not None:
            await self._http.aclose()


_lock = Lock()
_background: _Background | None = None


def within(seconds: float, call: Callable[[httpx2.AsyncClient], Awaitable[T]]) -> T:
    """The result of ``call(the shared client)``, from any thread.

    Raises:
        TimeoutError: it took longer than ``seconds``, whatever it was waiting for. CancelledError (of
            ``concurrent.futures``): ``close`` ended it. What ``call`` raises is raised.
    """
    background = _running()

    async def limited() -> T:
        http = await background.http()  # made once; its time is not the call's
        async with asyncio.timeout(seconds):
            return await call(http)

    waiting = asyncio.run_coroutine_threadsafe(limited(), background.loop)
    try:
        return waiting.result(seconds + GRACE_SECONDS)
    finally:
        waiting.cancel()  # interrupted here: the call ends there too


def close() -> None:
    """Ends the calls that run, the connections and the loop; the next call starts them anew."""
    global _background
    with _lock:
        ended, _background = _background, None
    if ended is not None:
        ended.close()


def _running() -> _Background:
    global _background
    with _lock:
        if _background is None or _background.pid != os.getpid():
            if _background is None:
                atexit.register(close)
            _background = _Background()
        return _background
