"""`memory` and `brain` replayed: many profiles × many cases, the decisions of the recipe's own stage functions.

Cases are gone through one by one (by several threads), profiles in chunks side by side: memory beyond the result
depends on neither count.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.index.base import Mask
from core.profile import Profile
from core.progress import Progress, quiet
from core.stages import fuse, gate
from core.stages.floor import Floor
from core.trace import Recipe
from evals.recording import Recording
from evals.replay_metrics import UNRANKED, figures
from evals.replay_mmr import Diversity, taken_first
from evals.replay_question import Question, Table, questions
from evals.replay_rank import Ranked, Settings, ranked, ranking_settings, unique_rows
from evals.replayed import Replayed, known
from evals.scoring import DEPTH, RETRIEVAL

CHUNK = 1024
"""Profiles side by side: 100 candidates of each are half a megabyte an array, and what is done once a chunk is shared."""
KEPT = 31 * 1024 * 1024
"""Bytes; see ``_keep_pages``."""
CONFIDENCE: dict[Recipe, str] = {"brain": "tfidf+cosine", "memory": "cosine"}
"""Family of the score a recipe's confidence is the best of."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The result by case and profile (Q, P), retrieval by case and distinct ranking."""

    abstained: NDArray[np.bool_]
    correct: NDArray[np.bool_]
    would_be_right: NDArray[np.bool_]
    confidence: NDArray[np.float32]
    citation_precision: NDArray[np.float64]
    citation_recall: NDArray[np.float64]
    retrieval: dict[str, NDArray[np.float64]]

    @classmethod
    def empty(cls, cases: int, profiles: int, rankings: int) -> Columns:
        """Room for a result, to be filled."""
        shape = (cases, profiles)
        return cls(
            *(np.ones(shape, dtype=bool), np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)),
            np.full(shape, np.nan, dtype=np.float32),
            *(np.full(shape, np.nan), np.full(shape, np.nan)),
            {name: np.full((cases, rankings), np.nan) for name in RETRIEVAL},
        )


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is the same for every case: settings of the profiles in the order they are worked on (``order``), which
    ranking each has (``group``), and the settings of each distinct ranking."""

    recipe: Recipe
    method: str
    settings: Settings
    order: NDArray[np.int64]
    group: NDArray[np.int64]
    rankings: Settings
    gated: bool


def replayed_levelled(
    recording: Recording,
    profiles: Sequence[Profile],
    *,
    workers: int | None = None,
    progress: Progress = quiet,
) -> Replayed:
    """Every case under every profile, which the recording is known to serve."""
    _keep_pages()
    asked = questions(recording)
    plan, ranking_of = _plan(recording, asked[0].table, profiles)
    columns = Columns.empty(len(asked), len(profiles), len(plan.rankings.values["recall.keep"]))

    def one(number: int) -> None:
        _replay(asked[number], plan, columns, number)
        progress(1)

    with ThreadPoolExecutor(workers or os.cpu_count() or 1) as pool:
        for _ in pool.map(one, range(len(asked))):
            pass
    return Replayed(
        profiles=tuple(profiles),
        cases=recording.cases,
        answerable=known(recording.cases),
        judgeable=np.array([question.judgeable for question in asked], dtype=bool),
        abstained=columns.abstained.T,
        correct=columns.correct.T,
        would_be_right=columns.would_be_right.T,
        confidence=columns.confidence.T,
        citation_precision=columns.citation_precision.T,
        citation_recall=columns.citation_recall.T,
        retrieval={name: values.T for name, values in columns.retrieval.items()},
        ranking_of=ranking_of,
        confidence_space=recording.header.spaces[CONFIDENCE[recording.header.recipe]],
    )


def _keep_pages() -> None:
    """Has the C library keep freed memory of up to this size for the next array of it.

    It learns so from the first block of that size that is freed (glibc's dynamic M_MMAP_THRESHOLD, at most 32 MB), and
    would else give the pages of every array back and fault them in again, which takes longer than the arithmetic.
    """
    np.empty(KEPT, dtype=np.uint8)


def _plan(recording: Recording, table: Table, profiles: Sequence[Profile]) -> tuple[_Plan, NDArray[np.int64]]:
    """The plan, and for each profile the number of its ranking."""
    settings, method = Settings.of(profiles), str(recording.header.settings["fusion.method"])
    kinds = {
        "neighbours": table.neighbours is not None,
        "confidence": table.confidence is not None,
        "rerank": "rerank" in recording.arrays,
    }
    names = ranking_settings(kinds, method)
    first, group = unique_rows([settings.values[name] for name in names])
    order = np.argsort(group, kind="stable")
    plan = _Plan(
        recipe=recording.header.recipe,
        method=method,
        settings=settings.take(order),
        order=order,
        group=group[order],
        rankings=settings.take(first),
        gated=kinds["rerank"],
    )
    return plan, group


def _replay(question: Question, plan: _Plan, columns: Columns, number: int) -> None:
    """One case under all profiles, a chunk at a time."""
    if not len(question):
        _nothing_found(question, columns, number)
        return
    supports = question.supports
    for start in range(0, len(plan.order), CHUNK):
        chunk = slice(start, start + CHUNK)
        first, last = plan.group[chunk][[0, -1]].tolist()
        rankings = slice(first, last + 1)
        order = ranked(question, plan.rankings.take(rankings), plan.method)
        for name, values in figures(_gold_ranks(question, order), question.gains).items():
            columns.retrieval[name][number, rankings] = values
        group = plan.group[chunk] - first
        decided = _decide(question, plan, _expanded(order, group), plan.settings.take(chunk))
        _judge(question, plan.order[chunk], decided, supports, columns, number)


def _nothing_found(question: Question, columns: Columns, number: int) -> None:
    """No candidate at all: abstained from, right where there is no answer."""
    columns.correct[number] = question.case.answerable is False
    for name, values in figures(np.full((1, len(question.gains)), UNRANKED), question.gains).items():
        columns.retrieval[name][number] = values


@dataclass(frozen=True, slots=True)
class _Decided:
    """For P settings: the pool in ranked order, which of it is cited (P, K), how much (P,), how sure (P,)."""

    order: Ranked
    chosen: Mask
    count: NDArray[np.int64]
    k: NDArray[np.int64]
    confidence: NDArray[np.float32]


def _expanded(order: Ranked, group: NDArray[np.int64]) -> Ranked:
    """The ranking of each profile."""
    if len(group) == len(order.places):
        return order
    return Ranked(order.places[group], order.relevance[group], order.size[group], order.head[group])


def _decide(question: Question, plan: _Plan, order: Ranked, settings: Settings) -> _Decided:
    """Floor, diversity, gate and selection."""
    places = order.places
    cosine, overlap = question.cosine.take(places), question.overlap.take(places)
    blended = fuse.mix(
        question.tfidf_share.take(places), question.cosine_share.take(places), settings.column("blend.weight")
    )
    floor = Floor(
        min_overlap=settings.column("floor.min_overlap"),
        min_score=settings.column("floor.min_score"),
        strong_overlap=settings.column("floor.strong_overlap"),
        min_cosine=settings.column("floor.min_cosine"),
    )
    no_overlap, weak, far = floor.falls(overlap, blended, cosine)
    passed = ~(no_overlap | weak | far)
    if order.head.min() < places.shape[1]:
        passed &= np.arange(places.shape[1]) < order.head[:, None]
    opened = passed
    if plan.gated:
        assert question.rerank is not None
        opened = passed & gate.passes(question.rerank.take(places), settings.column("gate.min_rerank"))
    sure = blended if CONFIDENCE[plan.recipe] == "tfidf+cosine" else cosine
    if order.size.min() < places.shape[1]:
        sure = np.where(order.inside(), sure, -np.inf)
    best = sure.max(axis=1)
    if "gate.min_best_cosine" in settings.values:
        assert plan.recipe == "memory", "its confidence is the best cosine"
        opened = opened & (best >= settings.values["gate.min_best_cosine"].astype(np.float32))[:, None]
    if plan.recipe == "brain" and not question.terms:
        opened = np.zeros_like(opened)
    k = settings.values["select.k"].astype(np.int64)
    chosen = taken_first(Diversity(question, order, passed, settings.values["mmr.lambda"]), opened, k)
    confidence = np.where(order.size > 0, best, np.nan).astype(np.float32)
    return _Decided(order, chosen, chosen.sum(axis=1), k, confidence)


def _gold_ranks(question: Question, order: Ranked) -> NDArray[np.int64]:
    """(R, relevant keys) ranks from 1 among distinct identities, ``UNRANKED`` beyond ``DEPTH`` or not found."""
    places = order.places
    ranks = np.full((len(places), len(question.gains)), UNRANKED, dtype=np.int64)
    if question.keys_differ:
        for gold in range(len(question.gains)):
            for place in np.flatnonzero(question.key == gold).tolist():
                here = places == place
                at = here.argmax(axis=1)
                there = here[np.arange(len(at)), at] & (at < np.minimum(order.size, DEPTH))
                ranks[there, gold] = at[there] + 1
        return ranks
    keys = np.where(order.inside(), question.key[places], -1)
    counted = np.cumsum(_first_of_its_kind(keys), axis=1)
    for gold in range(len(question.gains)):
        here = keys == gold
        rank = np.take_along_axis(counted, here.argmax(axis=1)[:, None], axis=1)[:, 0]
        ranks[:, gold] = np.where(here.any(axis=1) & (rank <= DEPTH), rank, UNRANKED)
    return ranks


def _first_of_its_kind(keys: NDArray[np.int32]) -> Mask:
    """(R, K) where an identity stands first; those without one (−1) do not count."""
    order = np.argsort(keys, axis=1, kind="stable")
    ordered = np.take_along_axis(keys, order, axis=1)
    new = np.ones(keys.shape, dtype=bool)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    first = np.empty_like(new)
    np.put_along_axis(first, order, new, axis=1)
    return first & (keys >= 0)


def _judge(
    question: Question,
    profiles: NDArray[np.int64],
    decided: _Decided,
    supports: Sequence[tuple[int, NDArray[np.int64]]],
    columns: Columns,
    number: int,
) -> None:
    """Writes what the decisions are worth into the columns of these profiles."""
    abstained = decided.count == 0
    right = np.zeros(len(profiles), dtype=np.int64)
    near = np.zeros(len(profiles), dtype=bool)
    held = np.zeros((len(profiles), question.finest), dtype=bool)
    shown = np.minimum(decided.k, decided.order.size)
    for place, gold in supports:
        here = decided.order.places == place
        at = here.argmax(axis=1)
        there = np.take_along_axis(here, at[:, None], axis=1)[:, 0] & (at < decided.order.size)
        cited = there & np.take_along_axis(decided.chosen, at[:, None], axis=1)[:, 0]
        right += cited
        near |= there & (at < shown)
        held[:, gold] |= cited[:, None]
    answerable = question.case.answerable
    supported = right > 0
    columns.abstained[number, profiles] = abstained
    columns.confidence[number, profiles] = decided.confidence
    columns.correct[number, profiles] = abstained if answerable is False else supported
    columns.would_be_right[number, profiles] = bool(answerable) & np.where(abstained, near, supported)
    if question.finest and answerable is not False:
        precision = _over(right, decided.count)
        columns.citation_precision[number, profiles] = precision
        recall = np.max([held[:, golds].sum(axis=1) / len(golds) for golds in question.sets], axis=0)
        columns.citation_recall[number, profiles] = np.where(abstained, np.nan, recall)


def _over(right: NDArray[np.int64], count: NDArray[np.int64]) -> NDArray[Any]:
    return np.where(count > 0, right / np.maximum(count, 1), np.nan)
