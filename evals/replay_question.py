"""One recorded question of a levelled recipe as arrays: what its rankings, decisions and metrics are taken from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.index.base import Mask, Rows, Scores
from core.records import Node
from core.stages import fuse
from core.stages.diversify import similarities
from evals.metrics.abstention import Floats
from evals.metrics.citation import finest, judgeable
from evals.recorded import unread_message
from evals.recording import Arrays, Recording

IN_CACHE = 8 * 1024 * 1024
"""A table of similarities up to this size is looked up as it is; of a larger one what is used is copied together."""


@dataclass(frozen=True, slots=True)
class Table:
    """What is known of all nodes of a recording (n,), whatever the question: None where it is true of none."""

    with_vector: Mask
    neighbours: NDArray[np.int64] | None
    confidence: Scores | None

    @classmethod
    def of(cls, recording: Recording) -> Table:
        """Read once for all questions."""
        neighbours = np.asarray(recording.arrays["neighbours"])
        nodes = recording.rows["node"][: len(neighbours)]
        own = np.array([getattr(node, "confidence", None) or 0.0 for node in nodes], dtype=np.float32)
        return cls(
            with_vector=np.asarray(np.asarray(recording.arrays["vectors"]).any(axis=1)),
            neighbours=neighbours.astype(np.int64) if (neighbours >= 0).any() else None,
            confidence=own if own.any() else None,
        )


class Question:
    """m candidates in the order of their rows; all arrays are (m,) unless said otherwise."""

    def __init__(self, recording: Recording, table: Table, number: int) -> None:
        self.table = table
        arrays, self.recorded = recording.arrays, recording.cases[number]
        span = slice(*arrays["offsets"][number : number + 2].tolist())
        self._recording, self._arrays = recording, arrays
        self.place: Rows = arrays["place"][span].astype(np.int64)
        self.tfidf = _own(arrays, "tfidf", span)
        self.cosine = _own(arrays, "cosine", span)
        self.overlap = _own(arrays, "overlap", span)
        self.lexical = _own(arrays, "lexical", span) if "lexical" in arrays else self.tfidf
        self.rerank = _own(arrays, "rerank", span) if "rerank" in arrays else None
        self.key = np.asarray(arrays["key"][span])
        self.cited = np.asarray(
            arrays["cited"][slice(*arrays["cited_offsets"][number : number + 2].tolist())]
        )
        dataset = int(arrays["dataset"][number])
        self._start, self._end = arrays["table_offsets"][dataset : dataset + 2].tolist()
        self._similar = slice(*arrays["similarity_offsets"][dataset : dataset + 2].tolist())
        self.case = self.recorded.case
        self.gains = [gain for gain in {g.key: g.relevance for g in self.case.gold}.values() if gain > 0]
        gold = finest(self.case)
        self.finest = len(gold)
        self.sets = [[gold.index(one) for one in golds] for golds in self.case.evidence_sets() or (gold,)]
        self.judgeable = judgeable(self.case)
        self.terms = bool(self.recorded.idf)

    def __len__(self) -> int:
        return len(self.place)

    @property
    def rows(self) -> Rows:
        """Ascending places in the recording's table."""
        return self.place

    @cached_property
    def neighbours(self) -> NDArray[np.int64] | None:
        """(m, 2) places beside each, −1 for none; None where none has any."""
        if self.table.neighbours is None:
            return None
        beside = self.table.neighbours[self.place]
        return beside if (beside >= 0).any() else None

    @cached_property
    def confidence(self) -> Scores | None:
        """The nodes' own confidence, 0 where they have none; None where none of the recording has any."""
        return None if self.table.confidence is None else self.table.confidence[self.place]

    @cached_property
    def tfidf_share(self) -> Scores:
        """TF-IDF as it enters the blended score."""
        return np.asarray(np.clip(self.tfidf, 0, 1))

    @cached_property
    def cosine_share(self) -> Scores:
        """The cosine as it enters the blended score."""
        return np.asarray(np.clip(self.cosine, 0, 1))

    @cached_property
    def _normal(self) -> tuple[Scores, Scores]:
        return fuse.min_max(self.lexical), fuse.min_max(self.cosine)

    def linear(self, method: str) -> tuple[Scores, Scores] | None:
        """What ``fuse.mix`` makes the ranking score of, where a method does so and everything recalled is fused."""
        match method:
            case "convex":
                return self._normal
            case "blend":
                return self.tfidf_share, self.cosine_share
        return None

    def members(self, lexical_k: Floats, dense_k: Floats) -> Mask | None:
        """(R, m) who is recalled under each setting; None where everyone is under all of them."""
        most = len(self)
        if lexical_k.min() >= most and dense_k.min() >= most:
            return None  # each was found by one channel or the other
        by_words, by_vector = self._ranks
        least = (by_words < min(lexical_k.min(), most)) | (by_vector < min(dense_k.min(), most))
        if least.all():
            return None
        lexical_k, dense_k = np.minimum(lexical_k, most), np.minimum(dense_k, most)
        return (by_words < lexical_k[:, None]) | (by_vector < dense_k[:, None])

    @cached_property
    def _ranks(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rank from 0 by (−score, row) in each channel, m for what the channel does not find."""
        size = len(self)
        has = self.table.with_vector[self.place] & self.recorded.searched
        return _channel(self.lexical, self.lexical > 0, size), _channel(self.cosine, has, size)

    @cached_property
    def keys_differ(self) -> bool:
        """Whether every candidate is ranked, each under an identity of its own."""
        return len(np.unique(self.key)) == len(self) and not (self.key < 0).any()

    @cached_property
    def supports(self) -> list[tuple[int, NDArray[np.int64]]]:
        """Candidates whose citation is gold, each with the gold evidence it holds."""
        return [
            (int(at), self.cited[self.cited[:, 0] == at, 1].astype(np.int64))
            for at in np.unique(self.cited[:, 0])
        ]

    def alike(self, places: Rows) -> tuple[Scores, Rows, int]:
        """A flat square table of similarities, ``places`` (any shape) as its rows, and how many rows it has."""
        size = self._end - self._start
        table = np.asarray(self._arrays["similarity"][self._similar])
        if 0 < table.nbytes <= IN_CACHE:
            return table, (self.place - self._start)[places], size
        used, local = np.unique(places, return_inverse=True)
        if len(table):
            rows = self.place[used] - self._start
            own = table.reshape(size, size)[rows[:, None], rows]
        else:
            own = similarities(np.asarray(self._arrays["vectors"])[self.place[used]])
        return own.ravel(), local.reshape(places.shape).astype(np.int64), len(used)

    def unread(self, at: int) -> str:
        """What is said when the reranker did not read the candidate."""
        node = self._recording.rows["node"][int(self.place[at])]
        return f"case {self.case.case_id!r}: {unread_message(node.text if isinstance(node, Node) else '')}"


def questions(recording: Recording) -> Sequence[Question]:
    """All cases, in order."""
    table = Table.of(recording)
    return [Question(recording, table, number) for number in range(len(recording))]


def _own(arrays: Arrays, name: str, span: slice) -> Any:
    return np.asarray(arrays[name][span])


def _channel(scores: Scores, found: Mask, size: int) -> NDArray[np.int64]:
    order = np.lexsort((np.arange(size), -scores))
    order = order[found[order]]
    ranks = np.full(size, size, dtype=np.int64)
    ranks[order] = np.arange(len(order))
    return ranks
