"""What the graph recipe considers: entities, facts and passages with their scores, until they are cited or fall."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

import numpy as np

from core.answer.write import fact_sentence
from core.index.base import Scores
from core.index.corpus import Corpus
from core.records import Chunk, Entity, Fact
from core.trace import Candidate, CandidateKind, Drop

Row = Entity | Fact | Chunk


@dataclass(slots=True, kw_only=True)
class Item:
    """One entity, fact or chunk. ``cosine`` is its best over its indexes, None while it was not scored."""

    kind: CandidateKind
    row: Row
    source: str = ""
    cosine: float | None = None
    points: float = 0.0
    drop: Drop | None = None

    @property
    def row_id(self) -> int:
        """The row number in its table."""
        match self.row:
            case Entity():
                return self.row.entity_id
            case Fact():
                return self.row.fact_id
            case Chunk():
                return self.row.chunk_id

    @property
    def item_id(self) -> str:
        """Kind and row number, e.g. ``fact:12``."""
        return f"{self.kind}:{self.row_id}"

    @property
    def text(self) -> str:
        """What is quoted from and shown."""
        match self.row:
            case Entity(name=name, type=kind, description=description):
                return f"{name} ({kind}): {description}" if description else f"{name} ({kind})"
            case Fact():
                return self.row.description or fact_sentence(self.row)
            case Chunk():
                return self.row.text

    def candidate(self, spaces: Mapping[str, str]) -> Candidate:
        """The Trace's view of it."""
        scores = {}
        if self.cosine is not None:
            scores[spaces["cosine"]] = self.cosine
        if self.points:
            scores[spaces["graph-points"]] = self.points
        fact = self.row if isinstance(self.row, Fact) else None
        chunk = self.row if isinstance(self.row, Chunk) else None
        return Candidate(
            candidate_id=self.item_id,
            kind=self.kind,
            text=self.text,
            source=self.source,
            title=chunk.title if chunk else "",
            name=self.row.name if isinstance(self.row, Entity) else None,
            position=chunk.position if chunk else None,
            valid_at=fact.valid_at if fact else None,
            fact=fact,
            scores=scores,
            dropped=self.drop,
        )


@dataclass(slots=True)
class Context:
    """All items of one question by id, in the order they came in."""

    items: dict[str, Item] = field(default_factory=dict)

    def add(self, item: Item) -> Item:
        """Adds it, or merges its scores into the one that is there."""
        known = self.items.setdefault(item.item_id, item)
        if item.cosine is not None:
            known.cosine = max(item.cosine, known.cosine if known.cosine is not None else item.cosine)
        known.points = max(known.points, item.points)
        return known

    def of(self, kind: CandidateKind) -> list[Item]:
        """Items of one kind."""
        return [item for item in self.items.values() if item.kind == kind]


def by_cosine(items: Iterable[Item]) -> list[Item]:
    """By (−cosine, row id, kind); unscored ones last."""
    return sorted(
        items, key=lambda item: (-(item.cosine if item.cosine is not None else -2.0), item.row_id, item.kind)
    )


def in_turn(first: Sequence[Item], second: Sequence[Item]) -> list[Item]:
    """One of each in turn while there are of both, each once."""
    pairs = [item for pair in zip_longest(first, second) for item in pair if item is not None]
    return list({item.item_id: item for item in pairs}.values())


def score_rows(corpus: Corpus, vector: Scores, items: list[Item]) -> None:
    """Gives each item that has none its true cosine, where its text has a vector."""
    wanted = [item for item in items if item.cosine is None]
    row_ids = np.array([item.row_id for item in wanted], dtype=np.int64)
    places = np.searchsorted(corpus.columns.row_ids, row_ids)
    for item, place, row_id in zip(wanted, places, row_ids, strict=True):
        if place < len(corpus) and corpus.columns.row_ids[place] == row_id:
            item.cosine = float(corpus.vectors.cosines(vector, np.array([place], dtype=np.int64))[0])
