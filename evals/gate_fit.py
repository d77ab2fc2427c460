"""Fitting a gate: features and penalty chosen inside the training part, calibrated on what was held out there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from core.gate.features import BY_NAME, Group
from core.gate.model import LearnedGate
from core.trace import Recipe
from evals.gate_examples import Examples
from evals.gate_learners import Fit, Penalty, Scorer, boosted, corners, line, logistic
from evals.metrics.abstention import Flags, Floats
from evals.metrics.calibration import brier

SCORES: tuple[Group, ...] = ("nearness", "gap")
WORDS: tuple[Group, ...] = (*SCORES, "agreement", "coverage", "question")
SETS: tuple[tuple[Group, ...], ...] = (SCORES, WORDS, (*WORDS, "kind", "negation", "speaker"))
"""Groups of features that are tried, the simplest first."""
GRID: tuple[tuple[Penalty, float], ...] = (
    *(("l2", strength) for strength in (0.01, 0.03, 0.1, 0.3)),
    *(("l1", strength) for strength in (0.1, 0.3)),
)  # fmt: skip
"""Penalties and inverse strengths that are tried with each."""
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
    """Logistic regression with the features, penalty and strength chosen on clusters held out inside."""
    dealt = folds(examples.clusters, seed=seed)
    chosen = _chosen(examples, dealt)
    seen = examples.values[:, chosen.columns]
    scorer = chosen.fit(seen, examples.answerable)
    gate, calibration, held_out = _calibrated(scorer, chosen.z, dealt, examples.answerable, recipe, reads)
    return Fitted(
        gate=gate,
        kind="logistic regression",
        penalty=chosen.penalty,
        strength=chosen.strength,
        calibration=calibration,
        held_out=held_out,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choice:
    """One way to fit: which columns, how; and ``z`` (n,) of each question by a fit that had not seen its fold."""

    columns: list[int]
    penalty: Penalty
    strength: float
    fit: Fit
    z: Floats


def _chosen(examples: Examples, dealt: NDArray[np.int64]) -> _Choice:
    """The least log-loss within the simplest set of features that does not lose by more than chance explains.

    Source: Breiman et al., Classification and Regression Trees, 1984, sec. 3.4.3 (the one-standard-error rule), with the
    standard error of the paired differences.
    """
    tried = [_choice(examples, dealt, groups, *how) for groups in SETS for how in GRID]
    losses = np.array([_losses(one.z, examples.answerable) for one in tried])
    means = losses.mean(axis=1)
    away = losses - losses[int(np.argmin(means))]
    close = away.mean(axis=1) <= away.std(axis=1) / np.sqrt(len(examples))
    simplest = min(len(tried[place].columns) for place in np.flatnonzero(close).tolist())
    in_set = [len(one.columns) == simplest for one in tried]
    return tried[int(np.argmin(np.where(in_set, means, np.inf)))]


def _choice(
    examples: Examples, dealt: NDArray[np.int64], groups: Sequence[Group], penalty: Penalty, strength: float
) -> _Choice:
    columns = [place for place, name in enumerate(examples.names) if BY_NAME[name].group in groups]
    fit = logistic([examples.names[place] for place in columns], penalty=penalty, strength=strength)
    z = _held_out(examples.values[:, columns], examples.answerable, dealt, fit)
    return _Choice(columns=columns, penalty=penalty, strength=strength, fit=fit, z=z)


def fit_boosted(examples: Examples, recipe: Recipe, reads: Mapping[str, str], *, seed: int) -> Fitted:
    """Boosted trees, calibrated in the same way."""
    dealt = folds(examples.clusters, seed=seed)
    fit = boosted(examples.names, seed=seed)
    z = _held_out(examples.values, examples.answerable, dealt, fit)
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


def _held_out(values: Floats, answerable: Flags, dealt: NDArray[np.int64], fit: Fit) -> Floats:
    """(n,) z of each question by a model that has not seen its fold."""
    z = np.zeros(len(answerable))
    for fold in np.unique(dealt).tolist():
        out = dealt == fold
        z[out] = fit(values[~out], answerable[~out]).z(values[out])
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


def _losses(z: Floats, answerable: Flags) -> Floats:
    """(n,) log-loss of each."""
    return np.asarray(np.logaddexp(0, np.where(answerable, -z, z)))
