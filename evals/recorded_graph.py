"""A recorded graph in the place of a store and its indexes: recipe `graph` runs on it unchanged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from core.index.base import Mask, Rows, Scores
from core.records import Chunk, Entity, Fact
from core.store import CorpusKind
from evals.record_graph import VECTORED
from evals.recorded import RecordedTfidf
from evals.recording import ArtifactSource, RecordedCase, Recording


class GraphTable:
    """The graph of one of a recording's datasets, for all of its cases; it answers what a store is asked."""

    def __init__(self, recording: Recording, number: int) -> None:
        spans = {
            kind: slice(*recording.arrays[f"{kind}_table"][number : number + 2].tolist()) for kind in VECTORED
        }
        self.vectors = {
            kind: np.asarray(recording.arrays[f"{kind}_vectors"][span]) for kind, span in spans.items()
        }
        self._entities = {
            row.entity_id: row for row in recording.rows["entity"][spans["entity"]] if isinstance(row, Entity)
        }
        self._facts = {
            row.fact_id: row for row in recording.rows["fact"][spans["fact"]] if isinstance(row, Fact)
        }
        self._chunks = {row.chunk_id: row for row in recording.rows["chunk"] if isinstance(row, Chunk)}
        self._sources = {
            row.artifact_id: row.source
            for row in recording.rows["artifact"]
            if isinstance(row, ArtifactSource)
        }

    def source_of(self, kind: CorpusKind, row_id: int) -> str:
        """Where a row comes from, as a corpus says it."""
        if kind == "fact":
            return self._sources.get(self._facts[row_id].artifact_id or 0, "")
        return self._chunks[row_id].source if kind != "entity" else ""

    def row_ids(self, kind: CorpusKind) -> NDArray[np.int64]:
        """Of entities or facts, ascending, in the order of their vectors."""
        return np.fromiter(self._entities if kind == "entity" else self._facts, dtype=np.int64)

    def entities(self, row_ids: Sequence[int]) -> list[Entity]:
        """In the order asked."""
        return [self._entities[row_id] for row_id in row_ids if row_id in self._entities]

    def facts(self, row_ids: Sequence[int]) -> list[Fact]:
        """In the order asked, superseded ones too."""
        return [self._facts[row_id] for row_id in row_ids if row_id in self._facts]

    def chunks(self, row_ids: Sequence[int]) -> list[Chunk]:
        """In the order asked."""
        return [self._chunks[row_id] for row_id in row_ids if row_id in self._chunks]

    @cached_property
    def everyone(self) -> list[Entity]:
        """Every entity by row number."""
        return list(self._entities.values())

    @cached_property
    def _latest(self) -> list[Entity]:
        return sorted(self.everyone, key=lambda one: (one.updated_at, one.entity_id), reverse=True)

    def recent_entities(self, dataset_ids: Sequence[int], limit: int) -> list[Entity]:
        """The most recently updated, ties by the later row."""
        return self._latest[:limit]

    @cached_property
    def _touching(self) -> Mapping[int, list[int]]:
        """Entity → facts it stands in."""
        found: dict[int, list[int]] = {}
        for fact in self._facts.values():
            for end in {fact.source_id, fact.target_id}:
                found.setdefault(end, []).append(fact.fact_id)
        return found

    def facts_around(
        self,
        dataset_ids: Sequence[int],
        entity_ids: Sequence[int],
        limit: int,
        *,
        as_of: str | None = None,
        known_at: str | None = None,
        not_after: str | None = None,
        hide_sources: Iterable[str] = (),
    ) -> list[Fact]:
        """What ``Store.facts_around`` gives."""
        hidden = frozenset(hide_sources)
        touching = {fact_id for entity_id in entity_ids for fact_id in self._touching.get(entity_id, ())}
        facts = [
            fact
            for fact in map(self._facts.__getitem__, touching)
            if _known(fact, known_at)
            and (as_of is None or _true_at(fact, as_of))
            and (not_after is None or (fact.valid_at or "") <= not_after)
            and not (hidden and self._sources.get(fact.artifact_id or 0) in hidden)
        ]
        facts.sort(key=lambda fact: (fact.created_at, fact.fact_id), reverse=True)
        return facts[:limit]

    def artifact_sources(self, artifact_ids: Sequence[int]) -> dict[int, str]:
        """Row number → source of artifacts."""
        return {one: self._sources[one] for one in artifact_ids if one in self._sources}


def _known(fact: Fact, known_at: str | None) -> bool:
    if known_at is None:
        return fact.expired_at is None
    return fact.created_at <= known_at and (fact.expired_at is None or fact.expired_at > known_at)


def _true_at(fact: Fact, as_of: str) -> bool:
    return (fact.valid_at or "") <= as_of and (fact.invalid_at is None or fact.invalid_at > as_of)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphColumns:
    """``row_ids`` ascend; ``sources`` stand beside them."""

    row_ids: NDArray[np.int64]
    sources: list[str]


class RecordedHits:
    """One index as one question saw it: as a corpus, and as the vectors of that corpus."""

    def __init__(self, recording: Recording, table: GraphTable, number: int, kind: CorpusKind) -> None:
        arrays, self._table, self._kind = recording.arrays, table, kind
        span = slice(*arrays[f"{kind}_offsets"][number : number + 2].tolist())
        self._found = np.asarray(arrays[f"{kind}_rows"][span])
        self._cosines = np.asarray(arrays[f"{kind}_cosines"][span])
        self._question = np.asarray(arrays["question"][number])
        self._case: RecordedCase = recording.cases[number]

    def __len__(self) -> int:
        return len(self.columns.row_ids)

    @cached_property
    def columns(self) -> GraphColumns:
        """All rows of entities and facts; of passages those the question found."""
        whole = self._kind in VECTORED
        row_ids = self._table.row_ids(self._kind) if whole else np.sort(self._found)
        return GraphColumns(
            row_ids=row_ids,
            sources=[self._table.source_of(self._kind, row_id) for row_id in row_ids.tolist()],
        )

    def mask(self, **filters: object) -> Mask | None:
        """Filters acted when the case was recorded."""
        return None

    @property
    def vectors(self) -> RecordedHits:
        """The index itself."""
        return self

    @property
    def tfidf(self) -> RecordedTfidf:
        """Terms of the question and their weights; scores are not asked for."""
        none = np.empty(0, dtype=np.float32)
        return RecordedTfidf(self._case, np.empty(0, dtype=np.int64), none, none)

    def search(self, query: Scores, k: int, mask: Mask | None = None) -> tuple[Rows, Scores]:
        """What the question found, best first."""
        return np.searchsorted(self.columns.row_ids, self._found[:k]), self._cosines[:k]

    def cosines(self, query: Scores, rows: Rows) -> Scores:
        """(m,) true cosines, summed as the index sums them; 0 for rows without a vector."""
        vectors = self._table.vectors[self._kind][rows]
        return np.asarray(np.einsum("ij,j->i", vectors, self._question))
