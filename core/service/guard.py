"""Keeps pages of other sites away from a server that asks no token: they can reach this machine through its browser."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from ipaddress import ip_address
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class Guard:
    """An ASGI application before another one; 403 for a foreign ``Origin``, and where ``loopback`` a foreign ``Host``.

    A foreign Host is how a rebound name of the outside reaches a server that listens on this machine only.
    """

    def __init__(self, app: App, *, loopback: bool) -> None:
        self._app = app
        self._loopback = loopback

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        problem = self._problem(scope) if scope["type"] == "http" else None
        if problem is None:
            await self._app(scope, receive, send)
        else:
            await _refuse(send, problem)

    def _problem(self, scope: Scope) -> str | None:
        headers = {bytes(key).lower(): bytes(value).decode("latin-1") for key, value in scope["headers"]}
        host = headers.get(b"host", "")
        if self._loopback and not is_loopback(_name(host)):
            return f"the host {host[:100]!r} is not this machine; ask 127.0.0.1"
        origin = headers.get(b"origin")
        if origin is not None and origin.partition("://")[2] != host:
            return "pages of other sites may not ask this server"
        return None


def is_loopback(host: str) -> bool:
    """Whether ``host`` can only be this machine: ``localhost``, 127.0.0.0/8 or ``::1``."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _name(host: str) -> str:
    """The host without its port and brackets."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


async def _refuse(send: Send, problem: str) -> None:
    body = json.dumps({"error": problem}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": body})
