"""Deterministic answers: a fully cited list of what was kept, written without a model."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.records import Fact
from core.trace import Evidence

WRITER = "deterministic"
NOTICE = (
    "No model wrote this answer: it lists the best-matching sentence of each kept item, with its citation."
)
_TAG = re.compile(r"\[(?=(?:mem|passage|fact|entity):)")


def listed(evidence: Sequence[Evidence]) -> str:
    """One line for each piece of evidence in rank order: its quote on one line, then its citation.

    What looks like a citation inside a quote gets a blank behind its bracket: stored text cites nothing.
    """
    return "\n".join(f"{_TAG.sub('[ ', ' '.join(item.quote.split()))} {item.citation}" for item in evidence)


def fact_sentence(fact: Fact) -> str:
    """Subject, relation and object in words, then the validity where it is known.

    ``Ines works at Meridian (valid from 2023-01-01 until 2024-03-01)``
    """
    start = f"from {_day(fact.valid_at)}" if fact.valid_at else ""
    end = f"until {_day(fact.invalid_at)}" if fact.invalid_at else ""
    validity = f" (valid {' '.join(part for part in (start, end) if part)})" if start or end else ""
    return f"{fact.source} {fact.relation.replace('_', ' ')} {fact.target}{validity}"


def _day(moment: str) -> str:
    return moment.removesuffix("T00:00:00Z")
