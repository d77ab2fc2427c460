"""Seeded bootstrap intervals, clustered by source document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
RESAMPLES = 1000
LEVEL = 0.95
KEPT = 2000
"""Clusters up to which the resamples are kept: 16 MB."""
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
        return _alone(value, n, missing)
    drawn = [statistic(np.repeat(np.arange(n), times[of])) for times in _draws(len(names), seed)]
    return _with_interval(value, np.array(drawn), n, missing)


def mean(values: Sequence[float], clusters: Sequence[str], *, seed: int = 0) -> Estimate:
    """The mean of the values that are there; NaN ones are counted as missing. As ``estimate``, from each cluster's sum
    and number of cases."""
    array = np.asarray(values, dtype=np.float64)
    known = ~np.isnan(array)
    judged, missing = array[known], int((~known).sum())
    names, of = np.unique(np.asarray(clusters)[known], return_inverse=True)
    if not len(judged):
        return Estimate(value=None, low=None, high=None, n=0, missing=missing)
    if len(names) == 1:
        return _alone(float(judged.mean()), len(judged), missing)
    parts = np.column_stack([np.bincount(of, weights=judged), np.bincount(of)])
    sums = np.array([times @ parts for times in _draws(len(names), seed)])
    return _with_interval(float(judged.mean()), sums[:, 0] / sums[:, 1], len(judged), missing)


def _alone(value: float, n: int, missing: int) -> Estimate:
    known = None if np.isnan(value) else float(value)
    return Estimate(value=known, low=None, high=None, n=n, missing=missing)


def _with_interval(value: float, drawn: NDArray[np.float64], n: int, missing: int) -> Estimate:
    low, high = np.nanquantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(value=float(value), low=float(low), high=float(high), n=n, missing=missing)


def _draws(clusters: int, seed: int) -> Iterable[Counts]:
    """For each resample (clusters,) how often each cluster is drawn when as many are drawn, with replacement, as there
    are. The same for every figure of a run; kept unless they are many."""
    return _kept(clusters, seed) if clusters <= KEPT else _drawn(clusters, seed)


@lru_cache(maxsize=4)
def _kept(clusters: int, seed: int) -> tuple[Counts, ...]:
    return tuple(_drawn(clusters, seed))


def _drawn(clusters: int, seed: int) -> Iterator[Counts]:
    random = np.random.default_rng(seed)
    for _ in range(RESAMPLES):
        yield np.bincount(random.integers(0, clusters, clusters), minlength=clusters)
