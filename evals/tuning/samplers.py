"""Settings chosen without looking at any figure: a grid, random ones, and ones that fill the space evenly."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Literal

import numpy as np

from core.errors import UsageError
from core.profile import Value
from evals.tuning.space import Axis, distinct, unit_to_points

Static = Literal["grid", "random", "lhs", "sobol"]
STATIC: tuple[Static, ...] = ("grid", "random", "lhs", "sobol")


def sampled(search: Static, axes: Sequence[Axis], trials: int, *, seed: int = 0) -> list[dict[str, Value]]:
    """At most ``trials`` distinct settings; fewer where the axes have fewer. Equal for equal arguments.

    Source: McKay, Beckman & Conover, Technometrics 1979 (``lhs``); Owen, Scrambling Sobol' and Niederreiter-Xing
    Points, 1998 (``sobol``: the first points of a power of two).

    Raises:
        UsageError: a grid of listed values alone is larger than ``trials``.
    """
    if search == "grid":
        return grid(axes, trials)
    if search == "random":
        return unit_to_points(axes, np.random.default_rng(seed).random((trials, len(axes))))
    from scipy.stats import qmc

    if search == "lhs":
        return unit_to_points(axes, qmc.LatinHypercube(len(axes), rng=seed).random(trials))
    power = max(0, (trials - 1).bit_length())
    return unit_to_points(axes, qmc.Sobol(len(axes), rng=seed).random_base2(power)[:trials])


def grid(axes: Sequence[Axis], trials: int) -> list[dict[str, Value]]:
    """Every combination of the listed values and of as many equally spaced ones of the ranges as ``trials`` allow.

    Raises:
        UsageError: even two values for each range are too many.
    """
    listed = prod(len(axis.values) for axis in axes if axis.values)
    ranges = sum(not axis.values for axis in axes)
    steps = 2
    while ranges and _size(axes, steps + 1) <= trials and steps < trials:
        steps += 1
    size = _size(axes, steps)
    if size > trials:
        raise UsageError(
            f"a grid over {', '.join(axis.name for axis in axes)} has at least {size} settings, more than --trials "
            f"{trials}: vary fewer thresholds, list fewer values, raise --trials, or take --search sobol"
            + (f" ({listed} of listed values)" if listed > trials else "")
        )
    combinations = product(*(axis.spread(steps) for axis in axes))
    return distinct([dict(zip([axis.name for axis in axes], values, strict=True)) for values in combinations])


def _size(axes: Sequence[Axis], steps: int) -> int:
    return prod(len(axis.spread(steps)) for axis in axes)
