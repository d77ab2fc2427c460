"""The pool of a question: the nodes that were recalled, side by side with every score they have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np

from core.errors import ChangedError, StoreError
from core.index.base import Rows, Scores
from core.index.corpus import Corpus
from core.profile import Profile
from core.recipes.inquiry import Inquiry, Record
from core.records import Node, node_id
from core.stages import fuse
from core.stages.recall import best_rows, ordered, union
from core.thresholds import BY_NAME, Threshold
from core.trace import Candidate, Drop


@dataclass(slots=True, kw_only=True)
class Pool:
    """m nodes in fused order. All score arrays are (m,) float32; ``rerank`` is NaN where the reranker did not read."""

    corpus: Corpus
    spaces: Mapping[str, str]
    question_stems: frozenset[str]
    nodes: list[Node]
    rows: Rows
    lexical: Mapping[str, Scores]
    cosine: Scores
    blended: Scores
    overlap: Scores
    fused: Scores
    rerank: Scores

    def __len__(self) -> int:
        return len(self.nodes)

    def idf(self, stem: str) -> float:
        """Weight of a stem in this corpus."""
        return self.corpus.tfidf.idf(stem)

    def vectors(self, places: Rows) -> Scores:
        """(len(places), dim) unit vectors; zeros for texts without tokens."""
        return self.corpus.vectors.vectors(self.rows[places])

    def index_text(self, place: int) -> str:
        """What the reranker reads of one."""
        return index_text(self.nodes[place])

    def space_of(self, threshold: str) -> str | None:
        """The full score space a threshold is compared in, None if with no score."""
        knob = BY_NAME[threshold]
        return self.spaces.get(knob.space) if isinstance(knob, Threshold) and knob.space else None

    def candidates(self, drops: Mapping[int, Drop]) -> tuple[Candidate, ...]:
        """All of the pool in fused order, each with its scores by space."""
        return tuple(
            node_candidate(node, scores, drops.get(place))
            for place, (node, scores) in enumerate(zip(self.nodes, self._scores(), strict=True))
        )

    def _scores(self) -> Iterator[dict[str, float]]:
        """For each node its finite scores by space."""
        columns = {
            **self.lexical,
            self.spaces["cosine"]: self.cosine,
            self.spaces["tfidf+cosine"]: self.blended,
            self.spaces["overlap"]: self.overlap,
            "fused": self.fused,
        }
        if "rerank" in self.spaces:
            columns[self.spaces["rerank"]] = self.rerank
        scored = {space: scores.tolist() for space, scores in columns.items() if np.isfinite(scores).any()}
        for row in zip(*scored.values(), strict=True):
            yield {space: score for space, score in zip(scored, row, strict=True) if isfinite(score)}


def index_text(node: Node) -> str:
    """The text the indexes and the reranker read: the title, then the text."""
    return f"{node.title}\n{node.text}" if node.title else node.text


def node_candidate(node: Node, scores: Mapping[str, float], drop: Drop | None = None) -> Candidate:
    """The Trace's view of a node."""
    return Candidate(
        candidate_id=node.node_id,
        kind="node",
        text=node.text,
        source=node.source,
        title=node.title,
        turn=node.turn,
        session=node.session,
        speaker=node.speaker,
        name=node.name,
        level=node.level,
        position=node.position,
        valid_at=node.valid_at,
        confidence=node.confidence,
        scores=scores,
        dropped=drop,
    )


