"""Maximal marginal relevance: relevant, and unlike what was already taken."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.index.base import Mask, Scores

Places = NDArray[np.int64]
Floats = NDArray[np.float64]


def similarities(vectors: Scores) -> Scores:
    """(m, m) float32 cosines of unit ``vectors`` (m, dim), clipped to [0, 1].

    A pair's number is the same to the last bit whatever stands beside it: each is summed by itself, by one thread.
    """
    return np.asarray(np.clip(np.einsum("id,jd->ij", vectors, vectors), 0, 1), dtype=np.float32)


def mmr(relevance: Scores, similarity: Scores, trade_off: float) -> Places:
    """Positions of all m candidates in the order they are taken.

    Next = argmax ``λ·relevance − (1 − λ)·max similarity to those taken``; ties by (−relevance, position).
    ``relevance`` (m,), ``similarity`` (m, m) clipped to [0, 1] by the caller, ``trade_off`` is λ in [0, 1];
    λ = 1 gives the order of relevance. Source: Carbonell & Goldstein, SIGIR 1998, eq. 1.
    """
    count = relevance.size
    by_relevance = np.lexsort((np.arange(count), -relevance))
    if trade_off >= 1 or count < 2:
        return by_relevance
    alike = similarity[np.ix_(by_relevance, by_relevance)]
    taking = Taking(relevance[None, by_relevance], np.ones((1, count), dtype=bool), np.array([trade_off]))
    taken = []
    for _ in range(count):
        taken.append(choice := taking.next(1))
        taking.compare(alike[choice])
    order: Places = by_relevance[np.concatenate(taken)]
    return order


class Taking:
    """b rows of m candidates side by side, of which one after another is taken by maximal marginal relevance.

    ``relevance`` (b, m) falls within each row, so that the first of equal values is the more relevant one; ``waiting``
    (b, m) says what may be taken, ``trade_off`` (b,) is each row's λ. Only the first ``count`` rows need to be gone on
    with.
    """

    def __init__(self, relevance: Scores, waiting: Mask, trade_off: Floats) -> None:
        self._own = trade_off[:, None] * relevance.astype(np.float64)
        self._own[~waiting] = -np.inf
        self._other = (1 - trade_off)[:, None]
        self._nearest: Scores | None = None
        self._rows = np.arange(len(relevance))

    def next(self, count: int) -> Places:
        """(count,) the place taken next in each row; where nothing waits any more it means nothing."""
        own = self._own[:count]
        value = own if self._nearest is None else own - self._other[:count] * self._nearest[:count]
        choice: Places = value.argmax(axis=1)
        own[self._rows[:count], choice] = -np.inf
        return choice

    def compare(self, alike: Scores) -> None:
        """Hands over the similarities (count, m) of what was just taken to all."""
        self._nearest = alike if self._nearest is None else np.maximum(self._nearest[: len(alike)], alike)
