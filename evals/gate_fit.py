"""Fitting a gate: penalty and strength (with them the features) chosen inside, calibrated on what was held out inside."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from core.gate.model import LearnedGate
from core.trace import Recipe
from evals.gate_examples import Examples
from evals.gate_learners import Fit, Penalty, Scorer, boosted, corners, line, logistic
from evals.metrics.abstention import Flags, Floats
from evals.metrics.calibration import brier

GRID: tuple[tuple[Penalty, float], ...] = (
    *(("l2", strength) for strength in (0.01, 0.03, 0.1, 0.3)),
    *(("l1", strength) for strength in (0.1, 0.3)),
)  # fmt: skip
"""Penalties and inverse strengths that are tried."""
FOLDS = 5
WORTH = 0.02
"""Share of Platt's Brier score that isotonic calibration must save: its steps tie questions, which costs order."""
Kind = Literal["logistic regression", "gradient boosting"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """A gate with how it came about. ``held_out`` (n,) are the calibrated probabilities of the training questions, each
    by a model that had not seen its cluster: what a threshold may be chosen on."""

    gate: LearnedGate
    kind: Kind
    penalty: Penalty | None
    strength: float | None
    calibration: Literal["platt", "isotonic"]
    held_out: Floats


def folds(clusters: Sequence[str], *, seed: int, count: int = FOLDS) -> NDArray[np.int64]:
    """(n,) the fold of each, 0 … count−1: whole clusters, dealt out at random until the folds are of a size.

    Fewer clusters than ``count``: as many folds as clusters.
    """
    names, of, sizes = np.unique(np.asarray(clusters), return_inverse=True, return_counts=True)
    dealt = np.zeros(len(names), dtype=np.int64)
    filled = np.zeros(min(count, len(names)))
    for place in np.random.default_rng(seed).permutation(len(names)):
        dealt[place] = int(np.argmin(filled))
        filled[dealt[place]] += sizes[place]
    return dealt[of]


def fit_logistic(examples: Examples, recipe: Recipe, reads: Mapping[str, str], *, seed: int) -> Fitted:
    """Logistic regression under the penalty and strength with the least log-loss on clusters held out inside."""
    dealt = folds(examples.clusters, seed=seed)
    tried = []
    for penalty, strength in GRID:
        fit = logistic(examples.names, penalty=penalty, strength=strength)
        tried.append((penalty, strength, fit, _held_out(examples, dealt, fit)))
    penalty, strength, fit, z = min(tried, key=lambda one: _log_loss(one[3], examples.answerable))
    scorer = fit(examples.values, examples.answerable)
    gate, calibration, held_out = _calibrated(scorer, z, dealt, examples.answerable, recipe, reads)
    return Fitted(
        gate=gate,
        kind="logistic regression",
        penalty=penalty,
        strength=strength,
        calibration=calibration,
        held_out=held_out,
    )


def fit_boosted(examples: Examples, recipe: Recipe, reads: Mapping[str, str], *, seed: int) -> Fitted:
    """Boosted trees, calibrated in the same way."""
    dealt = folds(examples.clusters, seed=seed)
    fit = boosted(examples.names, seed=seed)
    z = _held_out(examples, dealt, fit)
    scorer = fit(examples.values, examples.answerable)
    gate, calibration, held_out = _calibrated(scorer, z, dealt, examples.answerable, recipe, reads)
    return Fitted(
        gate=gate,
        kind="gradient boosting",
        penalty=None,
        strength=None,
        calibration=calibration,
        held_out=held_out,
    )


def cut_at(probability: Floats, examples: Examples, coverage: float) -> float:
    """The highest cut at which at least ``coverage`` of the answerable are answered (``probability ≥ cut``, and the
    profile's floors let something through). Where the floors let fewer through, 0: the gate refuses nothing more."""
    answerable = examples.answerable
    ranked = np.sort(probability[answerable & examples.passed])[::-1]
    wanted = max(int(np.ceil(coverage * int(answerable.sum()))), 1)
    return float(ranked[wanted - 1]) if wanted <= len(ranked) else 0.0


def _held_out(examples: Examples, dealt: NDArray[np.int64], fit: Fit) -> Floats:
    """(n,) z of each question by a model that has not seen its fold."""
    z = np.zeros(len(examples))
    for fold in np.unique(dealt).tolist():
        out = dealt == fold
        z[out] = fit(examples.values[~out], examples.answerable[~out]).z(examples.values[out])
    return z


def _calibrated(
    scorer: Scorer,
    z: Floats,
    dealt: NDArray[np.int64],
    answerable: Flags,
    recipe: Recipe,
    reads: Mapping[str, str],
) -> tuple[LearnedGate, Literal["platt", "isotonic"], Floats]:
    """By Platt's line, unless isotonic regression has clearly the better Brier score on folds it was not fitted on."""
    errors = [_error(z, answerable, dealt, method) for method in (_platt, _isotonic)]
    isotonic = errors[1] < errors[0] * (1 - WORTH)
    slope, offset = (1.0, 0.0) if isotonic else line(z, answerable)
    points = corners(z, answerable) if isotonic else ()
    gate = LearnedGate(recipe=recipe, reads=reads, calibration=points, **scorer.numbers(slope, offset))
    held_out = np.array([gate.calibrated(one) for one in (slope * z + offset).tolist()])
    return gate, "isotonic" if isotonic else "platt", held_out


def _error(z: Floats, answerable: Flags, dealt: NDArray[np.int64], method: Callable[..., Floats]) -> float:
    said = np.zeros(len(z))
    for fold in np.unique(dealt).tolist():
        out = dealt == fold
        said[out] = method(z[~out], answerable[~out], z[out])
    return brier(said, answerable)


def _platt(z: Floats, answerable: Flags, asked: Floats) -> Floats:
    slope, offset = line(z, answerable)
    return np.asarray(1 / (1 + np.exp(-(slope * asked + offset))))


def _isotonic(z: Floats, answerable: Flags, asked: Floats) -> Floats:
    known, probabilities = zip(*corners(z, answerable), strict=True)
    return np.asarray(np.interp(asked, known, probabilities), dtype=np.float64)


def _log_loss(z: Floats, answerable: Flags) -> float:
    return float(np.logaddexp(0, np.where(answerable, -z, z)).mean())
