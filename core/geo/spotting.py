"""Cities in running text, found by their names alone. Many words and people are called like a city, so a name counts:

* only as whole words that do not begin in lower case (``Nice`` may, ``nice`` never does); stop words, months and days
  never;
* made definite by a region (``Reading, Pennsylvania``; ``Austin TX``), or after a word of place (``in``, ``near``,
  ``20 km of`` …), or listed right after another place (``near Lyon and Nice``);
* without these only if it has several words (``Salt Lake City``) or is a city of a million (``Berlin hotels``), and of
  ten where it is a word the city is not known by (``Joanna`` is Johannesburg, too);
* an abbreviation (``LA``) never without these, in capitals only, and not in a text that is all in capitals.

A model reads better (``core.geo.detect``); this is what there is without one. The words of place are English.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from core.geo.names import SIGNS
from core.geo.places import Place
from core.text import STOP_WORDS

BIG_CITY = 1_000_000
"""Inhabitants from which a one-word name needs no sign that a place is meant."""
HUGE_CITY = 10_000_000
"""The same for a word that is another name than the one the city is known by."""
NO_CITY = STOP_WORDS | frozenset(
    """january february march april may june july august september october november december monday tuesday wednesday
    thursday friday saturday sunday""".split()
)
LONGEST = 6
"""Words a name may have."""
_WORD = re.compile(rf"(?:[^\W_]|[{SIGNS}])+(?:['’`][^\W_]+)*")
_POSSESSIVE = re.compile(r"['’]s\Z", re.IGNORECASE)
_WITHIN_NAME = re.compile(r"[ \t\u00a0]+|[-‐‑–]|\.[ \t\u00a0]?")
_BEFORE_REGION = re.compile(r"\s*[,(]\s*|[ \t\u00a0]+")
_LISTED = re.compile(
    r"\s*(?:,|/|;|&|\band\b|\bor\b|, *and\b|, *or\b)\s*(?:in |near |around )?\s*", re.IGNORECASE
)
_SENTENCE_START = re.compile(r"(?:^|[.!?:;…¿¡]\s|\n)[\s\"'“”„‚‘’«»(\[*#>-]*$")
_PLACE_WORD = re.compile(
    r"""\b(?:in|into|near|nearby|around|outside|across|towards?
        |(?:north|south|east|west|northeast|northwest|southeast|southwest|km|kms|kilomet(?:er|re)s?|mi|miles?|vicinity
            |outskirts|suburbs?|city|cities|towns?|villages?|centre|center|population|radius|hours?|minutes?)\s+of
        |(?:city|cities|towns?|villages?)\s+(?:named|called)
        |(?:away|far|miles?|km|kilomet(?:er|re)s?)\s+from|(?:close|next|nearest|closest)\s+to)
        \s+(?:the\s+|downtown\s+|central\s+|greater\s+|old\s+|city\s+of\s+)?$""",
    re.IGNORECASE | re.VERBOSE,
)
_LOOK_BACK = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """A name that could be a city's. ``known_by``: it is the city's main name, or so foreign that no English word or
    person is called like it (``Joanna`` is Johannesburg, too); ``code``: it is an abbreviation."""

    place: Place
    known_by: bool
    code: bool


class Names(Protocol):
    """What knows names of cities and regions."""

    def spot(self, name: str, region: str | None, *, loose: bool = False) -> Spot | None: ...

    def is_region(self, name: str) -> bool: ...


@dataclass(frozen=True, slots=True)
class _Word:
    start: int
    end: int
    text: str

    @property
    def is_name(self) -> bool:
        return not self.text[0].islower() and not self.text[0].isdigit()


def spots(text: str, names: Names) -> Iterator[Spot]:
    """The cities in ``text`` from left to right, the longest name first; no two overlap."""
    text = unicodedata.normalize("NFKC", text)
    words = [
        _Word(match.start(), match.start() + len(bare), bare)
        for match in _WORD.finditer(text)
        if (bare := _POSSESSIVE.sub("", match.group()))
    ]
    at, last_end = 0, -1
    while at < len(words):
        found = _longest(text, words, at, names, last_end) if words[at].is_name else None
        if found is None:
            at += 1
            continue
        spot, at = found
        last_end = words[at - 1].end
        if spot is not None:
            yield spot


def _longest(
    text: str, words: list[_Word], at: int, names: Names, last_end: int
) -> tuple[Spot | None, int] | None:
    """The longest city that starts at word ``at`` and the word after it; a region's name is passed over whole."""
    for size in range(min(LONGEST, len(words) - at), 0, -1):
        span = words[at : at + size]
        if not span[-1].is_name or not _is_joined(text, span):
            continue
        name = text[span[0].start : span[-1].end]
        definite = _definite(text, words, at, size, names)
        if definite is not None and not _is_stopped(text, span, hinted=True):
            return definite
        spot = names.spot(name, None)
        if spot is not None and _counts(text, span, spot, last_end):
            return spot, at + size
        if size > 1 and names.is_region(name):
            return None, at + size
    return None


def _definite(text: str, words: list[_Word], at: int, size: int, names: Names) -> tuple[Spot, int] | None:
    """The city that the region after it makes definite, and the word after the region."""
    before = words[at + size - 1].end
    for more in range(min(LONGEST, len(words) - at - size), 0, -1):
        region = words[at + size : at + size + more]
        gap = text[before : region[0].start]
        if not region[0].is_name or not _BEFORE_REGION.fullmatch(gap) or not _is_joined(text, region):
            continue
        said = text[region[0].start : region[-1].end]
        spot = names.spot(text[words[at].start : before], said, loose=not gap.strip())
        if spot is not None:
            return spot, at + size + more
    return None


def _counts(text: str, span: list[_Word], spot: Spot, last_end: int) -> bool:
    if _is_stopped(text, span, hinted=False):
        return False
    if spot.code and text.isupper():
        return False
    start, end = span[0].start, span[-1].end
    listed = last_end >= 0 and _LISTED.fullmatch(text[last_end:start]) is not None
    placed = listed or _PLACE_WORD.search(text[max(0, start - _LOOK_BACK) : start]) is not None
    if placed and not _POSSESSIVE.match(text[end : end + 2]):  # in Sam's opinion
        return True
    if spot.code:
        return False
    if len(span) > 1:
        return spot.known_by or spot.place.population >= BIG_CITY
    return spot.place.population >= (BIG_CITY if spot.known_by else HUGE_CITY)


def _is_stopped(text: str, span: list[_Word], *, hinted: bool) -> bool:
    """A stop word is no city; one that begins a longer name (``The Hague``, ``La Plata`` is none) may stand anywhere
    but at a sentence's start, where its capital says nothing."""
    first = span[0].text.lower()
    if first not in NO_CITY or first == "the":
        return len(span) == 1 and first == "the"
    if len(span) == 1:
        return not hinted
    return _SENTENCE_START.search(text[max(0, span[0].start - _LOOK_BACK) : span[0].start]) is not None


def _is_joined(text: str, span: list[_Word]) -> bool:
    return all(_WITHIN_NAME.fullmatch(text[left.end : right.start]) for left, right in pairwise(span))
