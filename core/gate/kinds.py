"""Whether a text holds the kind of thing a question asks for: a name, a time, a place, a number, a reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping

from core.gate.asked import Kind

_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_TIME = re.compile(
    rf"\b(1\d{{3}}|20\d{{2}})s?\b|\b({_MONTHS})\b|\bcentur(y|ies)\b|\b\d{{1,2}}:\d\d\b"
    r"|\b(yesterday|today|tomorrow|tonight)\b|\b(last|next|this|every) (\w+day|night|week|weekend|month|year)\b"
    r"|\b(seconds?|minutes?|hours?|days?|weeks?|months?|years?) (ago|before|after|later|earlier)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\d|\b(one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|hundred|thousand|million|billion|dozen|"
    r"once|twice|half|several)\b",
    re.IGNORECASE,
)
_CAPITAL = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z][\w'’-]+")
_PLACE = re.compile(r"\b(?:in|at|near|from|of|on|to)\s+(?:the\s+)?[A-Z]\w+")
_REASON = re.compile(
    r"\b(because|due to|since|so that|in order to|reason|caused?|therefore|thus|led to)\b", re.IGNORECASE
)


def _name(text: str, asked: Collection[str]) -> bool:
    """A capital inside a sentence that the question does not have already."""
    return any(found.lower().removesuffix("'s") not in asked for found in _CAPITAL.findall(text))


_CHECKS: Mapping[Kind, Callable[[str, Collection[str]], bool]] = {
    "who": _name,
    "when": lambda text, _: bool(_TIME.search(text)),
    "where": lambda text, _: bool(_PLACE.search(text)),
    "how many": lambda text, _: bool(_NUMBER.search(text)),
    "why": lambda text, _: bool(_REASON.search(text)),
}
CHECKED: tuple[Kind, ...] = tuple(_CHECKS)
"""Kinds that can be looked for."""
CALLED: Mapping[Kind, str] = {
    "who": "a name",
    "when": "a time",
    "where": "a place",
    "how many": "a number",
    "why": "a reason",
}


def holds(kind: Kind, text: str, asked: Collection[str]) -> bool:
    """Whether ``text`` holds a thing of that kind beyond the question's own words ``asked``; kinds that cannot be looked
    for (what, how, none) are always held."""
    check = _CHECKS.get(kind)
    return check is None or check(text, asked)
