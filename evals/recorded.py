"""A recording in the place of a workspace: the recipes run on it unchanged and leave the Trace of a fresh run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from core.errors import RecordingError
from core.index.base import Mask, Rows, Scores
from core.index.bm25 import BM25Index
from core.recipes.pool import index_text
from core.records import Node, NodeLink
from core.stages.recall import ordered
from core.text import stems
from evals.recording import RecordedCase, Recording


class RecordedTable:
    """The nodes of a recording by id, with their links; one for all of its cases."""

    def __init__(self, recording: Recording) -> None:
        self.nodes: list[Node] = [row for row in recording.rows["node"] if isinstance(row, Node)]
        self._by_id = {node.node_id: node for node in self.nodes}
        self._links: dict[str, list[NodeLink]] = {}
        for link in recording.rows["link"]:
            if isinstance(link, NodeLink):
                self._links.setdefault(link.child_id, []).append(link)

    def named(self, node_ids: Iterable[str]) -> list[Node]:
        """Nodes in the order asked; unknown ones are left out."""
        return [self._by_id[node_id] for node_id in dict.fromkeys(node_ids) if node_id in self._by_id]

    def links(self, child_ids: Iterable[str]) -> list[NodeLink]:
        """The links from these nodes to what they were made from."""
        return [link for child_id in child_ids for link in self._links.get(child_id, [])]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedColumns:
    """Of the dataset's candidates: rows are numbered within the dataset, ids are places in the recording's table."""

    row_ids: NDArray[np.int64]
    dataset_ids: NDArray[np.int64]


class RecordedNodes:
    """Store, corpus and all indexes of one levelled case: what was recorded is answered, to the bit; the rest is as if
    it were not there, which no setting within the recorded widths can tell."""

    space = BM25Index.space

    def __init__(self, recording: Recording, table: RecordedTable, number: int) -> None:
        arrays, self.case = recording.arrays, recording.cases[number]
        self._table = table
        self._span = slice(*arrays["offsets"][number : number + 2].tolist())
        dataset = int(arrays["dataset"][number])
        self._start, end = arrays["table_offsets"][dataset : dataset + 2].tolist()
        self._size: int = end - self._start
        self._arrays = arrays
        self._rows: Rows = arrays["place"][self._span].astype(np.int64) - self._start
        self.columns = RecordedColumns(
            row_ids=np.arange(self._start, end),
            dataset_ids=arrays["owner"][self._start : end].astype(np.int64),
        )

    def __len__(self) -> int:
        return self._size

    # the corpus

    @property
    def tfidf(self) -> RecordedTfidf:
        """TF-IDF of the recorded question."""
        return RecordedTfidf(self.case, self._rows, self._full("tfidf"), self._full("overlap"))

    @property
    def bm25(self) -> RecordedNodes:
        """BM25 of the recorded question."""
        return self

    @property
    def vectors(self) -> RecordedVectors:
        """Cosines of the recorded question."""
        vectors = self._arrays["vectors"][self._start : self._start + self._size]
        return RecordedVectors(self._rows, self._arrays["cosine"][self._span], vectors)

    @cached_property
    def neighbours(self) -> NDArray[np.int64]:
        """(n, 2) rows beside each, −1 for none that is a candidate of any case."""
        beside = self._arrays["neighbours"][self._start : self._start + self._size].astype(np.int64)
        return np.where(beside >= 0, beside - self._start, -1)

    def mask(self, **filters: object) -> Mask | None:
        """Filters acted when the case was recorded."""
        return None

    def scores(self, question: str) -> Scores:
        """BM25 scores of the recorded question."""
        return self._full("lexical")

    def _full(self, name: str) -> Scores:
        full = np.zeros(self._size, dtype=np.float32)
        full[self._rows] = self._arrays[name][self._span]
        return full

    # the store

    def nodes(self, row_ids: Sequence[int]) -> list[Node]:
        """Nodes by place in the table."""
        return [self._table.nodes[row_id] for row_id in row_ids]

    def nodes_by_id(self, dataset_ids: Sequence[int], node_ids: Sequence[str]) -> list[Node]:
        """Nodes by their sha256."""
        return self._table.named(node_ids)

    def links_from(self, dataset_ids: Sequence[int], child_ids: Sequence[str]) -> list[NodeLink]:
        """Links by the nodes they start from."""
        return self._table.links(child_ids)


@dataclass(frozen=True, slots=True)
class RecordedTfidf:
    """TF-IDF and overlap of one recorded question, the weights of its stems."""

    case: RecordedCase
    rows: Rows
    full: Scores
    overlaps: Scores

    def question_terms(self, question: str) -> tuple[str, ...]:
        """Distinct stems of the question, in order."""
        return tuple(dict.fromkeys(stems(question)))

    def idf(self, stem: str) -> float:
        """Weight of one of the question's stems."""
        return self.case.idf[stem]

    def scores(self, question: str) -> Scores:
        """(n,) as recorded, 0 for what was not."""
        return self.full

    def overlap(self, question: str, rows: Rows) -> Scores:
        """(m,) as recorded."""
        return self.overlaps[rows]


@dataclass(frozen=True, slots=True)
class RecordedVectors:
    """Cosines of one recorded question to its candidates' rows, and all vectors of the dataset's candidates."""

    rows: Rows
    cosine: Scores
    stored: Scores

    def search(self, query: Scores, k: int, mask: Mask | None = None) -> tuple[Rows, Scores]:
        """The best rows that have a vector by (−cosine, row)."""
        has = self.stored[self.rows].any(axis=1)
        rows, cosine = self.rows[has], self.cosine[has]
        best = ordered(cosine, np.arange(len(rows)))[:k]
        return rows[best], cosine[best]

    def vectors(self, rows: Rows) -> Scores:
        """(m, dim) as stored."""
        return np.asarray(self.stored[rows])

    def cosines(self, query: Scores, rows: Rows) -> Scores:
        """(m,) as recorded."""
        return np.asarray(self.cosine[np.searchsorted(self.rows, rows)])


class RecordedReranker:
    """The reranker's recorded scores of one question by passage."""

    def __init__(self, recording: Recording, table: RecordedTable, number: int) -> None:
        span = slice(*recording.arrays["offsets"][number : number + 2].tolist())
        places = recording.arrays["place"][span].tolist()
        scores = recording.arrays["rerank"][span].tolist()
        texts = (index_text(table.nodes[place]) for place in places)
        self._scores: Mapping[str, float] = {
            text: score for text, score in zip(texts, scores, strict=True) if score == score
        }
        self.space = recording.header.spaces["rerank"]

    def scores(self, question: str, passages: Sequence[str]) -> Scores:
        """(n,) as recorded.

        Raises:
            RecordingError: a passage was not read by the reranker when the case was recorded.
        """
        unread = [passage for passage in passages if passage not in self._scores]
        if unread:
            raise RecordingError(unread_message(unread[0]))
        return np.array([self._scores[passage] for passage in passages], dtype=np.float32)


def unread_message(passage: str) -> str:
    """What is said of a passage whose rerank score is wanted and was not recorded."""
    return (
        f"these settings rerank a passage that no recorded setting did ({' '.join(passage.split())[:60]!r}); "
        "record again with a larger --width rerank.depth=N"
    )
