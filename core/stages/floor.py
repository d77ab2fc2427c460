"""The relevance floor: what may be used to answer at all. It reads unnormalised scores only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.index.base import Scores

PASSED = -1
CHECKS = ("floor.min_overlap", "floor.min_score", "floor.min_cosine")
"""The thresholds a candidate can fall by, in the order they are looked at; a verdict is an index into it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """A candidate passes when ``overlap ≥ min_overlap`` and ``cosine ≥ min_cosine`` and either
    ``score > min_score`` or ``overlap ≥ strong_overlap``."""

    min_overlap: float
    min_score: float
    strong_overlap: float
    min_cosine: float

    def verdicts(self, overlap: Scores, score: Scores, cosine: Scores) -> NDArray[np.int64]:
        """(m,) ``PASSED`` or the index into ``CHECKS`` of the first check that failed."""
        no_overlap = overlap < np.float32(self.min_overlap)
        weak = ~((score > np.float32(self.min_score)) | (overlap >= np.float32(self.strong_overlap)))
        far = cosine < np.float32(self.min_cosine)
        return np.select([no_overlap, weak, far], [0, 1, 2], default=PASSED).astype(np.int64)
