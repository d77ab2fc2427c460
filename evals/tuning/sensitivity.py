"""What each threshold does by itself, the others held: whether it acts at all, and where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.profile import Value
from evals.tuning.explore import STEPS
from evals.tuning.objective import Objective
from evals.tuning.problem import Problem
from evals.tuning.space import Point

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """One threshold moved over its range. ``scores`` are the first objective at each of ``values``; ``acts``: some
    figure changes; ``matters``: an objective does."""

    name: str
    values: tuple[Value, ...]
    scores: tuple[float | None, ...]
    acts: bool
    matters: bool


def effects(problem: Problem, around: Point, chosen: Flags) -> tuple[Effect, ...]:
    """For each varied threshold what moving it does on the ``chosen`` (Q,) cases, from the setting ``around``."""
    return tuple(_effect(problem, around, chosen, place) for place in range(len(problem.axes)))


def never_act(found: Sequence[Effect]) -> str:
    """Those that change nothing, in words: "" for none."""
    return ", ".join(effect.name for effect in found if not effect.acts)


def _effect(problem: Problem, around: Point, chosen: Flags, place: int) -> Effect:
    axis = problem.axes[place]
    values = axis.spread(STEPS)
    replayed = problem.replayed([{**around, axis.name: value} for value in values])
    figures = (replayed if chosen.all() else replayed.among(chosen)).figures()
    objectives = [_shown(objective, objective.of(figures)) for objective in problem.objectives]
    return Effect(
        name=axis.name,
        values=values,
        scores=tuple(None if np.isnan(value) else float(value) for value in objectives[0]),
        acts=any(_changes(values) for values in figures.values()),
        matters=any(_changes(values) for values in objectives),
    )


def _shown(objective: Objective, values: NDArray[np.float64]) -> NDArray[np.float64]:
    return -values if objective.minimised else values


def _changes(values: NDArray[np.float64]) -> bool:
    lacking = np.isnan(values)
    if lacking.all():
        return False
    return bool(lacking.any() or np.ptp(values) > 1e-9)
