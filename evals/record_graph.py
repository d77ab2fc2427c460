"""Recording of `graph`: the whole graph once, and for each question what the four vector indexes hold nearest to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import ChangedError
from core.profile import Profile
from core.recipes.graph_search import WIDE
from core.recipes.inquiry import Inquiry
from core.records import Entity, Fact
from core.store import CorpusKind
from evals.cases import Case
from evals.record_piece import Piece, Universe
from evals.recording import ArtifactSource, RecordedRow, concatenated

VECTORED: tuple[CorpusKind, ...] = ("entity", "fact")
"""Kinds of which every row is recorded with its vector, since a hop may reach any of them."""
PASSAGES: tuple[CorpusKind, ...] = ("chunk", "summary")


class GraphRecorder:
    """Takes one case after another; ``finish`` lays them end to end."""

    def __init__(self) -> None:
        self.exact = True
        self._pieces: list[Piece] = []
        self._universes: list[Universe] = []
        self._datasets: list[int] = []

    def wide(self, profile: Profile) -> Profile:
        """The profile as it is: the recipe itself looks as wide as its thresholds reach."""
        return profile

    def limits(self) -> dict[str, int]:
        """Nothing was cut short."""
        return {}

    def piece(self, inquiry: Inquiry, case: Case) -> Piece:
        """What one case adds: its question's vector, and row numbers and cosines of what each index holds nearest."""
        arrays: dict[str, NDArray[Any]] = {"question": np.asarray(inquiry.vector, dtype=np.float32)}
        exact = True
        for kind in WIDE:
            corpus = inquiry.corpus(kind)
            mask = corpus.mask(dataset_ids=inquiry.dataset_ids, hide_sources=inquiry.hide_sources)
            rows, cosines = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)
            if np.any(inquiry.vector) and len(corpus):
                rows, cosines = corpus.vectors.search(inquiry.vector, WIDE[kind], mask)
                exact = exact and (corpus.vectors.exact or mask is not None)
            arrays |= {f"{kind}_rows": corpus.columns.row_ids[rows], f"{kind}_cosines": cosines}
        tfidf = inquiry.corpus("chunk").tfidf
        idf = {stem: tfidf.idf(stem) for stem in tfidf.question_terms(inquiry.question)}
        return Piece(arrays=arrays, idf=idf, whole={}, exact=exact)

    def add(self, piece: Piece, universe: Universe) -> None:
        """Takes one case's piece, asked of that universe."""
        if universe not in self._universes:
            self._universes.append(universe)
        self._datasets.append(self._universes.index(universe))
        self._pieces.append(piece)
        self.exact = self.exact and piece.exact

    def finish(self) -> tuple[dict[str, NDArray[Any]], dict[str, Sequence[RecordedRow]]]:
        """All arrays, and the records of the graph with the passages that any question found."""
        pieces = [piece.arrays for piece in self._pieces]
        arrays: dict[str, NDArray[Any]] = {
            "dataset": np.array(self._datasets, dtype=np.int32),
            "question": np.stack([one["question"] for one in pieces]),
        }
        for kind in WIDE:
            arrays[f"{kind}_offsets"] = np.cumsum([0, *(len(one[f"{kind}_rows"]) for one in pieces)])
            arrays[f"{kind}_rows"] = concatenated([one[f"{kind}_rows"] for one in pieces], np.int64)
            arrays[f"{kind}_cosines"] = concatenated([one[f"{kind}_cosines"] for one in pieces], np.float32)
        for kind in VECTORED:
            corpora = [universe.corpus(kind) for universe in self._universes]
            arrays[f"{kind}_table"] = np.cumsum([0, *(len(corpus) for corpus in corpora)])
            vectors = [corpus.vectors.vectors(np.arange(len(corpus))) for corpus in corpora]
            arrays[f"{kind}_vectors"] = np.concatenate(vectors)
        return arrays, self._records(arrays)

    def _records(self, arrays: Mapping[str, NDArray[Any]]) -> dict[str, Sequence[RecordedRow]]:
        """Entities and facts in the order of their vectors, the passages that any question found, and the sources of what
        facts were inferred from."""
        entities: list[Entity] = []
        facts: list[Fact] = []
        sources: dict[int, str] = {}
        for universe in self._universes:
            store = universe.store
            entities += store.entities(universe.corpus("entity").columns.row_ids.tolist())
            facts += store.facts(universe.corpus("fact").columns.row_ids.tolist())
            known = {fact.artifact_id for fact in facts if fact.artifact_id is not None}
            sources |= store.artifact_sources(sorted(known))
        if (len(entities), len(facts)) != tuple(int(arrays[f"{kind}_table"][-1]) for kind in VECTORED):
            raise ChangedError("the graph changed while it was recorded; record it again")
        found = np.unique(np.concatenate([arrays[f"{kind}_rows"] for kind in PASSAGES]))
        return {
            "entity": entities,
            "fact": facts,
            "chunk": self._universes[0].store.chunks(found.tolist()),
            "artifact": [ArtifactSource(artifact_id=one, source=name) for one, name in sources.items()],
        }
