"""Maximal marginal relevance: relevant, and unlike what was already taken."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.index.base import Scores


def mmr(relevance: Scores, similarity: Scores, trade_off: float) -> NDArray[np.int64]:
    """Positions of all m candidates in the order they are taken.

    Next = argmax ``λ·relevance − (1 − λ)·max similarity to those taken``; ties by (−relevance, position).
    ``relevance`` (m,), ``similarity`` (m, m) clipped to [0, 1] by the caller, ``trade_off`` is λ in [0, 1];
    λ = 1 gives the order of relevance. Source: Carbonell & Goldstein, SIGIR 1998, eq. 1.
    """
    count = relevance.size
    by_relevance = np.lexsort((np.arange(count), -relevance))
    if trade_off >= 1 or count < 2:
        return by_relevance
    relevant = relevance[by_relevance].astype(np.float64)
    alike = similarity[np.ix_(by_relevance, by_relevance)].astype(np.float64)
    nearest = np.zeros(count)
    waiting = np.ones(count, dtype=bool)
    taken = np.empty(count, dtype=np.int64)
    for step in range(count):
        value = np.where(waiting, trade_off * relevant - (1 - trade_off) * nearest, -np.inf)
        taken[step] = choice = int(np.argmax(value))  # the first of equals: the more relevant one
        waiting[choice] = False
        nearest = np.maximum(nearest, alike[choice])
    return by_relevance[taken]
