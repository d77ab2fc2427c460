"""Abstention by confidence: how well it separates what can be answered from what cannot, and what a cut on it costs.

What was decided at the cut a profile has is ``decision``'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskCoverage:
    """What each possible cut comes to, strictest first; all (cuts,), empty where nothing has a confidence.

    Answering from ``cut`` up answers the share ``coverage`` in (0, 1] of all cases, of which the share ``risk`` in
    [0, 1] is wrong.
    """

    cut: Floats
    coverage: Floats
    risk: Floats


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


def e_aurc(confidence: Floats, wrong: Flags) -> float:
    """AURC above that of the best order of the same cases (all right ones before all wrong ones), ≥ 0; NaN for none.

    Source: Geifman, Uziel & El-Yaniv, ICLR 2019, sec. 3, with the optimum of the n cases themselves where the paper
    has its limit r + (1 − r) ln(1 − r).
    """
    if not len(confidence):
        return float("nan")
    answered = np.arange(1, len(wrong) + 1)
    best = np.maximum(0, answered - int((~wrong).sum())) / answered
    return max(0.0, aurc(confidence, wrong) - float(best.mean()))


def risk_coverage(confidence: Floats, wrong: Flags) -> RiskCoverage:
    """The curve at the cuts that exist: equal confidence is answered together, and what found nothing (−∞) never is,
    though it counts among all cases. Source: El-Yaniv & Wiener, JMLR 2010, sec. 2."""
    found = np.isfinite(confidence)
    values, inverse, counts = np.unique(-confidence[found], return_inverse=True, return_counts=True)
    mistakes = np.cumsum(np.bincount(inverse, weights=wrong[found], minlength=len(values)))
    answered = np.cumsum(counts)
    return RiskCoverage(cut=-values, coverage=answered / max(1, len(confidence)), risk=mistakes / answered)


def coverage_at_risk(confidence: Floats, wrong: Flags, risk: float) -> float:
    """The largest share that a cut can answer with at most ``risk`` of it wrong; 0 where no cut keeps to it, NaN for
    no cases. Source: Geifman & El-Yaniv, Selective Classification for Deep Neural Networks, NeurIPS 2017."""
    if not len(confidence):
        return float("nan")
    curve = risk_coverage(confidence, wrong)
    return float(curve.coverage[curve.risk <= risk].max(initial=0.0))


def risk_at_coverage(confidence: Floats, wrong: Flags, coverage: float) -> float:
    """The risk of the strictest cut that answers at least the share ``coverage``; NaN where none does, as where too
    many found nothing. Source: El-Yaniv & Wiener, JMLR 2010, sec. 2."""
    curve = risk_coverage(confidence, wrong)
    wide = curve.coverage >= coverage - 1e-12  # 0.7 of ten cases is seven of them, whatever the rounding
    return float(curve.risk[wide][0]) if wide.any() else float("nan")
