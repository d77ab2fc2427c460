"""`figure <= number` as it is written on a command line."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal

from core.errors import UsageError

Sense = Literal["<=", ">="]
_WRITTEN = re.compile(r"\s*([A-Za-z_][\w@.]*?)\s*(<=|>=|≤|≥)\s*([^\s@]+)\s*(?:@\s*(\S+)\s*)?")
_SENSES: dict[str, Sense] = {"<=": "<=", "≤": "<=", ">=": ">=", "≥": ">="}


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A figure held to a number; ``level``, in (0, 1), is how sure one wants to be of it, where that was said."""

    figure: str
    sense: Sense
    number: float
    level: float | None = None


def parse(text: str, *, example: str) -> Relation:
    """``"false_answer_rate <= 0.05"``, or with a level, ``"false_answer_rate <= 0.05 @ 0.95"``.

    Raises:
        UsageError: it is none, or holds what is no number; the message shows ``example``.
    """
    found = _WRITTEN.fullmatch(text)
    if not found:
        raise UsageError(f"{text!r} is no condition on a figure; write one as {example!r}")
    figure, sense, number, level = found.groups()
    return Relation(
        figure=figure,
        sense=_SENSES[sense],
        number=_number(number, text),
        level=None if level is None else _number(level, text),
    )


def _number(written: str, text: str) -> float:
    try:
        number = float(written)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise UsageError(f"{written!r} in {text!r} is no number")
    return number
