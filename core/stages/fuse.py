"""Fusion: one ranking score out of several channels. What is normalised per query only orders, it is never cut on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.index.base import Rows, Scores


def min_max(scores: Scores) -> Scores:
    """(m,) scaled to [0, 1] over the given scores; all equal: zeros. ``(0,)`` stays ``(0,)``.

    Source: Bruch, Gai & Ingber, An Analysis of Fusion Functions for Hybrid Retrieval, TOIS 2023, eq. 2.
    """
    if scores.size == 0:
        return scores.astype(np.float32)
    low, high = float(scores.min()), float(scores.max())
    if high <= low:
        return np.zeros_like(scores, dtype=np.float32)
    return ((scores - low) / (high - low)).astype(np.float32)


def blend(lexical: Scores, cosine: Scores, weight: float) -> Scores:
    """``weight·lexical + (1 − weight)·cosine``, both clipped to [0, 1]; unnormalised, so floors may read it."""
    mixed = weight * np.clip(lexical, 0, 1) + (1 - weight) * np.clip(cosine, 0, 1)
    return mixed.astype(np.float32)


def convex(lexical: Scores, cosine: Scores, weight: float) -> Scores:
    """``weight·min_max(lexical) + (1 − weight)·min_max(cosine)`` over the pool.

    Source: Bruch, Gai & Ingber 2023, eq. 3 (convex combination).
    """
    return (weight * min_max(lexical) + (1 - weight) * min_max(cosine)).astype(np.float32)


def reciprocal_rank(lexical: Scores, cosine: Scores, rrf_k: int) -> Scores:
    """``Σ 1/(rrf_k + rank)``, rank from 1 by (−score, position) in each channel; what the lexical channel did not find
    (score ≤ 0) has no rank in it and gains nothing there.

    Source: Cormack, Clarke & Buettcher, Reciprocal Rank Fusion, SIGIR 2009.
    """
    by_words = np.where(lexical > 0, 1.0 / (rrf_k + _ranks(lexical)), 0.0)
    return (by_words + 1.0 / (rrf_k + _ranks(cosine))).astype(np.float32)


def with_neighbours(scores: Scores, rows: Rows, neighbours: NDArray[np.int64], weight: float) -> Scores:
    """Adds ``weight`` times the score of the turn before and of the turn after (same session) to each turn's own.

    ``rows`` (m,) ascending are the pool's rows, ``neighbours`` (m, 2) the corpus rows beside each, −1 for none.
    A neighbour outside the pool adds nothing.
    """
    if weight == 0 or rows.size == 0:
        return scores
    place = np.clip(np.searchsorted(rows, neighbours), 0, rows.size - 1)
    found = (rows[place] == neighbours) & (neighbours >= 0)
    beside: Scores = np.where(found, scores[place], 0).sum(axis=1)
    return np.asarray(scores + weight * beside, dtype=np.float32)


def _ranks(scores: Scores) -> NDArray[np.int64]:
    ranks = np.empty(scores.size, dtype=np.int64)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, scores.size + 1)
    return ranks
