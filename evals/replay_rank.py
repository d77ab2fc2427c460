"""Rankings of one recorded question under many settings at once: recall, fusion and reranking, settings × candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import RecordingError
from core.index.base import Mask, Scores
from core.profile import Profile
from core.stages import fuse, rerank
from core.thresholds import Threshold, for_recipe
from evals.metrics.abstention import Floats
from evals.recording import needs
from evals.replay_question import Question

Places = NDArray[np.int64]
BIN = 64
"""Settings of neighbouring weight that share one list of candidates."""
SLACK = 1e-5
"""More than float32 sums of numbers up to 1 can be off."""
LAST = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Settings:
    """Threshold values of P profiles by name, each (P,) float64."""

    values: Mapping[str, Floats]

    @classmethod
    def of(cls, profiles: Sequence[Profile]) -> Settings:
        """All thresholds of the profiles' recipe; ``recall.dense_k`` is what is really recalled."""
        knobs = [knob for knob in for_recipe(profiles[0].recipe) if isinstance(knob, Threshold)]
        values = {
            knob.name: np.array([profile.values[knob.name] for profile in profiles], dtype=np.float64)
            for knob in knobs
        }
        if "recall.dense_k" in values:
            values["recall.dense_k"] = np.array([needs(each)["recall.dense_k"] for each in profiles], float)
        return cls(values)

    def column(self, name: str) -> Floats:
        """(P, 1) of one threshold."""
        return self.values[name][:, None]

    def take(self, rows: NDArray[np.int64] | slice) -> Settings:
        """Those of some profiles."""
        return Settings({name: values[rows] for name, values in self.values.items()})


@dataclass(frozen=True, slots=True)
class Ranked:
    """For each setting the pool in ranked order: ``places`` (R, K) positions among the question's candidates, with their
    ``relevance``; the first ``size`` (R,) are in the pool, the first ``head`` (R,) go on to the floor."""

    places: Places
    relevance: Scores
    size: NDArray[np.int64]
    head: NDArray[np.int64]

    def inside(self) -> Mask:
        """(R, K) what is in the pool."""
        return np.arange(self.places.shape[1]) < self.size[:, None]


def ranking_settings(question_kinds: Mapping[str, bool], method: str) -> tuple[str, ...]:
    """Names of the thresholds a ranking depends on. ``question_kinds`` says whether any candidate has neighbours or a
    confidence, and whether there is a reranker."""
    own = {"convex": ["fusion.weight"], "blend": ["blend.weight"], "rrf": ["fusion.rrf_k"]}.get(method, [])
    return (
        "recall.lexical_k", "recall.dense_k", "recall.keep", *own,
        *(["fusion.neighbour_weight"] if question_kinds["neighbours"] else []),
        *(["fusion.confidence_weight"] if question_kinds["confidence"] else []),
        *(["rerank.depth", "rerank.weight"] if question_kinds["rerank"] else []),
    )  # fmt: skip


def ranked(question: Question, settings: Settings, method: str) -> Ranked:
    """Recall, fusion, the confidence's share and reranking, as the recipe's own stages do it.

    Raises:
        RecordingError: a candidate that is to be reranked was not read by the reranker when recorded.
    """
    places, fused, size = _fused(question, settings, method)
    inside = np.arange(places.shape[1]) < size[:, None]
    weight = settings.column("fusion.confidence_weight")
    if question.confidence is not None and weight.any():
        gained = fused + weight.astype(np.float32) * question.confidence[places]
        order, fused = _best_first(gained, inside)
        places = np.take_along_axis(places, order, axis=1)
    if question.rerank is None:
        return Ranked(places, fused, size, size)
    head = np.minimum(settings.values["rerank.depth"].astype(np.int64), size)
    among = np.arange(places.shape[1]) < head[:, None]
    read = question.rerank[places]
    if (np.isnan(read) & among).any():
        at = int(places[np.isnan(read) & among][0])
        raise RecordingError(question.unread(at))
    mixed = rerank.mixed(fused, np.where(among, read, 0), settings.column("rerank.weight"), among)
    order, relevance = _best_first(mixed, among)
    return Ranked(np.take_along_axis(places, order, axis=1), relevance, size, head)


