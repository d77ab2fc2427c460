"""Time as text: ISO 8601 in UTC, second precision, so that text order is time order."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> str:
    """The current moment, e.g. ``2025-01-31T09:00:05Z``."""
    return to_text(datetime.now(UTC))


def now_ms() -> str:
    """The current moment with milliseconds, e.g. ``2025-01-31T09:00:05.250Z``: orders what happens within a second."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def to_text(moment: datetime) -> str:
    """``moment`` in UTC; a naive one is taken as UTC."""
    aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return (
        aware.strftime("%Y-%m-%dT%H:%M:%SZ")
        if aware.year >= 1000
        else f"{aware.year:04d}" + aware.strftime("-%m-%dT%H:%M:%SZ")
    )


def parse(text: str) -> str:
    """``text`` (a year, a date, or a date and time with or without zone) as UTC text.

    ``"2023"`` is the first moment of 2023 and ``"2023-03-01"`` that day's midnight.

    Raises:
        ValueError: ``text`` is none of these.
    """
    stripped = text.strip()
    if len(stripped) == 4 and stripped.isascii() and stripped.isdigit():
        stripped = f"{stripped}-01-01"
    elif len(stripped) == 7 and stripped[4] == "-":
        stripped = f"{stripped}-01"
    try:
        return to_text(datetime.fromisoformat(stripped))
    except (ValueError, OverflowError) as error:
        raise ValueError(
            f"not a date or time: {text!r}; write 2023, 2023-03-01 or 2023-03-01T09:00:00Z"
        ) from error
