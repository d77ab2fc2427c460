"""Fusion: one ranking score out of several channels. What is normalised per query only orders, it is never cut on.

Every function works along the last axis and takes leading ones: one question under many settings side by side, whose
weights are then columns (settings, 1). ``among`` marks the candidates that take part, None means all of them; what the
result says of the others means nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.index.base import Mask, Rows, Scores

Weight = float | NDArray[np.float64]
"""One weight, or a column of them."""


def min_max(scores: Scores, among: Mask | None = None) -> Scores:
    """(..., m) scaled to [0, 1] over the given scores; all equal: zeros. ``(0,)`` stays ``(0,)``.

    Source: Bruch, Gai & Ingber, An Analysis of Fusion Functions for Hybrid Retrieval, TOIS 2023, eq. 2.
    """
    if scores.size == 0:
        return scores.astype(np.float32)
    least, most = (scores, scores) if among is None else (
        np.where(among, scores, np.inf), np.where(among, scores, -np.inf)
    )  # fmt: skip
    low, high = least.min(axis=-1, keepdims=True), most.max(axis=-1, keepdims=True)
    spread = (high.astype(np.float64) - low).astype(np.float32)
    apart = high > low
    scaled = np.subtract(scores, low) / np.where(apart, spread, 1)
    return np.where(apart, scaled, 0).astype(np.float32)


def mix(first: Scores, second: Scores, weight: Weight) -> Scores:
    """``weight·first + (1 − weight)·second`` in float32."""
    share, rest = np.asarray(weight, dtype=np.float32), np.asarray(1 - weight, dtype=np.float32)
    return np.asarray(share * first + rest * second, dtype=np.float32)


def blend(lexical: Scores, cosine: Scores, weight: Weight) -> Scores:
    """``weight·lexical + (1 − weight)·cosine``, both clipped to [0, 1]; unnormalised, so floors may read it."""
    return mix(np.clip(lexical, 0, 1), np.clip(cosine, 0, 1), weight)


def convex(lexical: Scores, cosine: Scores, weight: Weight, among: Mask | None = None) -> Scores:
    """``weight·min_max(lexical) + (1 − weight)·min_max(cosine)`` over the pool.

    Source: Bruch, Gai & Ingber 2023, eq. 3 (convex combination).
    """
    return mix(min_max(lexical, among), min_max(cosine, among), weight)


def reciprocal_rank(
    lexical: Scores, cosine: Scores, rrf_k: int | NDArray[np.int64], among: Mask | None = None
) -> Scores:
    """``Σ 1/(rrf_k + rank)``, rank from 1 by (−score, position) in each channel; what the lexical channel did not find
    (score ≤ 0) has no rank in it and gains nothing there.

    Source: Cormack, Clarke & Buettcher, Reciprocal Rank Fusion, SIGIR 2009.
    """
    by_words = np.where(lexical > 0, 1.0 / (rrf_k + _ranks(lexical, among)), 0.0)
    return np.asarray(by_words + 1.0 / (rrf_k + _ranks(cosine, among)), dtype=np.float32)


def with_neighbours(scores: Scores, rows: Rows, neighbours: NDArray[np.int64], weight: Weight) -> Scores:
    """Adds ``weight`` times the score of the turn before and of the turn after (same session) to each turn's own.

    ``rows`` (m,) ascending are the pool's rows, ``neighbours`` (m, 2) the corpus rows beside each, −1 for none.
    A neighbour outside the pool adds nothing; one that takes no part must have score 0.
    """
    if rows.size == 0 or not np.any(weight):
        return scores
    place = np.clip(np.searchsorted(rows, neighbours), 0, rows.size - 1)
    found = (rows[place] == neighbours) & (neighbours >= 0)
    beside: Scores = np.where(found, scores[..., place], 0).sum(axis=-1)
    return np.asarray(scores + np.asarray(weight, dtype=np.float32) * beside, dtype=np.float32)


def fused(
    method: str,
    lexical: Scores,
    cosine: Scores,
    blended: Scores,
    *,
    weight: Weight,
    rrf_k: int | NDArray[np.int64],
    among: Mask | None = None,
) -> Scores:
    """A score for ranking only, near [0, 1] whatever the method, so that λ of MMR means the same in each."""
    match method:
        case "blend":
            return blended
        case "convex":
            return convex(lexical, cosine, weight, among)
        case "rrf":
            return min_max(reciprocal_rank(lexical, cosine, rrf_k, among), among)
        case "lexical":
            return min_max(lexical, among)
        case _:
            return cosine


def _ranks(scores: Scores, among: Mask | None) -> NDArray[np.int64]:
    last_first = -scores if among is None else np.where(among, -scores, np.inf)
    order = np.argsort(last_first, axis=-1, kind="stable")
    ranks = np.empty(order.shape, dtype=np.int64)
    np.put_along_axis(ranks, order, np.arange(1, order.shape[-1] + 1), axis=-1)
    return ranks
