"""Two runs on the same cases: the difference of one figure, and how far it may be off."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evals.aggregates import Figure, Row
from evals.metrics.abstention import ordered_confidence
from evals.resampled import CurveSample, Floats, RatioSample, Sample, drawn, under_both

LEVEL = 0.95


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Paired:
    """A figure in two runs. ``n`` cases count in either, from ``clusters`` documents; ``unpaired`` have it in one run
    only, with no abstention to explain that, and count in neither.

    ``unchanged``: every case adds the same in both. ``draws`` (DRAWS,) are the bootstrapped differences, after − before;
    empty where there is one cluster or none.
    """

    figure: Figure
    before: float
    after: float
    n: int
    clusters: int
    unchanged: bool
    unpaired: tuple[int, ...]
    draws: Floats
    samples: tuple[Sample, Sample]

    @property
    def difference(self) -> float:
        """after − before; NaN where either run has none."""
        return self.after - self.before

    @property
    def standard_error(self) -> float:
        """Spread (standard deviation) of the bootstrapped differences; NaN where there are none."""
        kept = self.draws[~np.isnan(self.draws)]
        return float(kept.std()) if len(kept) else math.nan

    @property
    def interval(self) -> tuple[float, float] | None:
        """Two-sided, at ``LEVEL``; None where nothing shows how clusters differ."""
        tail = (1 - LEVEL) / 2
        low, high = lower(self.draws, tail, self.clusters), upper(self.draws, tail, self.clusters)
        return (low, high) if math.isfinite(low) and math.isfinite(high) else None


def pair(figure: Figure, before: Sequence[Row], after: Sequence[Row], *, seed: int = 0) -> Paired:
    """The figure in two runs of the same cases, row beside row. Whole clusters (the second run's) are drawn, the same
    ones in both.

    Source: Efron & Tibshirani, An Introduction to the Bootstrap, 1993, ch. 8 (paired resampling).
    """
    values = figure.values(before), figure.values(after)
    unpaired = _unpaired(figure, values, (before, after))
    counted = ~(np.isnan(values[0]) & np.isnan(values[1]))
    counted[list(unpaired)] = False
    places = np.flatnonzero(counted).tolist()
    names = np.asarray([after[place]["cluster"] for place in places], dtype=object)
    clusters, codes = np.unique(names, return_inverse=True)
    count = len(clusters)
    first, second = (
        sample(figure, side[places], [rows[place] for place in places], codes, count)
        for side, rows in zip(values, (before, after), strict=True)
    )
    old, new = under_both(first, second, np.ones((1, count)))
    draws = np.empty(0)
    if count > 1:
        drawn_old, drawn_new = under_both(first, second, drawn(count, seed))
        draws = drawn_new - drawn_old
    return Paired(
        figure=figure, before=float(old[0]), after=float(new[0]), n=len(places),
        clusters=count, unpaired=unpaired, draws=draws, samples=(first, second),
        unchanged=all(_adds(figure, before[place]) == _adds(figure, after[place]) for place in places),
    )  # fmt: skip


def lower(draws: Floats, tail: float, clusters: int) -> float:
    """The bound that draws lie below with chance ``tail``; −inf where too many have no value, or there are none.

    The tail is narrowed for few clusters, which are less spread than what they stand for: to that of √(m/(m−1)) times
    Student's quantile. Source: Hesterberg, What Teachers Should Know About the Bootstrap, The American Statistician
    2015, sec. 5.3 (expanded percentile).
    """
    if not len(draws):
        return -math.inf
    ranked = np.sort(np.where(np.isnan(draws), -math.inf, draws))
    place = _narrowed(tail, clusters) * (len(ranked) - 1)
    below, part = int(place), place - int(place)
    if not np.isfinite(ranked[below]):
        return -math.inf
    return float(ranked[below] + part * (ranked[min(below + 1, len(ranked) - 1)] - ranked[below]))


def upper(draws: Floats, tail: float, clusters: int) -> float:
    """As ``lower``, at the other end."""
    return -lower(-draws, tail, clusters)


def sample(
    figure: Figure, values: Floats, rows: Sequence[Row], codes: NDArray[np.int64], clusters: int
) -> Sample:
    """One run's cases as the figure takes them; ``values``, ``rows`` and cluster ``codes`` (n,) side by side."""
    known = ~np.isnan(values)
    counted = [row for row, has in zip(rows, known, strict=True) if has]
    if figure.curve is None:
        return RatioSample.of(*figure.parts(counted), codes[known], clusters, geometric=figure.geometric)
    confidence = [row["confidence"] for row in counted]
    return CurveSample(
        confidence=ordered_confidence(confidence), flags=values[known], codes=codes[known], clusters=clusters,
        curve=figure.curve,
    )  # fmt: skip


def _unpaired(
    figure: Figure, values: tuple[Floats, Floats], runs: tuple[Sequence[Row], Sequence[Row]]
) -> tuple[int, ...]:
    """Places where one run has the figure, the other has not, and no abstention says why."""
    lacking = [np.isnan(side) for side in values]
    apart = np.flatnonzero(lacking[0] != lacking[1]).tolist()
    without = {place: runs[0 if lacking[0][place] else 1][place] for place in apart}
    return tuple(place for place, row in without.items() if not (figure.needs_answer and row["abstained"]))


def _adds(figure: Figure, row: Row) -> tuple[float | None, float | None]:
    """All of a row that a figure takes, with None for NaN, so that it equals itself."""
    value = figure.of(row)
    return None if math.isnan(value) else value, row["confidence"] if figure.curve else None


def _narrowed(tail: float, clusters: int) -> float:
    from scipy.special import ndtr, stdtrit

    freedom = clusters - 1
    return float(ndtr(math.sqrt(clusters / freedom) * stdtrit(freedom, tail)))
