"""Candidates' texts cut into sentences of stems, kept while questions of the same dataset come in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from core.text import sentences, stems, words

_KEPT = 8192
"""Texts whose reading is kept."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, its distinct stems, and whether it asks instead of telling."""

    text: str
    stems: frozenset[str]
    asks: bool


@dataclass(frozen=True, slots=True)
class Text:
    """A text as its sentences, its stems in order and as a set."""

    sentences: tuple[Sentence, ...]
    order: tuple[str, ...]
    stems: frozenset[str]

    @property
    def words(self) -> list[str]:
        """Its words, stop words included."""
        return [word for sentence in self.sentences for word in words(sentence.text)]


@lru_cache(maxsize=_KEPT)
def read(text: str, speaker: str | None = None) -> Text:
    """``text`` without the ``Speaker:`` that it may begin with."""
    said = text.removeprefix(f"{speaker}:").lstrip() if speaker else text
    listed, order = [], []
    for start, end in sentences(said):
        found = stems(said[start:end])
        order += found
        asks = said[start:end].rstrip("\"'”’)").endswith("?")
        listed.append(Sentence(said[start:end], frozenset(found), asks))
    return Text(tuple(listed), tuple(order), frozenset(order))


@lru_cache(maxsize=_KEPT)
def title_stems(title: str) -> frozenset[str]:
    """Distinct stems of a title."""
    return frozenset(stems(title))
