"""Which candidates are cited under many settings at once: the first k that the gate leaves in the order of MMR."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.index.base import Mask, Scores
from core.stages.diversify import Taking
from evals.metrics.abstention import Floats
from evals.replay_question import Question
from evals.replay_rank import Places, Ranked

NARROW = 32
"""Settings that let more than this many pass are worked on apart from the others, so that those stay narrow."""


@dataclass(frozen=True, slots=True)
class Diversity:
    """For P settings what passed the floor (P, K) in ranked order, and each one's λ (P,)."""

    question: Question
    order: Ranked
    passed: Mask
    trade_off: Floats


def taken_first(diversity: Diversity, opened: Mask, k: NDArray[np.int64]) -> Mask:
    """(P, K) what is cited. The order matters only where more is open than is taken."""
    count = opened.sum(axis=1)
    more = np.flatnonzero(count > k)
    if not len(more):
        return opened
    chosen = opened.copy()
    plain = diversity.trade_off[more] >= 1
    rows = more[plain]
    chosen[rows] = opened[rows] & (np.cumsum(opened[rows], axis=1) <= k[rows, None])
    wide = diversity.passed[more].sum(axis=1) > NARROW
    for rows in (more[~plain & wide], more[~plain & ~wide]):
        if len(rows):
            rows = rows[np.argsort(-k[rows], kind="stable")]
            chosen[rows] = _by_diversity(diversity, rows, opened[rows], k[rows])
    return chosen


def _by_diversity(diversity: Diversity, rows: Places, opened: Mask, k: NDArray[np.int64]) -> Mask:
    """(rows, K) the first k open ones in the order of MMR over all that passed; ``k`` falls."""
    at, waiting = _closed_up(diversity.passed[rows])
    line = np.arange(len(rows))
    flat = at + (rows * opened.shape[1])[:, None]
    places = diversity.order.places.ravel().take(flat)
    taking = Taking(diversity.order.relevance.ravel().take(flat), waiting, diversity.trade_off[rows])
    alike = Alike(diversity.question, places)
    chosen = np.zeros_like(opened)
    found = np.zeros(len(rows), dtype=np.int64)
    left = len(rows)
    while left:
        choice = taking.next(left)
        where = at[line[:left], choice]
        counts = opened[line[:left], where] & (found[:left] < k[:left])
        chosen[line[:left][counts], where[counts]] = True
        found[:left] += counts
        unfinished = found[:left] < k[:left]
        left = left - int(unfinished[::-1].argmax()) if unfinished.any() else 0
        if left:
            taking.compare(alike(choice[:left]))
    return chosen


def _closed_up(passed: Mask) -> tuple[Places, Mask]:
    """(rows, most) positions of what passed, in order, and which of them are there."""
    count = passed.sum(axis=1)
    at = np.zeros((len(passed), int(count.max())), dtype=np.int64)
    rows, positions = np.nonzero(passed)
    starts = np.cumsum(count) - count
    at.ravel()[np.arange(len(rows)) + (np.arange(len(at)) * at.shape[1] - starts)[rows]] = positions
    return at, np.arange(at.shape[1]) < count[:, None]


class Alike:
    """Similarities of the places just taken to all in their rows."""

    def __init__(self, question: Question, places: Places) -> None:
        self._flat, self._places, self._size = question.alike(places)
        self._rows = np.arange(len(places))

    def __call__(self, choice: Places) -> Scores:
        places = self._places[: len(choice)]
        start = places[self._rows[: len(choice)], choice] * self._size
        found: Scores = self._flat.take(places + start[:, None])
        return found
