"""Retrieval metrics from ranks: of one question under many settings, the figures of ``metrics.retrieval`` to the bit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evals.metrics.abstention import Floats
from evals.scoring import DEPTH, RETRIEVAL

Ranks = NDArray[np.int64]
UNRANKED = DEPTH + 1
"""The rank of what is not among the first ``DEPTH``."""
_DISCOUNT = np.array([math.inf, *(math.log2(rank + 1) for rank in range(1, DEPTH + 1)), math.inf])


def figures(ranks: Ranks, gains: Sequence[int]) -> dict[str, Floats]:
    """Each metric of ``RETRIEVAL`` as (settings,); all NaN where nothing is relevant.

    ``ranks`` (settings, relevant keys) from 1, ``UNRANKED`` for what was not found; ``gains`` are positive and stand
    beside them. Sources: see ``metrics.retrieval``, whose sums are taken in the same order.
    """
    if not len(gains):
        return {name: np.full(len(ranks), np.nan) for name in RETRIEVAL}
    order = np.argsort(ranks, axis=1, kind="stable")
    ordered = np.take_along_axis(ranks, order, axis=1)
    gained = np.asarray(gains, dtype=np.float64)[order]
    return {name: _figure(name, ordered, gained, gains) for name in RETRIEVAL}


def _figure(name: str, ranks: Ranks, gained: Floats, gains: Sequence[int]) -> Floats:
    metric, _, depth = name.partition("@")
    k = int(depth or DEPTH)
    found: NDArray[np.float64] = (ranks <= k).sum(axis=1).astype(np.float64)
    match metric:
        case "ndcg":
            best = sorted(gains, reverse=True)[:k]
            ideal = sum(gain / math.log2(rank + 1) for rank, gain in enumerate(best, start=1))
            return _total(np.where(ranks <= k, gained / _DISCOUNT[ranks], 0.0)) / ideal
        case "recall":
            return found / len(gains)
        case "recall_all":
            return np.asarray(found == len(gains), dtype=np.float64)
        case "precision":
            return found / k
        case "hit":
            return (found > 0).astype(np.float64)
        case "mrr":
            return np.where(found > 0, 1 / ranks[:, 0], 0.0)
        case "map":
            precise = np.where(ranks <= k, np.arange(1, ranks.shape[1] + 1) / ranks, 0.0)
            return _total(precise) / len(gains)
    raise ValueError(f"metric {name!r} cannot be replayed yet; add it to replay_metrics")


def _total(columns: Floats) -> Floats:
    """Row sums taken from left to right, as ``sum`` does."""
    total: Any = np.zeros(len(columns))
    for column in columns.T:
        total = total + column
    return np.asarray(total, dtype=np.float64)
