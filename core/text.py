"""Words, terms and sentences. One notion of a term serves the lexical indexes, overlap and the graph's keywords."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Any

_WORD = re.compile(r"\w+(?:['’]\w+)*", re.UNICODE)
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])[\"'”’)\]]*\s+(?=\S)|\n{2,}|\n(?=\s*[-*#\d])")
_ABBREVIATION = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|vs|etc|e\.g|i\.e|cf|al|Fig|No|Inc|Ltd|Co|Jr|Sr|approx|[A-Z])\.)$"
)

STOP_WORDS = frozenset(
    """a about above after again against all am an and any are aren't as at be because been before being below between
    both but by can can't cannot could couldn't did didn't do does doesn't doing don't down during each few for from
    further had hadn't has hasn't have haven't having he her here hers herself him himself his how i i'd i'll i'm i've
    if in into is isn't it it's its itself just me more most my myself no nor not now of off on once only or other our
    ours ourselves out over own same she should shouldn't so some such than that that's the their theirs them
    themselves then there these they they're this those through to too under until up very was wasn't we were weren't
    what what's when where which while who whom why will with won't would wouldn't you your yours yourself yourselves
    s t d ll m re ve""".split()
)


def normalize(text: str) -> str:
    """NFKC and lower case without locale: canonically equal texts, full-width digits and the dotted capital I
    (whose lower case carries a combining dot, removed here) become equal."""
    lowered = unicodedata.normalize("NFKC", text).lower().replace("i̇", "i")
    return unicodedata.normalize("NFKC", lowered)


def well_formed(text: str) -> str:
    """``text`` with each lone surrogate as U+FFFD, so that it can be encoded; JSON may carry such in ``\\ud800``."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def words(text: str) -> list[str]:
    """Words and numbers of ``text``, normalised, in order, stop words included."""
    return [word.replace("’", "'") for word in _WORD.findall(normalize(text))]


def terms(text: str) -> list[str]:
    """Words and numbers without stop words, unstemmed, in order, repeats kept. Empty for a text of stop words only."""
    return [bare for word in words(text) if word not in STOP_WORDS and (bare := word.removesuffix("'s"))]


@lru_cache(maxsize=200_000)
def stem(term: str) -> str:
    """Snowball English stem of one term. Source: Porter, Snowball (2001)."""
    return str(_stemmer().stemWord(term))


def stems(text: str) -> list[str]:
    """``terms(text)``, each stemmed: what the lexical indexes and ``overlap`` see."""
    return [stem(term) for term in terms(text)]


def sentences(text: str) -> list[tuple[int, int]]:
    """Spans ``(start, end)`` of the sentences of ``text``, in order, without surrounding blanks, none empty.

    Splits after ``. ! ?`` followed by blanks, at blank lines and before list items; not after common abbreviations
    or initials. ``[]`` for a blank text.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _SENTENCE_END.finditer(text):
        head = text[max(start, match.start() - 12) : match.start()]
        if "\n" not in match.group() and _ABBREVIATION.search(head):
            continue
        _add_span(text, start, match.start() + len(match.group().rstrip()), spans)
        start = match.end()
    _add_span(text, start, len(text), spans)
    return spans


def _add_span(text: str, start: int, end: int, spans: list[tuple[int, int]]) -> None:
    piece = text[start:end]
    stripped = piece.strip()
    if stripped:
        first = start + len(piece) - len(piece.lstrip())
        spans.append((first, first + len(stripped)))


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")
