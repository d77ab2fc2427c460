"""What a piece of evidence is called, when it held, and where an answer cites it. Nothing is escaped yet."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.trace import Candidate, Evidence

_CITATION = re.compile(r"\[(?:mem|passage|fact|entity):[^\[\]\s]+\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A stretch of an answer: plain ``text``, or a citation of evidence ``cites`` (from 1)."""

    text: str = ""
    cites: int | None = None


def pieces(text: str, evidence: Sequence[Evidence]) -> list[Piece]:
    """``text`` taken apart at its citations; one that resolves to no evidence stays text."""
    numbers = {item.citation: place for place, item in enumerate(evidence, start=1)}
    result, start = [], 0
    for match in _CITATION.finditer(text):
        cites = numbers.get(match.group())
        if cites is None:
            continue
        if match.start() > start:
            result.append(Piece(text=text[start : match.start()]))
        result.append(Piece(cites=cites))
        start = match.end()
    return [*result, *([Piece(text=text[start:])] if start < len(text) else [])]


def handle(item: Evidence | Candidate) -> str:
    """What a reader knows it by: the fact's ends, a name, a title, a source."""
    if item.fact:
        return f"{item.fact.source} → {item.fact.target}"
    return item.name or item.title or item.source or "(no source)"


def validity(item: Evidence | Candidate) -> str:
    """When it held, in words; empty where it does not say."""
    if item.fact:
        ends = item.fact.valid_at or "", item.fact.invalid_at or ""
        return f"{_day(ends[0]) or '…'} to {_day(ends[1]) or 'now'}" if any(ends) else ""
    return _day(item.valid_at or "")


def _day(moment: str) -> str:
    return moment.removesuffix("T00:00:00Z").replace("T", " ").removesuffix("Z")
