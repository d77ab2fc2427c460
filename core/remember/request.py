"""What may be remembered, and the artifact it becomes."""

from __future__ import annotations

import unicodedata
from hashlib import sha256

from core import clock
from core.errors import UsageError
from core.ingest.items import ArtifactItem
from core.store.datasets import check_name

MAX_TEXT = 1024 * 1024
"""Bytes a text may have."""
MAX_SESSION = 128
"""Bytes a session's name may have."""
MAX_SOURCE = 1024


def artifact_of(
    text: str,
    *,
    user_id: str,
    dataset: str,
    session: str | None,
    valid_at: str | None,
    source: str | None,
    limit: int = MAX_TEXT,
) -> ArtifactItem:
    """The artifact a text becomes. Without a ``source`` it is named by its text, session and moment together: the same
    said in another session, or of another time, is another artifact.

    Raises:
        UsageError: any of these cannot be taken; the message says which.
    """
    _check_text(text, limit)
    if not user_id.strip():
        raise UsageError("user_id is empty; say whose memory it is")
    check_name(dataset)
    check_session(session)
    if source is not None and not (source.strip() and source.isprintable() and len(source) <= MAX_SOURCE):
        raise UsageError(f"source must be 1 to {MAX_SOURCE} printable characters, got {source[:50]!r}")
    moment = _moment(valid_at)
    parts = [text, session or "", moment or ""]
    key = sha256("\x1f".join(f"{len(part)}:{part}" for part in parts).encode()).hexdigest()[:32]
    return ArtifactItem(source=source or f"remember:{key}", text=text, session=session, valid_at=moment)


def check_session(session: str | None) -> None:
    """Raises UsageError for a session's name that is empty, longer than ``MAX_SESSION`` bytes or unprintable."""
    if session is None:
        return
    size = len(session.encode("utf-8", "surrogatepass"))
    if (
        not session.strip()
        or size > MAX_SESSION
        or any(unicodedata.category(m) in ("Cc", "Cs") for m in session)
    ):
        raise UsageError(
            f"session_id must be 1 to {MAX_SESSION} bytes without control characters, got {session[:50]!r} "
            f"({size} bytes)"
        )


def _check_text(text: str, limit: int) -> None:
    if not text.strip():
        raise UsageError("the text is empty; write what is to be remembered")
    if "\x00" in text or any("\ud800" <= mark <= "\udfff" for mark in text):
        raise UsageError("the text holds a NUL or half of a character (a lone surrogate); write it without")
    size = len(text.encode("utf-8"))
    if size > limit:
        raise UsageError(f"the text has {size} bytes; at most {limit} are taken, send it in parts")


def _moment(valid_at: str | None) -> str | None:
    try:
        return clock.parse(valid_at) if valid_at is not None else None
    except ValueError as error:
        raise UsageError(f"valid_at: {error}") from error
