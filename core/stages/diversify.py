"""Maximal marginal relevance: relevant, and unlike what was already taken."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

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
    choices = taken(
        relevance[None, by_relevance],
        np.ones((1, count), dtype=bool),
        np.array([trade_off]),
        lambda choice: alike[choice],
    )
    order: Places = by_relevance[np.concatenate(list(islice(choices, count)))]
    return order


def taken(
    relevance: Scores, waiting: Mask, trade_off: Floats, alike: Callable[[Places], Scores]
) -> Iterator[Places]:
    """Of b rows of m candidates side by side, the place (b,) taken next in each, without end.

    ``relevance`` (b, m) falls within each row, so that the first of equal values is the more relevant one; ``waiting``
    (b, m) says what may be taken, ``trade_off`` (b,) is each row's λ, ``alike`` gives for the places just taken (b,)
    their similarities (b, m) to all. What is yielded for a row once nothing waits in it means nothing.
    """
    rows = np.arange(len(relevance))
    own = np.where(waiting, trade_off[:, None] * relevance.astype(np.float64), -np.inf)
    other = (1 - trade_off)[:, None]
    nearest = np.zeros(relevance.shape, dtype=np.float32)
    while True:
        choice = np.argmax(own - other * nearest, axis=1)
        yield choice
        own[rows, choice] = -np.inf
        nearest = np.maximum(nearest, alike(choice))
