"""Searching: settings are proposed, replayed a batch at a time, and all of them kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from core.errors import UsageError
from core.profile import Value
from core.progress import Progress, quiet
from evals.replayed import Replayed
from evals.tuning import adaptive, additive
from evals.tuning.problem import Problem, clusters_of
from evals.tuning.samplers import STATIC, Static, sampled
from evals.tuning.space import Point, distinct
from evals.tuning.surface import Surface

Search = Static | adaptive.Search
SEARCHES: tuple[Search, ...] = (*STATIC, *adaptive.ADAPTIVE)
Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
Key = tuple[tuple[str, Value], ...]
MOST = 100_000
BATCH = 256
STEPS = 17
"""Values along each line through the best."""
ROUNDS = 4


@dataclass(slots=True, kw_only=True, eq=False)
class Explorer:
    """What was tried so far on the cases that are ``chosen`` (Q,); stopping it at any time keeps that. The first
    ``proposed`` are the search's own, the others lie around the best."""

    problem: Problem
    chosen: Flags
    progress: Progress = quiet
    points: list[Point] = field(default_factory=list)
    proposed: int = 0
    _figures: list[dict[str, Floats]] = field(default_factory=list)
    _sums: list[dict[str, additive.Sums]] = field(default_factory=list)
    _places: dict[Key, int] = field(default_factory=dict)

    def run(self, search: Search, trials: int, *, seed: int = 0) -> Surface:
        """At most ``trials`` settings beside the one the base profile has, which is tried first, then those around the
        best, see ``refine``.

        Raises:
            UsageError: ``trials`` out of range, or a grid that is larger. RecordingError: a setting asks for what was
                not recorded.
        """
        if not 1 <= trials <= MOST:
            raise UsageError(f"--trials must be in [1, {MOST}], got {trials}")
        start = self.problem.start
        if search in get_args(Static):
            self.add([start])
            points = sampled(search, self.problem.axes, trials, seed=seed)  # type: ignore[arg-type]
            for begin in range(0, len(points), BATCH):
                self.add(points[begin : begin + BATCH])
                self.progress(min(BATCH, len(points) - begin))
        else:
            self._adaptively(search, trials, seed)  # type: ignore[arg-type]
        self.proposed = len(self.points)
        return self.refine()

    def refine(self) -> Surface:
        """Moves one threshold at a time over its range from the best setting, and again from what is best then: the best
        is seldom among few settings of a wide space, and how flat it is shows on the lines through it.

        Source: coordinate search, Nocedal & Wright, Numerical Optimization 2006, sec. 9.3.
        """
        surface = self.surface()
        for _ in range(ROUNDS):
            best = surface.best()
            if best is None:
                return surface
            around = surface.points[best]
            lines = [{**around, axis.name: value} for axis in surface.axes for value in axis.spread(STEPS)]
            before = len(self.points)
            self.add(lines)
            surface = self.surface()
            if len(self.points) == before or surface.best() == best:
                return surface
        return surface

    def add(self, points: Sequence[Point]) -> None:
        """Replays those that are new."""
        new = [point for point in distinct(points) if _key(point) not in self._places]
        if not new:
            return
        replayed = self.problem.replayed(new)
        if not self.chosen.all():
            replayed = replayed.among(self.chosen)
        figures, sums = replayed.figures(), self._summed(replayed)
        for point in new:
            self._places[_key(point)] = len(self._places)
        self.points.extend(new)
        self._figures.append(figures)
        self._sums.append(sums)

    def surface(self) -> Surface:
        """Everything tried so far; at least one batch."""
        problem = self.problem
        return Surface(
            axes=problem.axes, objectives=problem.objectives, constraints=problem.constraints,
            points=tuple(self.points), proposed=self.proposed or len(self.points),
            figures={
                name: np.concatenate([part[name] for part in self._figures]) for name in self._figures[0]
            },
            sums={name: additive.joined([part[name] for part in self._sums]) for name in self._sums[0]},
        )  # fmt: skip

    def _summed(self, replayed: Replayed) -> dict[str, additive.Sums]:
        codes, clusters = clusters_of(replayed.cases)
        names = [name for name in self.problem.figures if name in additive.ADDITIVE]
        return {name: additive.sums(name, replayed, codes, clusters) for name in names}

    def _adaptively(self, search: adaptive.Search, trials: int, seed: int) -> None:
        problem = self.problem
        proposals = adaptive.Proposals(search, problem.axes, objectives=len(problem.objectives), seed=seed)
        self.add([problem.start])
        proposals.suggest_first(problem.start)
        for begin in range(0, trials, adaptive.BATCH):
            asked = proposals.ask(min(adaptive.BATCH, trials - begin))
            self.add(asked)
            places = [self._places[_key(point)] for point in asked]
            proposals.tell(*self._told(places))
            self.progress(len(asked))

    def _told(self, places: Sequence[int]) -> tuple[Floats, Floats]:
        """Objectives and excess of some settings, (n, objectives) and (n, constraints)."""
        problem = self.problem
        figures = {
            name: np.concatenate([part[name] for part in self._figures])[places] for name in problem.figures
        }
        scores = [objective.of(figures) for objective in problem.objectives]
        excess = [constraint.excess(figures) for constraint in problem.constraints]
        return np.stack(scores, axis=1), np.array(excess).reshape(len(excess), len(places)).T


def _key(point: Point) -> Key:
    return tuple(sorted(point.items()))
