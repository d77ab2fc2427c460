"""Recording of `memory` and `brain`: the union of both channels, wide, with every score of every candidate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.answer.ground import evidence_of
from core.errors import ChangedError
from core.index.base import Rows, Scores
from core.index.corpus import Corpus
from core.profile import Profile
from core.recipes.inquiry import Inquiry
from core.recipes.pool import index_text, node_candidate, recalled_rows
from core.records import LEVELS, Node, NodeLink
from core.stages import fuse
from core.stages.diversify import similarities
from core.stages.recall import ordered
from evals.cases import Case
from evals.metrics.citation import cites, finest
from evals.record_piece import Piece, Universe
from evals.recording import RecordedRow, concatenated
from evals.scoring import keys_judged

SIMILAR_BYTES = 256 * 1024 * 1024
"""Up to this size all similarities of a dataset's candidates are kept; above, they are taken from the vectors."""
STEPS = np.linspace(0, 1, 21)
"""Weights whose best candidates the reranker reads, so that its scores are there for the weights between."""
MOST = 1000
"""The highest ``recall.dense_k`` there is."""
RRF_STEPS = (1, 10, 60, 200, 1000)
MARGIN = 1.25
READ_WHOLE = 1000
"""Candidates of a question that are reranked whatever the depth."""


class LevelledRecorder:
    """Takes one case after another; ``finish`` lays them end to end."""

    def __init__(self, widths: Mapping[str, int]) -> None:
        self.widths = widths
        self.exact = True
        self._pieces: list[Piece] = []
        self._universes: list[Universe] = []
        self._datasets: list[int] = []

    def wide(self, profile: Profile) -> Profile:
        """The profile with the channels opened as wide as is recorded."""
        lexical_k, dense_k = self.widths["recall.lexical_k"], self.widths["recall.dense_k"]
        values = {"recall.lexical_k": lexical_k, "recall.dense_k": min(dense_k, MOST), "recall.k_factor": 0}
        if dense_k > MOST:  # only select.k times the factor reaches beyond
            values |= {"recall.k_factor": -(-dense_k // 100), "select.k": 100}
        return profile.with_values(values)

    def piece(self, inquiry: Inquiry, case: Case) -> Piece:
        """What one case adds: its candidates' ``rows`` (m,) ascending, their scores and what they are judged by."""
        corpus, profile = inquiry.corpus("node"), inquiry.profile
        tfidf = corpus.tfidf.scores(inquiry.question)
        by_words = profile.choice("recall.lexical") == "tfidf"
        lexical = tfidf if by_words else corpus.bm25.scores(inquiry.question)
        rows = recalled_rows(inquiry, corpus, lexical)
        scores = {
            "tfidf": tfidf[rows],
            "cosine": corpus.vectors.cosines(inquiry.vector, rows),
            "overlap": corpus.tfidf.overlap(inquiry.question, rows),
        }
        if not by_words:
            scores["lexical"] = lexical[rows]
        nodes = inquiry.store.nodes(corpus.columns.row_ids[rows].tolist())
        if len(nodes) != len(rows):
            raise ChangedError("the dataset changed while it was being recorded; record it again")
        stems = corpus.tfidf.question_terms(inquiry.question)
        idf = {stem: corpus.tfidf.idf(stem) for stem in stems}
        whole, exact = self._note_widths(inquiry, corpus, lexical)
        if inquiry.reranker is not None:
            read = self._read(profile, corpus, rows, scores)
            whole["rerank.depth"] = len(read) == len(rows)
            scores["rerank"] = np.full(len(rows), np.nan, dtype=np.float32)
            texts = [index_text(nodes[place]) for place in read]
            if texts:
                scores["rerank"][read] = inquiry.reranker.scores(inquiry.question, texts)
        judged: dict[str, NDArray[Any]] = {
            "rows": rows,
            "key": _keys(case, nodes),
            "cited": _cited(case, nodes, idf),
        }
        return Piece(arrays={**judged, **scores}, idf=idf, whole=whole, exact=exact)

    def add(self, piece: Piece, universe: Universe) -> None:
        """Takes one case's piece, asked of that universe."""
        if universe not in self._universes:
            self._universes.append(universe)
        self._datasets.append(self._universes.index(universe))
        self._pieces.append(piece)
        self.exact = self.exact and piece.exact

    def limits(self) -> dict[str, int]:
        """Widths that were not enough to hold everything there was."""
        return {
            name: width
            for name, width in self.widths.items()
            if not all(piece.whole.get(name, True) for piece in self._pieces)
        }

    def finish(self) -> tuple[dict[str, NDArray[Any]], dict[str, Sequence[RecordedRow]]]:
        """All arrays, and the nodes with their ancestors and links."""
        pieces = [piece.arrays for piece in self._pieces]
        arrays: dict[str, NDArray[Any]] = {"offsets": np.cumsum([0, *(len(one["rows"]) for one in pieces)])}
        for name in pieces[0].keys() - {"rows", "key", "cited"}:
            arrays[name] = concatenated([one[name] for one in pieces], np.float32)
        arrays["key"] = concatenated([one["key"] for one in pieces], np.int32)
        arrays["cited_offsets"] = np.cumsum([0, *(len(one["cited"]) for one in pieces)])
        arrays["cited"] = np.concatenate([np.empty((0, 2), np.int32), *(one["cited"] for one in pieces)])
        arrays["dataset"] = np.array(self._datasets, dtype=np.int32)
        return arrays | self._table(), self._records()

    def _table(self) -> dict[str, NDArray[Any]]:
        """The candidates of all cases, each once, by dataset and row: where each stands, vectors, neighbours."""
        used = [self._used(number) for number in range(len(self._universes))]
        starts = np.cumsum([0, *(len(rows) for rows in used)])
        places = [
            np.searchsorted(used[number], piece.arrays["rows"]) + starts[number]
            for number, piece in zip(self._datasets, self._pieces, strict=True)
        ]
        corpora = [universe.corpus("node") for universe in self._universes]
        vectors = [corpus.vectors.vectors(rows) for corpus, rows in zip(corpora, used, strict=True)]
        beside = [
            _placed(corpus.neighbours[rows], rows, start)
            for corpus, rows, start in zip(corpora, used, starts, strict=False)
        ]
        owners = [
            _positions(corpus.columns.dataset_ids[rows], universe.dataset_ids)
            for universe, corpus, rows in zip(self._universes, corpora, used, strict=True)
        ]
        alike = [similarities(each).ravel() if len(each) ** 2 * 4 <= SIMILAR_BYTES else np.empty(0, np.float32)
                 for each in vectors]  # fmt: skip
        return {
            "place": concatenated(places, np.int32),
            "table_offsets": starts,
            "vectors": np.concatenate(vectors),
            "neighbours": np.concatenate(beside),
            "owner": concatenated(owners, np.int32),
            "similarity": concatenated(alike, np.float32),
            "similarity_offsets": np.cumsum([0, *(len(each) for each in alike)]),
        }

    def _used(self, number: int) -> Rows:
        rows = [
            piece.arrays["rows"]
            for dataset, piece in zip(self._datasets, self._pieces, strict=True)
            if dataset == number
        ]
        return np.unique(np.concatenate(rows))

    def _records(self) -> dict[str, Sequence[RecordedRow]]:
        """Nodes in the order of the table, then those they were made from; links as the store gives them."""
        nodes: list[Node] = []
        ancestors: list[Node] = []
        links: list[NodeLink] = []
        for number, universe in enumerate(self._universes):
            row_ids = universe.corpus("node").columns.row_ids[self._used(number)].tolist()
            found = universe.store.nodes(row_ids)
            nodes += found
            known = {node.node_id for node in found}
            frontier = list(known)
            for _ in LEVELS[1:]:
                made = universe.store.links_from(universe.dataset_ids, sorted(frontier))
                links += made
                frontier = sorted({link.parent_id for link in made})
                new = [parent for parent in frontier if parent not in known]
                ancestors += universe.store.nodes_by_id(universe.dataset_ids, new)
                known.update(new)
        return {"node": [*nodes, *ancestors], "link": list(dict.fromkeys(links))}

    def _note_widths(self, inquiry: Inquiry, corpus: Corpus, lexical: Scores) -> tuple[dict[str, bool], bool]:
        """For each channel whether everything it could find was found, and whether every vector was looked at."""
        mask = corpus.mask(
            levels=inquiry.levels, dataset_ids=inquiry.dataset_ids, hide_sources=inquiry.hide_sources
        )
        allowed = lexical > 0 if mask is None else (lexical > 0) & mask
        with_vector = np.ones(len(corpus), dtype=bool) if mask is None else mask.copy()
        with_vector[corpus.vectors.left_out] = False
        searched = bool(inquiry.vector.any())
        whole = {
            "recall.lexical_k": int(allowed.sum()) <= self.widths["recall.lexical_k"],
            "recall.dense_k": not searched or int(with_vector.sum()) <= self.widths["recall.dense_k"],
        }
        return whole, bool(not searched or corpus.vectors.exact or mask is not None)

    def _read(self, profile: Profile, corpus: Corpus, rows: Rows, scores: Mapping[str, Scores]) -> Rows:
        """Places of what any weight brings among the best ``rerank.depth``, with a margin; all where they are few, and
        up to ``READ_WHOLE`` of them by a reranker that runs here: a narrow recall may bring any of them near."""
        depth = int(self.widths["rerank.depth"] * MARGIN) + 10
        slow = profile.choice("rerank.method").startswith("cross-encoder:")
        if len(rows) <= (depth if slow else max(depth, READ_WHOLE)):
            return np.arange(len(rows))
        lexical = scores.get("lexical", scores["tfidf"])
        best = set[int]()
        for fused in (lexical, scores["cosine"], *_fusions(profile, corpus, rows, lexical, scores)):
            best.update(ordered(fused, np.arange(len(rows)))[:depth].tolist())
        return np.array(sorted(best), dtype=np.int64)


def _fusions(
    profile: Profile, corpus: Corpus, rows: Rows, lexical: Scores, scores: Mapping[str, Scores]
) -> Iterator[Scores]:
    """The ranking score under weights all over their ranges."""
    method = profile.choice("fusion.method")
    own = {"convex": "fusion.weight", "blend": "blend.weight"}.get(method)
    weights = [*STEPS.tolist(), profile.number(own)] if own else [0.5]
    constants = [*RRF_STEPS, profile.count("fusion.rrf_k")] if method == "rrf" else [60]
    neighbours = corpus.neighbours[rows]
    besides = [0.0, 0.5, 1.0, profile.number("fusion.neighbour_weight")] if (neighbours >= 0).any() else [0.0]
    for weight, constant, beside in product(weights, constants, besides):
        blended = fuse.blend(scores["tfidf"], scores["cosine"], weight)
        fused = fuse.fused(method, lexical, scores["cosine"], blended, weight=weight, rrf_k=constant)
        yield fuse.with_neighbours(fused, rows, neighbours, beside)


def _positions(dataset_ids: NDArray[np.int64], among: Sequence[int]) -> NDArray[np.int32]:
    """(n,) where each stands among the datasets."""
    positions = {dataset_id: position for position, dataset_id in enumerate(among)}
    return np.array([positions[dataset_id] for dataset_id in dataset_ids.tolist()], dtype=np.int32)


def _placed(neighbours: NDArray[np.int64], rows: Rows, start: int) -> NDArray[np.int32]:
    """(n, 2) corpus rows as places in the table; −1 where the neighbour is in none of the pools."""
    place = np.clip(np.searchsorted(rows, neighbours), 0, max(0, len(rows) - 1))
    found = (rows[place] == neighbours) & (neighbours >= 0) if len(rows) else np.zeros(neighbours.shape, bool)
    return np.where(found, place + start, -1).astype(np.int32)


def _keys(case: Case, nodes: Sequence[Node]) -> NDArray[np.int32]:
    """(m,) numbers of the identities that are judged: relevant ones first in the order of the labels, then the rest;
    −1 for a node without a source, which is not ranked."""
    judged = {gold.key: gold.relevance for gold in case.gold}
    key_of = keys_judged(case.gold)
    numbers = {key: n for n, key in enumerate(key for key, gain in judged.items() if gain > 0)}
    keys = [
        numbers.setdefault(key_of(node_candidate(node, {})), len(numbers)) if node.source else -1
        for node in nodes
    ]
    return np.array(keys, dtype=np.int32)


def _cited(case: Case, nodes: Sequence[Node], idf: Mapping[str, float]) -> NDArray[np.int32]:
    """(n, 2) pairs (candidate, gold evidence) where citing the one supports an answer by the other."""
    gold = finest(case)
    sources = {one.source for one in gold}
    pairs = []
    for place, node in enumerate(nodes):
        if node.source in sources:
            evidence = evidence_of(node_candidate(node, {}), frozenset(idf), idf.__getitem__, None)
            pairs += [(place, number) for number, one in enumerate(gold) if cites(evidence, one)]
    return np.array(pairs, dtype=np.int32).reshape(-1, 2)
