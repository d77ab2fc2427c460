"""Which candidates are cited under many settings at once: the first k that the gate leaves in the order of MMR."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.index.base import Mask, Scores
from core.stages.diversify import taken
from evals.metrics.abstention import Floats
from evals.replay_question import Question
from evals.replay_rank import Places, Ranked

STEPS = 8
"""Settings that differ less than this many times in what they take are worked on side by side."""


@dataclass(frozen=True, slots=True)
class Diversity:
    """For P settings what passed the floor (P, K) in ranked order, and each one's λ (P,)."""

    question: Question
    order: Ranked
    passed: Mask
    trade_off: Floats


def taken_first(diversity: Diversity, opened: Mask, k: NDArray[np.int64]) -> Mask:
    """(P, K) what is cited. The order matters only where more is open than is taken."""
    chosen = opened.copy()
    more = np.flatnonzero(opened.sum(axis=1) > k)
    if not len(more):
        return chosen
    plain = diversity.trade_off[more] >= 1
    rows = more[plain]
    chosen[rows] = opened[rows] & (np.cumsum(opened[rows], axis=1) <= k[rows, None])
    rest = more[~plain]
    rest = rest[np.argsort(k[rest], kind="stable")]
    cuts = np.flatnonzero(np.diff(np.log2(k[rest]).astype(np.int64))) + 1 if len(rest) else []
    for rows in np.split(rest, cuts):
        if len(rows):
            chosen[rows] = _by_diversity(diversity, rows, opened[rows], k[rows])
    return chosen


def _by_diversity(diversity: Diversity, rows: Places, opened: Mask, k: NDArray[np.int64]) -> Mask:
    """(rows, K) the first k open ones in the order of MMR over all that passed."""
    passed = diversity.passed[rows]
    at, waiting = _closed_up(passed)
    line = np.arange(len(rows))
    places = diversity.order.places[rows[:, None], at]
    relevance = diversity.order.relevance[rows[:, None], at]
    alike = _lookup(diversity.question, places)
    chosen = np.zeros_like(opened)
    found = np.zeros(len(rows), dtype=np.int64)
    for choice in taken(relevance, waiting, diversity.trade_off[rows], alike):
        where = at[line, choice]
        taking = opened[line, where] & (found < k)
        chosen[line[taking], where[taking]] = True
        found += taking
        if (found >= k).all():
            return chosen
    raise AssertionError("more was open than is taken, so the loop ends")


def _closed_up(passed: Mask) -> tuple[Places, Mask]:
    """(rows, most) positions of what passed, in order, and which of them are there."""
    count = passed.sum(axis=1)
    at = np.zeros((len(passed), int(count.max())), dtype=np.int64)
    rows, positions = np.nonzero(passed)
    starts = np.cumsum(count) - count
    at[rows, np.arange(len(rows)) - starts[rows]] = positions
    return at, np.arange(at.shape[1]) < count[:, None]


def _lookup(question: Question, places: Places) -> Alike:
    used, local = np.unique(places, return_inverse=True)
    return Alike(question.alike(used), local.reshape(places.shape))


class Alike:
    """Similarities of the places just taken to all in their rows; both are numbered within ``similar`` (n, n)."""

    def __init__(self, similar: Scores, places: Places) -> None:
        self._flat = np.ascontiguousarray(similar).ravel()
        self._places, self._size = places, len(similar)
        self._rows = np.arange(len(places))

    def __call__(self, choice: Places) -> Scores:
        start = self._places[self._rows, choice] * self._size
        found: Scores = self._flat.take(self._places + start[:, None])
        return found