def _fused(question: Question, settings: Settings, method: str) -> tuple[Places, Scores, NDArray[np.int64]]:
    """The best ``recall.keep`` by (−fused, row): places and scores (R, K), and how many each pool has (R,)."""
    keep = settings.values["recall.keep"].astype(np.int64)
    members = question.members(settings.values["recall.lexical_k"], settings.values["recall.dense_k"])
    count = np.full(len(keep), len(question)) if members is None else members.sum(axis=1)
    size = np.minimum(keep, count)
    width = min(len(question), int(keep.max()))
    within = question.linear(method) if members is None and question.neighbours is None else None
    if within is not None and len(keep) > BIN:
        weight = settings.values["fusion.weight" if method == "convex" else "blend.weight"]
        near = _near_the_top(*within, weight, width)
        there = near >= 0
        scores = fuse.mix(within[0][near], within[1][near], weight[:, None])
        keys = np.where(there, _keys(scores, near), LAST)
    else:
        scores = _everyones(question, settings, method, members)
        keys = _keys(scores, np.arange(len(question)))
        if members is not None:
            keys = np.where(members, keys, LAST)
    if width < keys.shape[1]:
        keys = np.partition(keys, width - 1, axis=1)[:, :width]
    keys.sort(axis=1)
    places, values = _decoded(keys)
    return np.where(keys == LAST, 0, places), values, size


def _everyones(question: Question, settings: Settings, method: str, members: Mask | None) -> Scores:
    """(R, m) the ranking score of every candidate."""
    blended = fuse.blend(question.tfidf, question.cosine, settings.column("blend.weight"))
    fused = fuse.fused(
        method,
        question.lexical,
        question.cosine,
        blended,
        weight=settings.column("fusion.weight"),
        rrf_k=settings.column("fusion.rrf_k").astype(np.int64),
        among=members,
    )
    fused = np.broadcast_to(fused, blended.shape)
    if question.neighbours is None:
        return fused
    own = fused if members is None else np.where(members, fused, np.float32(0))
    return fuse.with_neighbours(
        own, question.rows, question.neighbours, settings.column("fusion.neighbour_weight")
    )


def _near_the_top(first: Scores, second: Scores, weight: Floats, width: int) -> Places:
    """(R, w) for each weight the places of all that may be among its best ``width``, and few others; −1 where fewer.

    The mix is linear in the weight, so between two weights a score lies between its scores at both.
    """
    order = np.argsort(weight, kind="stable")
    edges = weight[order[np.append(np.arange(0, len(order), BIN), len(order) - 1)]]
    at = fuse.mix(first, second, edges[:, None])
    low, high = np.minimum(at[:-1], at[1:]) - SLACK, np.maximum(at[:-1], at[1:]) + SLACK
    least = np.partition(low, low.shape[1] - width, axis=1)[:, low.shape[1] - width]
    maybe = high >= least[:, None]
    listed = np.full((len(maybe), int(maybe.sum(axis=1).max())), -1, dtype=np.int64)
    rows, places = np.nonzero(maybe)
    starts = np.searchsorted(rows, np.arange(len(maybe)))
    listed[rows, np.arange(len(rows)) - starts[rows]] = places
    bins = np.empty(len(order), dtype=np.int64)
    bins[order] = np.arange(len(order)) // BIN
    return listed[bins]


def _keys(scores: Scores, places: Places) -> Places:
    """int64 that sort by (−score, place)."""
    bits = (scores + np.float32(0)).view(np.int32)  # + 0: a negative zero equals zero
    falling = ~(bits ^ ((bits >> 31) & np.int32(0x7FFFFFFF)))
    return (falling.astype(np.int64) << 32) | places


def _decoded(keys: Places) -> tuple[Places, Scores]:
    """Places and scores of keys."""
    bits = ~(keys >> 32).astype(np.int32)
    values = (bits ^ ((bits >> 31) & np.int32(0x7FFFFFFF))).view(np.float32)
    return keys & 0xFFFFFFFF, values


def _best_first(scores: Scores, among: Mask) -> tuple[Places, Scores]:
    """Positions (R, K) by (−score, position) of those among, then the others as they stand; their scores so."""
    positions = np.arange(scores.shape[1])
    keys = np.where(among, _keys(scores.astype(np.float32), positions), (LAST >> 32 << 32) | positions)
    keys.sort(axis=1)
    order, values = _decoded(keys)
    return order, np.where(among, values, np.float32(0))


def unique_rows(columns: Sequence[Floats]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """First positions of the distinct rows, and for each row the number of its like."""
    table = np.stack(columns, axis=1)
    _, first, inverse = np.unique(table, axis=0, return_index=True, return_inverse=True)
    return first, inverse.reshape(-1).astype(np.int64)
