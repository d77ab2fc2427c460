"""Seeded bootstrap intervals, clustered by source document."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 1000
LEVEL = 0.95
Statistic = Callable[[NDArray[np.int64]], float]
"""A figure of the cases at the given positions (with repeats); NaN where it has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A figure with its percentile interval. ``n`` cases entered, ``missing`` had no judgement and did not."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    missing: int = 0


def estimate(statistic: Statistic, clusters: Sequence[str], *, missing: int = 0, seed: int = 0) -> Estimate:
    """The statistic over all cases, with the interval of resampled clusters.

    ``clusters`` (n,) names each case's cluster; whole clusters are drawn with replacement, since questions on one
    document rise and fall together. No case: all None. One cluster: no interval, since nothing shows how clusters differ.
    A draw in which the statistic is NaN (only answerable cases, say) is left out of the interval.

    Source: Efron & Tibshirani, An Introduction to the Bootstrap, 1993, ch. 13 (percentile); Davison & Hinkley,
    Bootstrap Methods, 1997, sec. 3.8 (clusters).
    """
    n = len(clusters)
    if n == 0:
        return Estimate(value=None, low=None, high=None, n=0, missing=missing)
    value = statistic(np.arange(n))
    names, of = np.unique(np.asarray(clusters), return_inverse=True)
    if np.isnan(value) or len(names) == 1:
        known = None if np.isnan(value) else float(value)
        return Estimate(value=known, low=None, high=None, n=n, missing=missing)
    random = np.random.default_rng(seed)
    drawn = [statistic(np.repeat(np.arange(n), _times(random, len(names))[of])) for _ in range(RESAMPLES)]
    low, high = np.nanquantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(value=float(value), low=float(low), high=float(high), n=n, missing=missing)


def _times(random: np.random.Generator, clusters: int) -> NDArray[np.int64]:
    """How often each cluster is drawn when as many are drawn, with replacement, as there are."""
    return np.bincount(random.integers(0, clusters, clusters), minlength=clusters)


def mean(values: Sequence[float], clusters: Sequence[str], *, seed: int = 0) -> Estimate:
    """The mean of the values that are there; NaN ones are counted as missing."""
    array = np.asarray(values, dtype=np.float64)
    known = ~np.isnan(array)
    kept = [cluster for cluster, has in zip(clusters, known, strict=True) if has]
    judged = array[known]
    return estimate(lambda rows: float(judged[rows].mean()), kept, missing=int((~known).sum()), seed=seed)
