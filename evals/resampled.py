"""One figure under many weightings of its clusters at once: what every bootstrap and permutation here is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.uint16] | NDArray[np.float64]
"""(draws, clusters): how often each cluster counts, a whole number; floats where there are few, as sums need them."""
Curve = Callable[[Floats, Floats, Counts], Floats]
"""A figure of confidence (n,), flags 0 or 1 (n,) and how often each case counts (draws, n): (draws,), NaN for none."""

DRAWS = 10_000
BLOCK = 4_000_000
"""Weights held as floats at a time, and kept as such."""


class Sample(Protocol):
    """The cases of one run that have a figure."""

    def under(self, weights: Counts) -> Floats:
        """(draws,) the figure where cluster c counts ``weights[:, c]`` times; NaN where no case is left."""

    def joined(self, other: Self) -> Self:
        """Both, the other's clusters after these."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RatioSample:
    """Sums by cluster, which is all that a mean of ratios needs: ``above`` and ``below`` the line, (parts, clusters)
    each. A plain mean is one part, with cases counted below the line; ``geometric``: the mean of the parts is."""

    above: Floats
    below: Floats
    geometric: bool = False

    @classmethod
    def of(
        cls,
        above: Floats,
        below: Floats,
        codes: NDArray[np.int64],
        clusters: int,
        *,
        geometric: bool = False,
    ) -> RatioSample:
        """Of what each case adds, (parts, n) each, and the cluster ``codes`` (n,)."""
        summed = [
            [np.bincount(codes, weights=part, minlength=clusters) for part in side] for side in (above, below)
        ]
        return cls(
            above=np.asarray(summed[0], dtype=np.float64),
            below=np.asarray(summed[1], dtype=np.float64),
            geometric=geometric,
        )

    def under(self, weights: Counts) -> Floats:
        """See ``Sample``."""
        return _ratios(weights, self)[0]

    def joined(self, other: RatioSample) -> RatioSample:
        """Both, the other's clusters after these."""
        return RatioSample(
            above=np.hstack([self.above, other.above]),
            below=np.hstack([self.below, other.below]),
            geometric=self.geometric,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CurveSample:
    """Confidence, flag and cluster of each case, (n,) each: a figure of their order has no sums."""

    confidence: Floats
    flags: Floats
    codes: NDArray[np.int64]
    clusters: int
    curve: Curve

    def under(self, weights: Counts) -> Floats:
        """See ``Sample``."""
        values = np.empty(len(weights))
        step = max(1, BLOCK // max(1, len(self.codes)))
        for start in range(0, len(weights), step):
            block = weights[start : start + step][:, self.codes]
            values[start : start + step] = self.curve(self.confidence, self.flags, block)
        return values

    def joined(self, other: CurveSample) -> CurveSample:
        """Both, the other's clusters after these."""
        return CurveSample(
            confidence=np.concatenate([self.confidence, other.confidence]),
            flags=np.concatenate([self.flags, other.flags]),
            codes=np.concatenate([self.codes, other.codes + self.clusters]),
            clusters=self.clusters + other.clusters,
            curve=self.curve,
        )


def under_both(first: Sample, second: Sample, weights: Counts) -> tuple[Floats, Floats]:
    """Two runs under the same weights, (draws,) each."""
    if isinstance(first, RatioSample) and isinstance(second, RatioSample):
        before, after = _ratios(weights, first, second)  # the weights are read once: twice as fast
        return before, after
    return first.under(weights), second.under(weights)


@lru_cache(maxsize=4)
def drawn(clusters: int, seed: int) -> Counts:
    """(``DRAWS``, clusters) how often each is drawn when as many are drawn, with replacement, as there are.

    Equal for equal arguments; not to be written to. Source: Efron & Tibshirani, An Introduction to the Bootstrap, 1993,
    sec. 6.2 (resampling vectors).
    """
    random = np.random.default_rng(seed)
    shape = (DRAWS, clusters)
    counts: Counts = np.empty(shape) if DRAWS * clusters <= BLOCK else np.empty(shape, dtype=np.uint16)
    step = max(1, BLOCK // max(1, clusters))
    for start in range(0, DRAWS, step):
        rows = min(step, DRAWS - start)
        places = random.integers(0, clusters, (rows, clusters)) + np.arange(rows)[:, None] * clusters
        counts[start : start + rows] = np.bincount(places.ravel(), minlength=rows * clusters).reshape(
            rows, -1
        )
    counts.flags.writeable = False
    return counts


def _ratios(weights: Counts, *samples: RatioSample) -> list[Floats]:
    """(draws,) for each sample: the mean of its weighted ratios (two, where it is geometric), NaN where one has nothing
    below the line."""
    columns = np.vstack([side for sample in samples for side in (sample.above, sample.below)]).T
    weighted = np.empty((len(weights), columns.shape[1]))
    step = max(1, BLOCK // max(1, weights.shape[1]))
    for start in range(0, len(weights), step):
        block = weights[start : start + step].astype(np.float64, copy=False)
        weighted[start : start + step] = block @ columns
    parts = np.split(weighted, 2 * len(samples), axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = [above / below for above, below in zip(parts[::2], parts[1::2], strict=True)]
    return [
        np.sqrt(each.prod(axis=1)) if sample.geometric else each.mean(axis=1)
        for each, sample in zip(shares, samples, strict=True)
    ]
