"""Keyword seeds of the graph: points for entities that the question names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.records import Entity
from core.text import STOP_WORDS, normalize, words


@dataclass(frozen=True, slots=True, kw_only=True)
class Keywords:
    """How a question is split into terms and how entities earn points by them."""

    max_terms: int
    min_length: int
    name_points: float
    term_points: float
    description_points: float

    def terms(self, question: str) -> tuple[str, ...]:
        """Distinct terms in order, unstemmed, at most ``max_terms``; short ones and stop words dropped."""
        kept = (word.removesuffix("'s") for word in words(question) if word not in STOP_WORDS)
        return tuple(dict.fromkeys(term for term in kept if len(term) >= self.min_length))[: self.max_terms]

    def points(self, entity: Entity, question: str, terms: Sequence[str]) -> float:
        """``name_points`` if the whole normalised name stands in the question as words; for each term ``term_points``
        if it is in the name, ``description_points`` if it is in the description."""
        name, description = normalize(entity.name), normalize(entity.description)
        whole = self.name_points if stands_in(name, question) else 0.0
        return whole + sum(
            self.term_points * (term in name) + self.description_points * (term in description)
            for term in terms
        )


def stands_in(name: str, question: str) -> bool:
    """Whether all words of ``name`` follow each other in ``question`` (so that `Ann` is not found in `planning`)."""
    wanted, text = words(name), words(question)
    bare = [word.removesuffix("'s") for word in text]
    size = len(wanted)
    return size > 0 and any(
        text[start : start + size] == wanted or bare[start : start + size] == wanted
        for start in range(len(text) - size + 1)
    )