def recall_pool(inquiry: Inquiry, record: Record) -> Pool:
    """Recalls by channel, scores the union in every space, fuses, keeps the best ``recall.keep`` in fused order."""
    corpus, profile = inquiry.corpus("node"), inquiry.profile
    tfidf = corpus.tfidf.scores(inquiry.question)
    lexical = tfidf if profile.choice("recall.lexical") == "tfidf" else corpus.bm25.scores(inquiry.question)
    rows = recalled_rows(inquiry, corpus, lexical)
    cosine = corpus.vectors.cosines(inquiry.vector, rows)
    blended = fuse.blend(tfidf[rows], cosine, profile.number("blend.weight"))
    fused = fuse.fused(
        profile.choice("fusion.method"),
        lexical[rows],
        cosine,
        blended,
        weight=profile.number("fusion.weight"),
        rrf_k=profile.count("fusion.rrf_k"),
    )
    beside = profile.number("fusion.neighbour_weight")
    if beside:
        fused = fuse.with_neighbours(fused, rows, corpus.neighbours[rows], beside)
    kept = ordered(fused, np.arange(len(rows)))[: profile.count("recall.keep")]
    nodes = inquiry.store.nodes(corpus.columns.row_ids[rows[kept]].tolist())
    if len(nodes) != len(kept):
        raise ChangedError("the dataset changed while it was being asked; ask again")
    _refuse_damaged(inquiry, nodes, corpus.columns.dataset_ids[rows[kept]].tolist())
    kept, nodes, fused = _weighted_by_confidence(
        kept, nodes, fused, profile.number("fusion.confidence_weight")
    )
    pool = Pool(
        corpus=corpus,
        spaces=inquiry.spaces,
        question_stems=frozenset(corpus.tfidf.question_terms(inquiry.question)),
        nodes=nodes,
        rows=rows[kept],
        lexical={
            "tfidf": tfidf[rows[kept]],
            **({} if lexical is tfidf else {corpus.bm25.space: lexical[rows[kept]]}),
        },
        cosine=cosine[kept],
        blended=blended[kept],
        overlap=corpus.tfidf.overlap(inquiry.question, rows[kept]),
        fused=fused[kept],
        rerank=np.full(len(kept), np.nan, dtype=np.float32),
    )
    _note_stages(pool, profile, record)
    return pool


def _refuse_damaged(inquiry: Inquiry, nodes: Sequence[Node], dataset_ids: Sequence[int]) -> None:
    """A node's id is a hash of its content: one that does not fit was not written so, and nothing is quoted from it."""
    for node, dataset_id in zip(nodes, dataset_ids, strict=True):
        dataset = inquiry.datasets[dataset_id]
        if node_id(dataset=dataset, source=node.source, turn=node.turn, text=node.text) != node.node_id:
            raise StoreError(
                f"node {node.node_id} of dataset {dataset!r} is not as it was stored: the database is damaged; "
                "restore a copy, or bring the dataset in again into another file with --db"
            )


def _weighted_by_confidence(
    kept: Rows, nodes: list[Node], fused: Scores, weight: float
) -> tuple[Rows, list[Node], Scores]:
    """The kept nodes in the order of ``fused + weight·confidence``; a node without a confidence gains nothing."""
    if weight == 0:
        return kept, nodes, fused
    gained = fused.copy()
    gained[kept] += weight * np.array([node.confidence or 0.0 for node in nodes], dtype=np.float32)
    places = ordered(gained[kept], np.arange(len(kept)))
    return kept[places], [nodes[place] for place in places], gained


def recalled_rows(inquiry: Inquiry, corpus: Corpus, lexical: Scores) -> Rows:
    """Rows of the union of both channels, ascending; the filter acts inside each search."""
    profile = inquiry.profile
    mask = corpus.mask(
        levels=inquiry.levels, dataset_ids=inquiry.dataset_ids, hide_sources=inquiry.hide_sources
    )
    by_words = best_rows(lexical, profile.count("recall.lexical_k"), mask)
    dense_k = profile.count("recall.dense_k")
    dense_k = max(dense_k, profile.count("recall.k_factor") * profile.count("select.k")) if dense_k else 0
    if not dense_k or not np.any(inquiry.vector):
        return union(by_words)
    by_vector, _ = corpus.vectors.search(inquiry.vector, dense_k, mask)
    return union(by_words, by_vector)


def _note_stages(pool: Pool, profile: Profile, record: Record) -> None:
    """Recall and fusion as two stages: what came in by row, and the order fusion gave it."""
    fused = [node.node_id for node in pool.nodes]
    recalled = [fused[place] for place in np.argsort(pool.rows, kind="stable")]
    recall_settings = ("recall.lexical", "recall.lexical_k", "recall.dense_k", "recall.keep")
    record.stage("recall", (), recalled, settings=recall_settings)
    record.stage(
        "fuse",
        recalled,
        fused,
        space="fused",
        settings=("fusion.method", "fusion.weight", "blend.weight", "fusion.neighbour_weight"),
    )
