"""Fitting a gate: logistic regression or boosted trees, the strength chosen inside, calibrated on what was held out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from core.gate.model import LearnedGate, Weighed, standardised
from core.gate.trees import LEAF, Tree
from core.trace import Recipe
from evals.gate_examples import Examples
from evals.metrics.abstention import Flags, Floats
from evals.metrics.calibration import brier

STRENGTHS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
"""Inverse strengths of the l2 penalty that are tried."""
FOLDS = 5
ROUNDS, DEPTH, RATE, SHARE = 150, 2, 0.05, 0.7
"""Of the boosted trees: how many, how deep, learning rate, share of questions each sees."""
WORTH = 0.02
"""Share of Platt's Brier score that isotonic calibration must save: its steps tie questions, which costs order."""
Kind = Literal["logistic regression", "gradient boosting"]


class Scorer(Protocol):
    """Something fitted: values (n, f) to z (n,), and the same as a gate's numbers with z' = slope·z + offset."""

    def z(self, values: Floats) -> Floats: ...

    def numbers(self, slope: float, offset: float) -> Mapping[str, Any]: ...


Fit = Callable[[Floats, Flags], Scorer]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """A gate with how it came about. ``held_out`` (n,) are the calibrated probabilities of the training questions, each
    by a model that had not seen its cluster: what a threshold may be chosen on."""

    gate: LearnedGate
    kind: Kind
    strength: float | None
    calibration: Literal["platt", "isotonic"]
    held_out: Floats


def folds(clusters: Sequence[str], *, seed: int, count: int = FOLDS) -> NDArray[np.int64]:
    """(n,) the fold of each, 0 … count−1: whole clusters, dealt out at random until the folds are of a size."""
    names, of, sizes = np.unique(np.asarray(clusters), return_inverse=True, return_counts=True)
    dealt = np.zeros(len(names), dtype=np.int64)
    filled = np.zeros(count)
    for place in np.random.default_rng(seed).permutation(len(names)):
        dealt[place] = int(np.argmin(filled))
        filled[dealt[place]] += sizes[place]
    return dealt[of]


def fit_logistic(examples: Examples, recipe: Recipe, reads: Mapping[str, str], *, seed: int) -> Fitted:
    """l2-penalised logistic regression; the penalty with the least log-loss on clusters held out inside."""
    dealt = folds(examples.clusters, seed=seed)
    tried = [
        (strength, _held_out(examples, dealt, _logistic(strength, examples.names))) for strength in STRENGTHS
    ]
    strength, z = min(tried, key=lambda one: _log_loss(one[1], examples.answerable))
    scorer = _logistic(strength, examples.names)(examples.values, examples.answerable)
    return _calibrated(scorer, z, dealt, examples, recipe, reads, "logistic regression", strength)


def fit_boosted(examples: Examples, recipe: Recipe, reads: Mapping[str, str], *, seed: int) -> Fitted:
    """Gradient boosting over shallow trees. Source: Friedman, Annals of Statistics 2001."""
    dealt = folds(examples.clusters, seed=seed)
    fit = boosted(examples.names, seed=seed)
    z = _held_out(examples, dealt, fit)
    scorer = fit(examples.values, examples.answerable)
    return _calibrated(scorer, z, dealt, examples, recipe, reads, "gradient boosting", None)


def boosted(names: Sequence[str], *, seed: int) -> Fit:
    """Fits boosted trees."""
    from sklearn.ensemble import GradientBoostingClassifier

    def fit(values: Floats, answerable: Flags) -> Scorer:
        model = GradientBoostingClassifier(
            n_estimators=ROUNDS, max_depth=DEPTH, learning_rate=RATE, subsample=SHARE, random_state=seed
        )
        # trees cut where float32 does, so what they are fitted on is what they will be asked
        return _Boosted(model.fit(values.astype(np.float32), answerable), tuple(names))

    return fit


def _logistic(strength: float, names: Sequence[str]) -> Fit:
    from sklearn.linear_model import LogisticRegression

    def fit(values: Floats, answerable: Flags) -> Scorer:
        means, spread = values.mean(axis=0), values.std(axis=0)
        scales = np.where(spread > 0, spread, 1.0)
        model = LogisticRegression(C=strength, max_iter=2000)
        model.fit(standardised(values, means.tolist(), scales.tolist()), answerable)
        return _Linear(tuple(names), means, scales, model.coef_[0], float(model.intercept_[0]))

    return fit


