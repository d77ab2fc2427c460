"""Settings proposed from what was found: TPE and NSGA-II, a batch at a time. The only module that knows optuna."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from core.profile import Value
from evals.tuning.space import Axis, Point

if TYPE_CHECKING:
    import optuna

Search = Literal["tpe", "nsga2"]
ADAPTIVE: tuple[Search, ...] = ("tpe", "nsga2")
Floats = NDArray[np.float64]
BATCH = 32
_FAR = 1e6
"""Stands for a constraint on a figure that has no value."""


class Proposals:
    """Asks for settings and is told what they gave. Equal for equal arguments and answers.

    Source: Bergstra et al., Algorithms for Hyper-Parameter Optimization, NeurIPS 2011 (``tpe``, here with constant-liar
    batches); Deb et al., NSGA-II, IEEE Transactions on Evolutionary Computation 2002.
    """

    def __init__(self, search: Search, axes: Sequence[Axis], *, objectives: int, seed: int = 0) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._axes = axes
        with _quiet():
            self._study = optuna.create_study(
                directions=["maximize"] * objectives, sampler=_sampler(search, seed)
            )
        self._asked: list[optuna.Trial] = []

    def suggest_first(self, point: Point) -> None:
        """A setting that is asked for before any other, where it lies within the axes."""
        inside = {
            axis.name: _position(axis, point[axis.name])
            for axis in self._axes
            if (
                point[axis.name] in axis.values
                if axis.values
                else axis.low <= float(point[axis.name]) <= axis.high
            )
        }
        if len(inside) == len(self._axes):
            self._study.enqueue_trial(inside)

    def ask(self, count: int) -> list[dict[str, Value]]:
        """So many settings; some may be equal, or have been asked for before."""
        with _quiet():
            self._asked = [self._study.ask() for _ in range(count)]
            return [{axis.name: _suggested(trial, axis) for axis in self._axes} for trial in self._asked]

    def tell(self, scores: Floats, excess: Floats) -> None:
        """(n, objectives) higher is better, NaN for none, and (n, constraints) of what was last asked, in order."""
        import optuna

        with _quiet():
            for trial, score, beyond in zip(self._asked, scores, excess, strict=True):
                for number, value in enumerate(np.minimum(beyond, _FAR).tolist()):
                    trial.set_constraint(str(number), value)
                if np.isnan(score).any():
                    self._study.tell(trial, state=optuna.trial.TrialState.FAIL)
                else:
                    self._study.tell(trial, score.tolist())
        self._asked = []


def _sampler(search: Search, seed: int) -> optuna.samplers.BaseSampler:
    import optuna

    if search == "tpe":
        return optuna.samplers.TPESampler(
            seed=seed, multivariate=True, constant_liar=True, n_startup_trials=BATCH
        )
    return optuna.samplers.NSGAIISampler(seed=seed, population_size=BATCH)


def _suggested(trial: optuna.Trial, axis: Axis) -> Value:
    if axis.values:
        return axis.values[trial.suggest_int(axis.name, 0, len(axis.values) - 1)]
    if axis.knob.integer:
        return trial.suggest_int(axis.name, int(axis.low), int(axis.high))
    return axis.rounded(trial.suggest_float(axis.name, axis.low, axis.high))


def _position(axis: Axis, value: Value) -> float | int:
    return axis.values.index(value) if axis.values else (int(value) if axis.knob.integer else float(value))


@contextmanager
def _quiet() -> Iterator[None]:
    """Options that optuna calls experimental are used knowingly."""
    import optuna

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        yield
