"""The gate after reranking: a floor on the reranker's own, unnormalised score."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.index.base import Scores


def best_passes(scores: Scores, minimum: float) -> bool:
    """Whether the best of all candidates' scores (m,) reaches ``minimum``: all or nothing. False for none."""
    return bool(scores.size) and bool(scores.max() >= np.float32(minimum))


def passes(scores: Scores, minimum: float | NDArray[np.float64]) -> NDArray[np.bool_]:
    """(..., m) True where ``score ≥ minimum``; one that was not scored (NaN) passes, nothing speaks against it."""
    return np.isnan(scores) | (scores >= np.asarray(minimum, dtype=np.float32))
