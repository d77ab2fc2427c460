"""Whether chance explains a difference of two runs, how small a one could be seen, and how many cases would show it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from evals.paired import LEVEL, Paired
from evals.resampled import DRAWS, Counts

POWER = 0.8
_EXACT = 13
"""Up to this many clusters every exchange of the runs is tried: 2¹³ of them are about as many as are drawn."""


def permutation_p(pair: Paired, *, seed: int = 0) -> float:
    """Two-sided p of the difference if the runs were exchangeable within each cluster: every exchange up to 2¹³ of them,
    else many random ones and the observed one. NaN where there is no difference to test.

    Source: Good, Permutation, Parametric and Bootstrap Tests of Hypotheses, 2005, sec. 3.7 (matched pairs); Phipson &
    Smyth, Permutation p-values should never be zero, 2010 (the observed one counts).
    """
    if math.isnan(pair.difference) or pair.clusters == 0:
        return math.nan
    swapped = _exchanges(pair.clusters, DRAWS if pair.figure.curve is None else DRAWS // 5, seed)
    first, second = pair.samples
    both = first.joined(second)
    stay = np.ones_like(swapped) - swapped
    found = both.under(np.hstack([swapped, stay])) - both.under(np.hstack([stay, swapped]))
    beyond = int((np.abs(found) >= abs(pair.difference) - 1e-12).sum() + np.isnan(found).sum())
    if pair.clusters <= _EXACT:
        return beyond / len(found)
    return (beyond + 1) / (len(found) + 1)


def detectable(standard_error: float) -> float | None:
    """The smallest true difference that a two-sided test at 5 % finds with chance 80 % at this spread; None without any.

    Source: Bloom, Minimum Detectable Effects, Evaluation Review 1995: (z₀.₉₇₅ + z₀.₈) standard errors.
    """
    if not standard_error > 0:
        return None
    return (_z((1 + LEVEL) / 2) + _z(POWER)) * standard_error


def cases_needed(n: int, standard_error: float, distance: float, tail: float) -> int | None:
    """How many such cases would put the bound at ``tail`` clear of what is now ``distance`` away, with chance 80 %; None
    where the distance is 0, so that no number would."""
    if not distance > 0 or not standard_error > 0:
        return None
    return max(n + 1, math.ceil(n * ((_z(1 - tail) + _z(POWER)) * standard_error / distance) ** 2))


def mcnemar(before: Sequence[bool], after: Sequence[bool]) -> tuple[int, int, float]:
    """Cases where only the first is true, where only the second is, and the exact two-sided p that neither is likelier.

    Source: McNemar, Psychometrika 1947, in its exact binomial form; 1 where the runs agree everywhere.
    """
    from scipy.stats import binomtest

    only_before = sum(one and not other for one, other in zip(before, after, strict=True))
    only_after = sum(other and not one for one, other in zip(before, after, strict=True))
    apart = only_before + only_after
    return only_before, only_after, float(binomtest(only_before, apart).pvalue) if apart else 1.0


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values adjusted for being many, in the order given; NaN stays NaN and is no test.

    Source: Holm, A Simple Sequentially Rejective Multiple Test Procedure, 1979.
    """
    tests = sorted((p, place) for place, p in enumerate(p_values) if not math.isnan(p))
    adjusted, running = list(p_values), 0.0
    for rank, (p, place) in enumerate(tests):
        running = max(running, min(1.0, (len(tests) - rank) * p))
        adjusted[place] = running
    return adjusted


def _exchanges(clusters: int, draws: int, seed: int) -> Counts:
    """(exchanges, clusters) 1 where a cluster's runs change places."""
    if clusters <= _EXACT:
        every = np.arange(2**clusters)
        return ((every[:, None] >> np.arange(clusters)) & 1).astype(np.uint16)
    return np.random.default_rng(seed).integers(0, 2, (draws, clusters), dtype=np.uint16)


def _z(chance: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(chance))
