"""Reading a request's body: at most 64 KiB are kept, however it is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from core.service.errors import Refusal

MAX_BODY = 64 * 1024
"""Bytes a body may have."""
MAX_DRAINED = 64 * 1024 * 1024
"""Bytes of a longer body that are read and thrown away, so that its sender is still there to read the refusal."""
SECONDS = 30.0
"""How long a body may take to arrive."""

Receive = Callable[[], Awaitable[Any]]
"""The ASGI channel a request's messages come through."""


async def read_body(headers: Mapping[str, str], receive: Receive, *, seconds: float = SECONDS) -> bytes:
    """The whole body.

    Raises:
        Refusal: 400, it is longer than ``MAX_BODY``, was cut short, or took longer than ``seconds``.
    """
    if headers.get("expect", "").lower() == "100-continue" and _announced(headers) > MAX_BODY:
        raise _too_long()  # its sender waits to be told to go on
    try:
        async with asyncio.timeout(seconds):
            return await _received(receive)
    except TimeoutError:
        raise Refusal(400, f"the body did not arrive within {seconds:g} s", {"Connection": "close"}) from None


async def _received(receive: Receive) -> bytes:
    kept, size, more = bytearray(), 0, True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            raise Refusal(400, "the request ended before its body did")
        part, more = message.get("body", b""), message.get("more_body", False)
        size += len(part)
        if size <= MAX_BODY:
            kept += part
        elif size > MAX_DRAINED:
            break
    if size > MAX_BODY:
        raise _too_long()
    return bytes(kept)


def _announced(headers: Mapping[str, str]) -> int:
    length = headers.get("content-length", "")
    return int(length) if length.isascii() and length.isdigit() and len(length) < 20 else 0


def _too_long() -> Refusal:
    return Refusal(
        400, f"the body has more than {MAX_BODY} bytes; send a shorter one", {"Connection": "close"}
    )
