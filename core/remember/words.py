"""Words in models' replies: cleaned, bounded, and read as dates where they are dates."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from core import clock
from core.answer.tags import restored
from core.text import normalize, well_formed

MAX_NAME = 300
MAX_WORDS = 4000


def clean(text: str) -> str:
    """On one line, without control characters and escapes of the prompt; "" for a blank text."""
    shown = "".join(mark if mark.isprintable() else " " for mark in well_formed(restored(text)))
    return " ".join(shown.split())


def relation_name(text: str) -> str:
    """``Works at`` as ``works_at``; what has no letters stays as it is."""
    return re.sub(r"\W+", "_", normalize(text)).strip("_") or text


def _said(text: str) -> str:
    if not text:
        raise ValueError("must not be blank")
    return text


def _moment(value: Any) -> Any:
    return None if isinstance(value, str) and not value.strip() else value


Text = Annotated[str, AfterValidator(clean), Field(max_length=MAX_WORDS)]
Name = Annotated[str, AfterValidator(clean), AfterValidator(_said), Field(max_length=MAX_NAME)]
Said = Annotated[str, AfterValidator(clean), AfterValidator(_said), Field(max_length=MAX_WORDS)]
Relation = Annotated[Name, AfterValidator(relation_name)]
Moment = Annotated[Annotated[str, AfterValidator(clock.parse)] | None, BeforeValidator(_moment)]
"""UTC text; None where nothing is said, also as ``""``."""
