"""Figures of the order and the truth of confidence under many weightings of the cases at once.

Each takes confidence (n,), flags 0 or 1 (n,) and how often each case counts (draws, n), and gives (draws,): the figure of
the same name in ``metrics`` of the cases repeated as weighted, NaN where that has none.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evals.metrics.calibration import BINS
from evals.resampled import Counts, Curve, Floats


def auroc(confidence: Floats, answerable: Floats, weights: Counts) -> Floats:
    """``abstention.auroc``."""
    order, starts = _tied(confidence)
    counted = weights[:, order].astype(np.float64, copy=False)
    positive = np.add.reduceat(counted * answerable[order], starts, axis=1)
    negative = np.add.reduceat(counted * (1 - answerable[order]), starts, axis=1)
    below = np.cumsum(negative, axis=1) - negative
    with np.errstate(invalid="ignore", divide="ignore"):
        won = (positive * (below + negative / 2)).sum(axis=1)
        return np.asarray(won / (positive.sum(axis=1) * negative.sum(axis=1)), dtype=np.float64)


def aurc(confidence: Floats, wrong: Floats, weights: Counts) -> Floats:
    """``abstention.aurc``.

    Within a tie of m cases, t of them wrong, after M cases, T of them wrong, the risks add up to
    t + (T − M·t/m)·(H(M+m) − H(M)), with H the harmonic numbers: the sum of (T + j·t/m) / (M + j) over j = 1 … m.
    """
    order, starts = _tied(-confidence)
    counted = weights[:, order].astype(np.float64, copy=False)
    tied = np.add.reduceat(counted, starts, axis=1)
    mistakes = np.add.reduceat(counted * wrong[order], starts, axis=1)
    ahead, wrong_ahead = np.cumsum(tied, axis=1) - tied, np.cumsum(mistakes, axis=1) - mistakes
    most = int(tied.sum(axis=1).max(initial=0))
    harmonic = _harmonic(most)
    rate = mistakes / np.maximum(tied, 1)
    spread = harmonic[(ahead + tied).astype(np.int64)] - harmonic[ahead.astype(np.int64)]
    with np.errstate(invalid="ignore", divide="ignore"):
        area = (mistakes + (wrong_ahead - ahead * rate) * spread).sum(axis=1)
        return np.asarray(area / tied.sum(axis=1), dtype=np.float64)


def e_aurc(confidence: Floats, wrong: Floats, weights: Counts) -> Floats:
    """``abstention.e_aurc``. The best order of n cases, w of them wrong, has the area (w − (n − w)·(H(n) − H(n−w))) / n:
    the mean of max(0, i − (n − w)) / i over i = 1 … n."""
    counted = weights.astype(np.float64, copy=False)
    cases, mistakes = counted.sum(axis=1).astype(np.int64), (counted @ wrong).round().astype(np.int64)
    right = cases - mistakes
    harmonic = _harmonic(int(cases.max(initial=0)))
    with np.errstate(invalid="ignore", divide="ignore"):
        best = (mistakes - right * (harmonic[cases] - harmonic[right])) / cases
    return np.asarray(np.maximum(0.0, aurc(confidence, wrong, weights) - best), dtype=np.float64)


def coverage_at_risk(risk: float) -> Curve:
    """``abstention.coverage_at_risk`` at that risk."""

    def largest(confidence: Floats, wrong: Floats, weights: Counts) -> Floats:
        coverage, risks = _risk_coverage(confidence, wrong, weights)
        kept = np.where(risks <= risk, coverage, 0.0)
        best = kept.max(axis=1, initial=0.0)
        return np.where(weights.any(axis=1), best, np.nan)

    return largest


def risk_at_coverage(coverage: float) -> Curve:
    """``abstention.risk_at_coverage`` at that coverage."""

    def strictest(confidence: Floats, wrong: Floats, weights: Counts) -> Floats:
        covered, risks = _risk_coverage(confidence, wrong, weights)
        wide = covered >= coverage - 1e-12
        found = np.full(len(weights), np.nan)
        has = np.flatnonzero(wide.any(axis=1))
        found[has] = risks[has, wide[has].argmax(axis=1)] if len(has) else np.nan
        return found

    return strictest


def calibration_error(probability: Floats, happened: Floats, weights: Counts) -> Floats:
    """``calibration.calibration_error`` in bins of equal mass."""
    order, starts = _tied(probability)
    if not len(order):
        return np.full(len(weights), np.nan)
    counted = weights[:, order].astype(np.float64, copy=False)
    tied = np.add.reduceat(counted, starts, axis=1)
    gaps = np.add.reduceat(counted * (happened - probability)[order], starts, axis=1)
    total = tied.sum(axis=1)
    middle = np.cumsum(tied, axis=1) - (tied + 1) / 2  # as ranks from 0
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(tied > 0, middle * BINS / total[:, None], 0.0)
        place = np.floor(share).astype(np.int64) + BINS * np.arange(len(weights))[:, None]
        sums = np.bincount(place.ravel(), weights=gaps.ravel(), minlength=BINS * len(weights))
        return np.asarray(np.abs(sums.reshape(-1, BINS)).sum(axis=1) / total, dtype=np.float64)


def _risk_coverage(confidence: Floats, wrong: Floats, weights: Counts) -> tuple[Floats, Floats]:
    """(draws, cuts) share answered from each cut up, strictest first, and the share of it that is wrong."""
    order, starts = _tied(-confidence)
    order, starts = _found(order, starts, confidence)
    counted = weights[:, order].astype(np.float64, copy=False)
    if not len(order):
        return np.empty((len(weights), 0)), np.empty((len(weights), 0))
    answered = np.cumsum(np.add.reduceat(counted, starts, axis=1), axis=1)
    mistakes = np.cumsum(np.add.reduceat(counted * wrong[order], starts, axis=1), axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return answered / weights.sum(axis=1)[:, None], mistakes / answered


def _found(
    order: NDArray[np.intp], starts: NDArray[np.intp], confidence: Floats
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Without what found nothing (−∞), which no cut answers."""
    count = int(np.isfinite(confidence).sum())
    return order[:count], starts[starts < count]


def _harmonic(last: int) -> Floats:
    return np.concatenate([[0.0], np.cumsum(1 / np.arange(1, last + 1))])


def _tied(values: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The ascending order of the values, and where in it each distinct one starts."""
    order = np.argsort(values, kind="stable")
    _, starts = np.unique(values[order], return_index=True)
    return order, starts
