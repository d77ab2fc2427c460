"""What is tuned: a recording, the profile one starts from, what is varied, for what and under which constraints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.profile import Profile, Value
from evals.recording import RecordedCase, Recording
from evals.replay import replay
from evals.replayed import Replayed
from evals.scoring import cluster
from evals.tuning.objective import Constraint, Objective
from evals.tuning.space import Axis, Point


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Problem:
    """One or two ``objectives``, each of them made high."""

    recording: Recording
    base: Profile
    axes: tuple[Axis, ...]
    objectives: tuple[Objective, ...]
    constraints: tuple[Constraint, ...] = ()

    @property
    def start(self) -> dict[str, Value]:
        """The setting the base profile has."""
        return {axis.name: self.base.values[axis.name] for axis in self.axes}

    @property
    def figures(self) -> tuple[str, ...]:
        """The figures that decide, each once."""
        named = [name for objective in self.objectives for name in objective.weights]
        return tuple(dict.fromkeys([*named, *(one.relation.figure for one in self.constraints)]))

    def profile(self, point: Point) -> Profile:
        """The base profile with a setting in it."""
        return self.base.with_values(point)

    def replayed(self, points: Sequence[Point]) -> Replayed:
        """Every recorded case under every setting."""
        return replay(self.recording, [self.profile(point) for point in points])


def clusters_of(cases: Sequence[RecordedCase]) -> tuple[NDArray[np.intp], int]:
    """(Q,) number of the source document each case is about, and how many there are; in order of their names."""
    names, codes = np.unique(
        np.array([f"{case.dataset}\x1f{cluster(case.case)}" for case in cases], dtype=object),
        return_inverse=True,
    )
    return codes, len(names)
