"""Serving the application: the address is taken before anything is promised, and SIGTERM lets what has begun end."""

from __future__ import annotations

import signal
import socket
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import uvicorn

from core.errors import UsageError


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; ``port`` 0 is any free one.

    Raises:
        UsageError: the address is taken, or not this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        raise UsageError(
            f"cannot listen on {host}:{port}: {error.strerror or error}; choose another with --host or --port"
        ) from error


def serve(app: Any, listening: socket.socket, *, grace: float) -> None:
    """Serves until SIGTERM or SIGINT, then waits at most ``grace`` seconds for the requests that have begun."""
    config = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=round(grace),
    )
    _Server(config).run(sockets=[listening])


class _Server(uvicorn.Server):
    """Ends without error once it was told to: uvicorn itself would send the signal to the process again."""

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        before = {number: signal.signal(number, self._end) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _end(self, number: int, frame: FrameType | None) -> None:
        self.force_exit = self.should_exit and number == signal.SIGINT  # a second Ctrl+C does not wait
        self.should_exit = True
