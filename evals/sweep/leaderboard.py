"""The leaderboard of a sweep: arms by the objective, with intervals, in groups that chance does not tell apart."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evals.aggregates import figures_of
from evals.paired import Paired, pair
from evals.scoring import summarised
from evals.stats import Estimate
from evals.sweep.sweep import Result
from evals.tuning.objective import Objective

LEVEL = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """An arm with its figure, and the ``group`` it stands in, from 1: arms of a group are not distinguishable from the
    group's first. ``difference`` to the best arm of all with its interval; None for that arm itself."""

    result: Result
    figure: Estimate
    group: int
    difference: float | None
    interval: tuple[float, float] | None
    n: int


def ranked(results: Sequence[Result], objective: Objective, *, seed: int = 0) -> list[Place]:
    """The arms that have the figure, the best first.

    The paired difference to a group's first is tested by permutation at 0.05 over all arms but one: where it could be
    chance the arm joins the group, else it begins the next. Source: Dunn, Multiple Comparisons Among Means, JASA 1961
    (Bonferroni's bound), with the test of ``significance.permutation_p``.
    """
    (name,) = objective.weights
    told = [(result, summarised(result.rows, seed=seed).get(name)) for result in results if result.rows]
    known = [(result, figure) for result, figure in told if figure is not None and figure.value is not None]
    sign = -1.0 if objective.minimised else 1.0
    known.sort(key=lambda one: -sign * (one[1].value or 0.0))
    places: list[Place] = []
    group, first = 0, None
    for result, figure in known:
        if first is None or _apart(name, first, result, len(known), seed):
            group, first = group + 1, result
        to_best = None if not places else _paired(name, known[0][0], result, seed)
        places.append(
            Place(
                result=result, figure=figure, group=group, n=figure.n,
                difference=None if to_best is None else to_best.difference,
                interval=None if to_best is None else to_best.interval,
            )
        )  # fmt: skip
    return places


def _apart(name: str, first: Result, other: Result, arms: int, seed: int) -> bool:
    """Whether a permutation of the paired cases tells them apart, at the level that so many comparisons leave."""
    from evals.significance import permutation_p

    found = _paired(name, first, other, seed)
    if found.unchanged or not found.n:
        return False
    p = permutation_p(found, seed=seed)
    return not math.isnan(p) and p < (1 - LEVEL) / max(1, arms - 1)


def _paired(name: str, first: Result, other: Result, seed: int) -> Paired:
    by_case = {row["case_id"]: row for row in other.rows}
    shared = [row for row in first.rows if row["case_id"] in by_case]
    after = [by_case[row["case_id"]] for row in shared]
    return pair(figures_of([*shared, *after])[name], shared, after, seed=seed)


def to_text(places: Sequence[Place], results: Sequence[Result], objective: Objective, left: int) -> str:
    """The table, what the groups say, what failed and what is left."""
    lines = [f"by {objective.text}, judged on cases that chose nothing", ""]
    lines.append(f"{'group':<6}{'value':<8}{'95 % interval':<19}{'to the best':<26}{'n':<6}arm")
    for place in places:
        figure = place.figure
        ends = "–" if figure.low is None or figure.high is None else f"{figure.low:.3f} to {figure.high:.3f}"
        lines.append(
            f"{place.group:<6}{figure.value:<8.3f}{ends:<19}{_to_best(place):<26}{place.n:<6}{place.result.arm.name}"
        )
    firsts = [place for place in places if place.group == 1]
    if len(firsts) > 1:
        lines += [
            "",
            f"The first {len(firsts)} are not distinguishable (n = {firsts[0].n}): choose the cheapest.",
        ]
    failed = [result for result in results if result.failed]
    lines += [""] * bool(failed) + [f"failed: {one.arm.name}: {one.failed}" for one in failed]
    if left:
        lines += ["", f"{left} arms are left: the same command with a larger --budget goes on"]
    return "\n".join(lines)


def to_json(places: Sequence[Place], results: Sequence[Result], objective: Objective, left: int) -> str:
    """The same for programs, every threshold of each arm's profile in ``profile`` (TOML)."""
    body: dict[str, Any] = {
        "objective": objective.text,
        "arms": [_as_json(place) for place in places],
        "failed": [{"arm": dict(one.arm.values), "why": one.failed} for one in results if one.failed],
        "left": left,
    }
    return json.dumps(body, ensure_ascii=False, indent=2, allow_nan=False)


def _as_json(place: Place) -> Mapping[str, Any]:
    figure = place.figure
    return {
        "arm": dict(place.result.arm.values),
        "group": place.group,
        "value": figure.value,
        "interval": None if figure.low is None else [figure.low, figure.high],
        "difference": place.difference,
        "difference_interval": place.interval,
        "n": place.n,
        "settings": place.result.settings,
        "seconds": round(place.result.seconds, 3),
        "profile": place.result.profile,
    }


def _to_best(place: Place) -> str:
    if place.difference is None:
        return "the best"
    ends = f" ({place.interval[0]:+.3f} to {place.interval[1]:+.3f})" if place.interval else ""
    return f"{place.difference:+.3f}{ends}"
