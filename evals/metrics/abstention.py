"""Abstention: how well confidence separates what can be answered from what cannot, and what a cut on it costs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


def ordered_confidence(confidence: Sequence[float | None]) -> Floats:
    """(n,) with None (nothing found at all) below every number."""
    return np.array([-np.inf if value is None else value for value in confidence], dtype=np.float64)


def auroc(confidence: Floats, answerable: Flags) -> float:
    """Chance that an answerable question has more confidence than an unanswerable one, ties ½; NaN with one class only.

    Source: Hanley & McNeil, Radiology 1982: the Mann-Whitney U statistic over n₁·n₀.
    """
    positive, negative = int(answerable.sum()), int((~answerable).sum())
    if not positive or not negative:
        return float("nan")
    _, inverse, counts = np.unique(confidence, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    mean_rank = (last - counts + 1 + last) / 2  # of each distinct value, ranks from 1
    ranks = mean_rank[inverse][answerable].sum()
    return float((ranks - positive * (positive + 1) / 2) / (positive * negative))


def selective_risks(confidence: Floats, wrong: Flags) -> Floats:
    """(n,) risk among the i most confident, i = 1 … n: the risk-coverage curve at coverage i/n.

    Cases of equal confidence are answered together or not at all, so within a tie each adds the tie's mean risk; the
    curve does not depend on the order of the input. Source: El-Yaniv & Wiener, JMLR 2010.
    """
    order = np.argsort(-confidence, kind="stable")
    _, start, counts = np.unique(-confidence[order], return_index=True, return_counts=True)
    total = np.add.reduceat(wrong[order].astype(np.float64), start) if len(order) else np.empty(0)
    spread = np.repeat(total / counts, counts)
    covered: Floats = np.arange(1, len(order) + 1, dtype=np.float64)
    return np.asarray(np.cumsum(spread) / covered, dtype=np.float64)


def aurc(confidence: Floats, wrong: Flags) -> float:
    """Area under the risk-coverage curve in [0, 1], lower is better: the mean of ``selective_risks``; NaN for none.

    Source: Geifman, Uziel & El-Yaniv, Bias-Reduced Uncertainty Estimation, ICLR 2019, eq. 2.
    """
    return float(selective_risks(confidence, wrong).mean()) if len(confidence) else float("nan")
