"""Mixing a reranker in: it is blended with the fused order, not trusted alone, and its share is a threshold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.index.base import Scores
from core.stages.fuse import min_max


def mixed(fused: Scores, reranked: Scores, weight: float) -> Scores:
    """``weight·min_max(reranked) + (1 − weight)·min_max(fused)`` over the reranked candidates (m,), in [0, 1].

    ``weight = 1`` orders by the reranker alone, ``weight = 0`` keeps the fused order.
    """
    return (weight * min_max(reranked) + (1 - weight) * min_max(fused)).astype(np.float32)


def order(scores: Scores) -> NDArray[np.int64]:
    """Positions (m,) by (−score, position before)."""
    return np.lexsort((np.arange(scores.size), -scores))
