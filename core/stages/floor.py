"""The relevance floor: what may be used to answer at all. It reads unnormalised scores only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.index.base import Mask, Scores

Cut = float | NDArray[np.float64]
PASSED = -1
CHECKS = ("floor.min_overlap", "floor.min_score", "floor.min_cosine")
"""The thresholds a candidate can fall by, in the order they are looked at; a verdict is an index into it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """A candidate passes when ``overlap ≥ min_overlap`` and ``cosine ≥ min_cosine`` and either
    ``score > min_score`` or ``overlap ≥ strong_overlap``. Columns (settings, 1) of thresholds read many rows at once."""

    min_overlap: Cut
    min_score: Cut
    strong_overlap: Cut
    min_cosine: Cut

    def verdicts(self, overlap: Scores, score: Scores, cosine: Scores) -> NDArray[np.int64]:
        """(m,) ``PASSED`` or the index into ``CHECKS`` of the first check that failed."""
        return np.select(list(self.falls(overlap, score, cosine)), [0, 1, 2], default=PASSED).astype(np.int64)

    def falls(self, overlap: Scores, score: Scores, cosine: Scores) -> tuple[Mask, Mask, Mask]:
        """For each of ``CHECKS`` (..., m) True where it fails."""
        least_overlap, least_score, strong, least_cosine = (
            np.asarray(cut, dtype=np.float32)
            for cut in (self.min_overlap, self.min_score, self.strong_overlap, self.min_cosine)
        )
        return (
            overlap < least_overlap,
            ~((score > least_score) | (overlap >= strong)),
            cosine < least_cosine,
        )
