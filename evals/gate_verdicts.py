"""One rule of the gate on the cases of two runs: does a bound clear its limit, lie beyond it, or neither?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from core.errors import DataError
from evals import absolute
from evals.aggregates import Figure, Row, figure_named
from evals.gate_rules import FAILURES, Check
from evals.paired import Paired, lower, pair, upper
from evals.significance import cases_needed

Status = Literal["pass", "regression", "not enough evidence"]
_CLEAR = 1e-9
"""Bounds of means of a few hundred zeros and ones often fall on the margin itself, give or take rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What became of one rule. ``low`` and ``high`` are one-sided bounds of the difference to the baseline (of the run's
    own figure for ``max`` and ``min``), None where there are none; ``needed`` cases would likely settle what is open."""

    check: Check
    status: Status
    reason: str
    baseline: float | None = None
    run: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    needed: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """What every rule is judged on: the rows both runs have, side by side, and how many cases of the second broke.
    ``tails`` are the chances that a bound is wrong, for a pass and for a regression."""

    before: Sequence[Row]
    after: Sequence[Row]
    failed: int
    figures: Mapping[str, Figure]
    tails: tuple[float, float]
    seed: int


def verdict(check: Check, sides: Sides, source: str) -> Verdict:
    """What becomes of one rule.

    Raises:
        DataError: a case has the figure in one run only, or none has it. UsageError: there is no such figure.
    """
    if check.figure == FAILURES:
        return _failures(check, sides.failed)
    paired = pair(figure_named(check.figure, sides.figures), sides.before, sides.after, seed=sides.seed)
    if paired.unpaired:
        case = sides.after[paired.unpaired[0]]["case_id"]
        raise DataError(
            f"{source}: {len(paired.unpaired)} cases have {check.figure} in one run only, the first is {case!r}: a "
            "missing figure is no zero; find out why it is missing, or update the baseline"
        )
    if paired.n == 0 and not sides.failed:
        raise DataError(f"{source}: no case has {check.figure}; take the rule out")
    return _of_difference(check, paired, sides.tails) if check.paired else _of_run(check, paired, sides)


def _failures(check: Check, failed: int) -> Verdict:
    over = failed > check.limit
    return Verdict(
        check=check,
        status="regression" if over else "pass",
        reason=f"{failed} cases failed, {check.limit:g} may",
        run=float(failed),
        n=failed,
    )


def _of_difference(check: Check, paired: Paired, tails: tuple[float, float]) -> Verdict:
    """``gain`` is the difference where up is good, its negative where a rise is limited."""
    sign = 1.0 if check.kind == "max_drop" else -1.0
    gains = sign * paired.draws
    worst = lower(gains, tails[0], paired.clusters)
    best = upper(gains, tails[1], paired.clusters)
    never_worse = paired.unchanged or (len(gains) > 0 and bool((gains >= -_CLEAR).all()))
    status: Status = "not enough evidence"
    if paired.n and (worst > -check.limit + _CLEAR or never_worse):
        status = "pass"
    elif best < -check.limit - _CLEAR:
        status = "regression"
    if paired.unchanged and paired.n:
        worst = best = 0.0
    low, high = (worst, best) if sign > 0 else (-best, -worst)
    needed = None
    if status == "not enough evidence":
        distance = abs(sign * paired.difference + check.limit)
        needed = cases_needed(paired.n, paired.standard_error, distance, tails[0])
    return Verdict(
        check=check, status=status, reason=_why(status, paired.n, paired.clusters, needed, unchanged=paired.unchanged),
        baseline=_known(paired.before), run=_known(paired.after), low=_known(low), high=_known(high), n=paired.n,
        needed=needed,
    )  # fmt: skip


def _of_run(check: Check, paired: Paired, sides: Sides) -> Verdict:
    tails = sides.tails if check.kind == "max" else sides.tails[::-1]
    bounds = absolute.bounds(paired.figure, sides.after, tails, seed=sides.seed)
    sign = 1.0 if check.kind == "max" else -1.0
    worst, best = (bounds.high, bounds.low) if check.kind == "max" else (bounds.low, bounds.high)
    if check.point:
        worst = best = bounds.value
    status: Status = "not enough evidence"
    if sign * worst <= sign * check.limit + _CLEAR:
        status = "pass"
    elif sign * best > sign * check.limit + _CLEAR:
        status = "regression"
    needed = None
    if status == "not enough evidence":
        needed = bounds.needed(check.limit, sides.tails[0])
    return Verdict(
        check=check, status=status, reason=_why(status, bounds.n, bounds.clusters, needed),
        baseline=_known(paired.before), run=_known(bounds.value), low=_known(bounds.low), high=_known(bounds.high),
        n=bounds.n, needed=needed,
    )  # fmt: skip


def _why(status: Status, n: int, clusters: int, needed: int | None, *, unchanged: bool = False) -> str:
    if unchanged and n:
        return f"the same for each of {n} cases"
    if status == "pass":
        return "the bound clears the limit"
    if status == "regression":
        return "even the better bound is beyond the limit"
    if n == 0:
        return "no case is left to judge"
    if clusters < 2:
        return f"all {n} cases are about one document: nothing shows how others would do"
    more = f"; about {needed} cases would settle it" if needed else ""
    return f"not distinguishable from the limit (n = {n}){more}"


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