@dataclass(frozen=True, slots=True)
class _Linear:
    names: tuple[str, ...]
    means: Floats
    scales: Floats
    weights: Floats
    intercept: float

    def z(self, values: Floats) -> Floats:
        return np.asarray(
            standardised(values, self.means.tolist(), self.scales.tolist()) @ self.weights + self.intercept
        )

    def numbers(self, slope: float, offset: float) -> Mapping[str, Any]:
        columns = zip(
            self.names, self.means.tolist(), self.scales.tolist(), self.weights.tolist(), strict=True
        )
        features = tuple(
            Weighed(name=name, mean=mean, scale=scale, weight=slope * weight)
            for name, mean, scale, weight in columns
        )
        return {"features": features, "intercept": slope * self.intercept + offset}


@dataclass(frozen=True, slots=True)
class _Boosted:
    model: Any
    names: tuple[str, ...]

    def z(self, values: Floats) -> Floats:
        return np.asarray(self.model.decision_function(values.astype(np.float32)), dtype=np.float64)

    def numbers(self, slope: float, offset: float) -> Mapping[str, Any]:
        start = float(self.model._raw_predict_init(np.zeros((1, len(self.names)), dtype=np.float32))[0, 0])
        features = tuple(Weighed(name=name, mean=0.0, scale=1.0, weight=0.0) for name in self.names)
        trees = tuple(_tree(one.tree_, slope * RATE) for one in self.model.estimators_[:, 0])
        return {"features": features, "intercept": slope * start + offset, "trees": trees}


def _tree(grown: Any, factor: float) -> Tree:
    """The arrays of a grown tree, its values times ``factor``; an inner node's is the mean of the questions below it."""
    leaf = grown.children_left < 0
    value = factor * grown.value[:, 0, 0]
    for at in range(len(leaf) - 1, -1, -1):  # children come after their parents
        if not leaf[at]:
            below = [grown.children_left[at], grown.children_right[at]]
            value[at] = np.average(value[below], weights=grown.weighted_n_node_samples[below])
    return Tree(
        feature=tuple(np.where(leaf, LEAF, grown.feature).tolist()),
        cut=tuple(np.where(leaf, 0.0, grown.threshold).tolist()),
        left=tuple(np.where(leaf, LEAF, grown.children_left).tolist()),
        right=tuple(np.where(leaf, LEAF, grown.children_right).tolist()),
        value=tuple(value.tolist()),
    )


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
    examples: Examples,
    recipe: Recipe,
    reads: Mapping[str, str],
    kind: Kind,
    strength: float | None,
) -> Fitted:
    """By Platt's line, unless isotonic regression has clearly the better Brier score on folds it was not fitted on."""
    answerable = examples.answerable
    errors = [_error(z, answerable, dealt, method) for method in (_platt, _isotonic)]
    isotonic = errors[1] < errors[0] * (1 - WORTH)
    slope, offset = (1.0, 0.0) if isotonic else _line(z, answerable)
    points = _points(z, answerable) if isotonic else ()
    gate = LearnedGate(recipe=recipe, reads=reads, calibration=points, **scorer.numbers(slope, offset))
    held_out = np.array([gate.calibrated(one) for one in (slope * z + offset).tolist()])
    return Fitted(
        gate=gate,
        kind=kind,
        strength=strength,
        calibration="isotonic" if isotonic else "platt",
        held_out=held_out,
    )


def _error(z: Floats, answerable: Flags, dealt: NDArray[np.int64], method: Callable[..., Floats]) -> float:
    said = np.zeros(len(z))
    for fold in np.unique(dealt).tolist():
        out = dealt == fold
        said[out] = method(z[~out], answerable[~out], z[out])
    return brier(said, answerable)


def _platt(z: Floats, answerable: Flags, asked: Floats) -> Floats:
    slope, offset = _line(z, answerable)
    return np.asarray(1 / (1 + np.exp(-(slope * asked + offset))))


def _isotonic(z: Floats, answerable: Flags, asked: Floats) -> Floats:
    known, probabilities = zip(*_points(z, answerable), strict=True)
    return np.asarray(np.interp(asked, known, probabilities), dtype=np.float64)


def _line(z: Floats, answerable: Flags) -> tuple[float, float]:
    """Slope and offset of Platt's sigmoid."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=1e6, max_iter=2000).fit(z[:, None], answerable)
    return float(model.coef_[0, 0]), float(model.intercept_[0])


def _points(z: Floats, answerable: Flags) -> tuple[tuple[float, float], ...]:
    """The corners of the isotonic regression, ascending in both."""
    from sklearn.isotonic import IsotonicRegression

    model = IsotonicRegression(out_of_bounds="clip").fit(z, answerable)
    return tuple(zip(model.X_thresholds_.tolist(), model.y_thresholds_.tolist(), strict=True))


def _log_loss(z: Floats, answerable: Flags) -> float:
    return float(np.logaddexp(0, np.where(answerable, -z, z)).mean())
