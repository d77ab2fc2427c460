"""How a hosted model's failure is named, said and retried, whichever service it is."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from random import uniform
from time import monotonic, time
from typing import TypeVar

from core.models.chat import ChatError, Outcome

T = TypeVar("T")
MAX_PAUSE_SECONDS = 8.0
KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY")
_OUTCOMES: Mapping[int, Outcome] = {
    401: "unauthorized",
    402: "unauthorized",
    403: "unauthorized",
    408: "unavailable",
    429: "rate_limited",
    529: "overloaded",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a call may take in all (seconds of wall time, pauses included), how often it is tried again (at most
    2 times more), and the first pause, which doubles and is spread by a quarter either way."""

    seconds: float
    retries: int = 2
    pause_seconds: float = 0.5


class PassingError(ChatError):
    """A failure that may be gone in a moment; ``retry_after`` is when, in seconds, where the service says so."""

    retry_after: float | None = None


def outcome_of(status: int) -> Outcome:
    """What an HTTP status of 400 and above means."""
    return _OUTCOMES.get(status, "unavailable" if status >= 500 else "bad_request")


def passing(status: int) -> bool:
    """Whether a status is worth another try: 408, 429 and 5xx, 529 among them."""
    return status in (408, 429) or status >= 500


async def patiently(attempt: Callable[[], Awaitable[T]], patience: Patience) -> T:
    """The result of ``attempt``, tried again after passing faults as long as there is time for the pause before.

    Raises:
        PassingError: the last one. Whatever else ``attempt`` raises is raised at once.
    """
    until = monotonic() + patience.seconds
    for tried in range(patience.retries + 1):
        try:
            return await attempt()
        except PassingError as fault:
            pause = fault.retry_after
            if pause is None:
                pause = min(patience.pause_seconds * 2**tried, MAX_PAUSE_SECONDS) * uniform(0.75, 1.25)
            if tried == patience.retries or monotonic() + pause >= until:
                raise
            await asyncio.sleep(pause)
    raise AssertionError("unreachable: the last try returns or raises")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds a service asks to wait (``Retry-After`` as seconds or as a date, ``retry-after-ms``), at least 0; None
    where it says nothing that can be read."""
    try:
        if "retry-after-ms" in headers:
            return _finite(float(headers["retry-after-ms"]) / 1000)
        said = headers.get("retry-after", "")
        if re.fullmatch(r"[\d.]+", said):
            return _finite(float(said))
        return _finite(parsedate_to_datetime(said).timestamp() - time()) if said else None
    except (ValueError, TypeError, OverflowError):
        return None


def _finite(seconds: float) -> float | None:
    return max(seconds, 0.0) if seconds < float("inf") else None


def said(error: Exception) -> str:
    """What went wrong in one line of at most 200 characters, without a key."""
    line = " ".join(str(error).split())
    for secret in filter(None, (os.environ.get(key, "").strip() for key in KEYS)):
        line = line.replace(secret, "…")
    return re.sub(r"\bsk-[\w*-]+", "…", line)[:200]
