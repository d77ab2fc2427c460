"""A real server of the service on a free port of this machine, in a thread."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
import uvicorn

from core import profile as profiles
from core.service.answering import Answering
from core.service.app import create_app
from core.service.workers import Workers
from core.workspace import Workspace


@contextmanager
def served(app: Any) -> Iterator[str]:
    """The address of ``app`` while it is served."""
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, http="h11", ws="none", log_config=None, access_log=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(30)
        listening.close()
        assert not thread.is_alive()


def answering(workspace: Workspace, **settings: Any) -> Answering:
    loaded = {recipe: profiles.load("seed", recipe) for recipe in ("graph", "brain")}
    return Answering(workspace=workspace, profiles=loaded, **settings)


@pytest.fixture
def serve() -> Iterator[Callable[..., httpx.Client]]:
    """``serve(workspace, tokens=…, chat=…)`` gives a client of a server that asks this workspace."""
    stack = []

    def start(workspace: Workspace, *, workers: Workers | None = None, **settings: Any) -> httpx.Client:
        of_app = {key: settings.pop(key) for key in ("tokens", "loopback") if key in settings}
        app = create_app(answering(workspace, **settings), workers=workers or Workers(), **of_app)
        running = served(app)
        client = httpx.Client(base_url=running.__enter__(), timeout=60)
        stack.append((running, client))
        return client

    yield start
    for running, client in stack:
        client.close()
        running.__exit__(None, None, None)
