"""Mixing a reranker in: it is blended with the fused order, not trusted alone, and its share is a threshold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.index.base import Mask, Scores
from core.stages.fuse import Weight, min_max, mix


def mixed(fused: Scores, reranked: Scores, weight: Weight, among: Mask | None = None) -> Scores:
    """``weight·min_max(reranked) + (1 − weight)·min_max(fused)`` over the reranked candidates (..., m), in [0, 1].

    ``weight = 1`` orders by the reranker alone, ``weight = 0`` keeps the fused order. ``among`` as in ``fuse``.
    """
    return mix(min_max(reranked, among), min_max(fused, among), weight)


def order(scores: Scores) -> NDArray[np.int64]:
    """Positions (m,) by (−score, position before)."""
    return np.lexsort((np.arange(scores.size), -scores))
