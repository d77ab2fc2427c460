"""Recall: wide, by channel. Every channel returns rows of one corpus, best first."""

from __future__ import annotations

import numpy as np

from core.index.base import Mask, Rows, Scores


def best_rows(scores: Scores, k: int, mask: Mask | None = None) -> Rows:
    """Rows of the ``k`` best positive ``scores`` (n,) under ``mask``, by (−score, row).

    A row that shares nothing with the question (score ≤ 0) is not recalled. ``k = 0`` or no such row: (0,).
    """
    allowed = scores > 0 if mask is None else (scores > 0) & mask
    rows = np.flatnonzero(allowed)
    found = scores[rows]
    if k < len(rows):
        cut = np.partition(found, len(rows) - k)[len(rows) - k] if k > 0 else np.inf
        rows, found = rows[found >= cut], found[found >= cut]
    return ordered(found, rows)[:k]


def ordered(scores: Scores, rows: Rows) -> Rows:
    """``rows`` (m,) by (−score, row); ``scores`` (m,) stands beside them."""
    return rows[np.lexsort((rows, -scores))]


def union(*channels: Rows) -> Rows:
    """Distinct rows of all channels, ascending."""
    return np.unique(np.concatenate(channels)) if channels else np.empty(0, dtype=np.int64)
