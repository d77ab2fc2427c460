"""Figures of several settings on resampled documents, the same ones for all: what a difference may be off by."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evals import resampled_curves
from evals.figures import COVERAGE, RISK
from evals.paired import LEVEL, lower, upper
from evals.replayed import Replayed
from evals.resampled import Curve, drawn
from evals.tuning import additive
from evals.tuning.objective import Objective
from evals.tuning.problem import clusters_of

Floats = NDArray[np.float64]
DRAWS = 1000
CURVES: Mapping[str, Curve] = {
    "auroc": resampled_curves.auroc,
    "aurc": resampled_curves.aurc,
    "e_aurc": resampled_curves.e_aurc,
    f"coverage@risk{RISK}": resampled_curves.coverage_at_risk(RISK),
    f"risk@coverage{COVERAGE}": resampled_curves.risk_at_coverage(COVERAGE),
}
"""Figures of the order of confidence, under weights."""
Interval = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A figure before and after, with the interval of each and of the difference; None for no value or no interval."""

    name: str
    before: float | None
    after: float | None
    before_interval: Interval | None
    after_interval: Interval | None
    difference_interval: Interval | None

    @property
    def difference(self) -> float | None:
        """after − before."""
        return None if self.before is None or self.after is None else self.after - self.before


def weights_of(clusters: int, seed: int) -> Floats:
    """(1 + DRAWS, clusters) how often each document counts: once in the first row, then as it is drawn."""
    counts = np.asarray(drawn(clusters, seed)[:DRAWS], dtype=np.float64)
    return np.vstack([np.ones((1, clusters)), counts])


def under(figure: str, replayed: Replayed, weights: Floats) -> Floats:
    """(P, draws) a figure under weights by document, NaN where no case of it is left."""
    codes, clusters = clusters_of(replayed.cases)
    if figure in additive.ADDITIVE:
        return additive.sums(figure, replayed, codes, clusters).under(weights)
    return np.stack(
        [_curve(figure, replayed, place, weights[:, codes]) for place in range(len(replayed.profiles))]
    )


def weighed(objective: Objective, parts: Mapping[str, Floats]) -> Floats:
    """The objective out of its figures, whatever their shape."""
    return np.asarray(np.sum([weight * parts[name] for name, weight in objective.weights.items()], axis=0))


def compared(objectives: Sequence[Objective], replayed: Replayed, *, seed: int = 0) -> list[Compared]:
    """Each objective of two settings, before and after, on the same documents.

    Source: Efron & Tibshirani, An Introduction to the Bootstrap, 1993, ch. 8 (paired); sec. 13 (percentile).
    """
    if not replayed.cases:
        return []
    clusters = clusters_of(replayed.cases)[1]
    weights = weights_of(clusters, seed)
    figures = {name: under(name, replayed, weights) for one in objectives for name in one.weights}
    points = replayed.figures()
    return [
        _compared(one, weighed(one, figures), one.of({name: points[name] for name in one.weights}), clusters)
        for one in objectives
    ]


def interval(draws: Floats, clusters: int) -> Interval | None:
    """Two-sided at 95 %; None where there are no draws, or one cluster shows nothing of how they differ."""
    if clusters < 2 or np.isnan(draws).all():
        return None
    tail = (1 - LEVEL) / 2
    low, high = lower(draws, tail, clusters), upper(draws, tail, clusters)
    return (low + 0.0, high + 0.0) if math.isfinite(low) and math.isfinite(high) else None  # no −0


def _compared(objective: Objective, draws: Floats, values: Floats, clusters: int) -> Compared:
    sign = -1.0 if objective.minimised else 1.0
    before, after = sign * draws[0, 1:], sign * draws[1, 1:]
    points = [None if math.isnan(value) else sign * float(value) for value in values]
    return Compared(
        name=objective.text, before=points[0], after=points[1],
        before_interval=interval(before, clusters), after_interval=interval(after, clusters),
        difference_interval=interval(after - before, clusters),
    )  # fmt: skip


def _curve(figure: str, replayed: Replayed, place: int, weights: Floats) -> Floats:
    confidence = replayed.confidence[place].astype(np.float64)
    confidence = np.where(np.isnan(confidence), -np.inf, confidence)
    if figure == "auroc":
        known, flags = ~np.isnan(replayed.answerable), replayed.answerable
    else:
        known, flags = replayed.judgeable, (~replayed.would_be_right[place]).astype(np.float64)
    return np.asarray(CURVES[figure](confidence[known], flags[known], weights[:, known]), dtype=np.float64)
