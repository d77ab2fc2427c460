"""How far a run's own figure may be off: the bounds that limits such as ``max = 0.1`` are held by."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evals.aggregates import Figure, Row
from evals.paired import lower, sample, upper
from evals.resampled import drawn
from evals.significance import cases_needed


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """A figure with its one-sided bounds, infinite where nothing bounds it; NaN where no case has it."""

    value: float
    low: float
    high: float
    standard_error: float
    n: int
    clusters: int
    span: tuple[float, float]

    def needed(self, limit: float, tail: float) -> int | None:
        """How many such cases would likely put the bound clear of ``limit``; None where no number would."""
        distance = abs(self.value - limit)
        if self.standard_error > 0 or not 0 < distance < 1:
            return cases_needed(self.n, self.standard_error, distance, tail)
        room = self.span[1] - self.value if limit > self.value else self.value - self.span[0]
        agreeing = math.log(tail) / math.log1p(-min(distance / room, 1 - 1e-9))
        return max(self.n + 1, math.ceil(agreeing * self.n / self.clusters))


def bounds(figure: Figure, rows: Sequence[Row], tails: tuple[float, float], *, seed: int = 0) -> Bounds:
    """The figure of one run; it lies above ``high`` with chance ``tails[0]`` and below ``low`` with chance ``tails[1]``.

    By the clustered bootstrap, but where the cases are zeros and ones, by the exact binomial on as many cases as the
    clustered ones are worth: a bootstrap of a rare event never sees more of it than was there, and of none, none.

    Source: Korn & Graubard, Confidence Intervals for Proportions with Small Expected Number of Positive Counts,
    Survey Methodology 1998.
    """
    values = figure.values(rows)
    places = np.flatnonzero(~np.isnan(values)).tolist()
    kept = values[places]
    names = np.asarray([rows[place]["cluster"] for place in places], dtype=object)
    clusters, codes = np.unique(names, return_inverse=True)
    taken = sample(figure, kept, [rows[place] for place in places], codes, len(clusters))
    value = float(taken.under(np.ones((1, len(clusters)), dtype=np.uint16))[0])
    draws = taken.under(drawn(len(clusters), seed)) if len(clusters) > 1 else np.empty(0)
    spread = float(np.nanstd(draws)) if len(draws) and not np.isnan(draws).all() else math.nan
    if math.isnan(value):
        low, high = -math.inf, math.inf
    elif not spread > 0:
        low, high = _without_spread(value, figure.span, len(clusters), tails)
    elif figure.is_mean and np.isin(kept, (0.0, 1.0)).all():
        low, high = _binomial(value, spread, len(kept), tails)
    else:
        low, high = lower(draws, tails[1], len(clusters)), upper(draws, tails[0], len(clusters))
    return Bounds(
        value=value,
        low=low,
        high=high,
        standard_error=spread,
        n=len(kept),
        clusters=len(clusters),
        span=figure.span,
    )


def _without_spread(
    value: float, span: tuple[float, float], clusters: int, tails: tuple[float, float]
) -> tuple[float, float]:
    """All clusters agree. Of those that would not there is, at ``tail``, at most the share 1 − tail^(1/clusters), and
    there it can be no farther off than an end of its span (the exact binomial of none seen, "rule of three")."""
    first, last = span
    if not first <= value <= last:
        return -math.inf, math.inf
    above, below = (1 - tail ** (1 / clusters) for tail in tails)
    return value - (value - first) * below, value + (last - value) * above


def _binomial(value: float, spread: float, n: int, tails: tuple[float, float]) -> tuple[float, float]:
    from scipy.special import betaincinv

    worth = min(n, value * (1 - value) / spread**2)
    seen = value * worth
    low = float(betaincinv(seen, worth - seen + 1, tails[1]))
    return low, float(betaincinv(seen + 1, worth - seen, 1 - tails[0]))
