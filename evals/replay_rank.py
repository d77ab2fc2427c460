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
BIN = 256
"""Settings of neighbouring weight that share one list of candidates."""
SLACK = np.float32(1e-5)
"""Relative; more than a float32 mix of two numbers that are not negative can be off."""
PLACE = 0xFFFFFFFF
"""The part of a key that is a place."""
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
        gained = fused + weight.astype(np.float32) * question.confidence.take(places)
        order, fused = _best_first(gained, inside)
        places = np.take_along_axis(places, order, axis=1)
    if question.rerank is None:
        return Ranked(places, fused, size, size)
    head = np.minimum(settings.values["rerank.depth"].astype(np.int64), size)
    among = np.arange(places.shape[1]) < head[:, None]
    read = question.rerank.take(places)
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
    mixed = question.linear(method) if members is None and question.neighbours is None else None
    if mixed is not None and len(keep) > BIN:
        weight = settings.values["fusion.weight" if method == "convex" else "blend.weight"]
        keys = _best_of_a_mix(*mixed, weight, width)
    else:
        keys = _keys(_everyones(question, settings, method, members), np.arange(len(question)))
        if members is not None:
            keys = np.where(members, keys, LAST)
        keys = _least(keys, width)
    places, values = _decoded(keys)
    if members is not None:
        places[keys == LAST] = 0
    return places, values, size


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


def _best_of_a_mix(first: Scores, second: Scores, weight: Floats, width: int) -> Places:
    """(R, width) sorted keys of the best of ``mix(first, second, weight)``, looking at few of the others.

    The mix is linear in the weight: who is behind ``width`` others at two weights is so at every weight between. Weights
    of 0 and 1, where many tie, are looked at by themselves.
    """
    order = np.argsort(weight, kind="stable")
    rising = weight[order]
    inside, one = np.searchsorted(rising, [np.nextafter(0, 1), 1]).tolist()
    starts = np.unique([0, *range(inside, one, BIN), one])
    starts = starts[starts < len(rising)]
    edges = np.append(rising[starts], rising[-1])
    at_edges = fuse.mix(first, second, edges[:, None])
    ranks = _ranks(at_edges)
    found = np.empty((len(weight), width), dtype=np.int64)
    for number, start in enumerate(starts.tolist()):
        rows = order[start : starts[number + 1] if number + 1 < len(starts) else None]
        low, high = edges[number], rising[min(len(rising), start + len(rows)) - 1]
        ends = slice(number, number + 1 if low == high else number + 2)
        places = _maybe_best(at_edges[ends], ranks[ends], width)
        scores = fuse.mix(first[places], second[places], weight[rows][:, None])
        found[rows] = _least(_keys(scores, places), width)
    return found


def _maybe_best(scores: Scores, ranks: Places, width: int) -> Places:
    """Ascending places of all that may be among the best ``width`` between two weights, given both ends (2, m)."""
    behind = ranks.max(axis=0)
    if len(ranks) == 1:
        return np.flatnonzero(behind < width)
    ahead = behind <= np.partition(behind, width - 1)[width - 1]
    least = scores[:, ahead].min(axis=1, keepdims=True)
    return np.flatnonzero((scores * (1 + SLACK) >= least).any(axis=0))


def _ranks(scores: Scores) -> Places:
    """Ranks from 0 by (−score, place) in each row."""
    keys = _keys(scores, np.arange(scores.shape[1]))
    keys.sort(axis=1)
    ranks = np.empty(keys.shape, dtype=np.int64)
    np.put_along_axis(ranks, keys & PLACE, np.arange(keys.shape[1])[None, :], axis=1)
    return ranks


def _least(keys: Places, width: int) -> Places:
    """(R, width) the least keys of each row, sorted."""
    if width < keys.shape[1]:
        keys = np.partition(keys, width - 1, axis=1)[:, :width]
    return np.sort(keys, axis=1)


def _keys(scores: Scores, places: Places) -> Places:
    """int64 that sort by (−score, place)."""
    bits = (scores + np.float32(0)).view(np.int32)  # + 0: a negative zero equals zero
    falling = ~(bits ^ ((bits >> 31) & np.int32(0x7FFFFFFF)))
    return (falling.astype(np.int64) << 32) | places


def _decoded(keys: Places) -> tuple[Places, Scores]:
    """Places and scores of keys."""
    bits = ~(keys >> 32).astype(np.int32)
    values = (bits ^ ((bits >> 31) & np.int32(0x7FFFFFFF))).view(np.float32)
    return keys & PLACE, values


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
