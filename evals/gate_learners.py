"""What scikit-learn fits for a gate, each turned into plain numbers at once: weights, trees, a line, corners."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from core.gate.model import Weighed, standardised
from core.gate.trees import LEAF, Tree
from evals.metrics.abstention import Flags, Floats

ROUNDS, DEPTH, RATE, SHARE = 150, 2, 0.05, 0.7
"""Of the boosted trees: how many, how deep, learning rate, share of questions each sees."""
Penalty = Literal["l1", "l2"]


class Scorer(Protocol):
    """Something fitted: values (n, f) to z (n,), and the same as a gate's numbers with z' = slope·z + offset."""

    def z(self, values: Floats) -> Floats: ...

    def numbers(self, slope: float, offset: float) -> Mapping[str, Any]: ...


Fit = Callable[[Floats, Flags], Scorer]
"""Values (n, f) and who is answerable (n,), both classes among them, to what was fitted."""


def logistic(names: Sequence[str], *, penalty: Penalty, strength: float) -> Fit:
    """Logistic regression on standardised values; under ``l1`` weights fall to 0, which chooses among the features.

    ``strength`` is the inverse of the penalty's. Source: Tibshirani, Regression shrinkage and selection via the lasso,
    JRSS B 1996; Hoerl & Kennard, Technometrics 1970 (l2).
    """
    from sklearn.linear_model import LogisticRegression

    def fit(values: Floats, answerable: Flags) -> Scorer:
        means, spread = values.mean(axis=0), values.std(axis=0)
        scales = np.where(spread > 0, spread, 1.0)
        if penalty == "l1":
            # liblinear penalises the intercept too; scaled up, that is next to nothing
            kind = {"l1_ratio": 1.0, "solver": "liblinear", "intercept_scaling": 10.0, "random_state": 0}
        else:
            kind = {"l1_ratio": 0.0, "solver": "newton-cholesky"}
        model = LogisticRegression(C=strength, max_iter=2000, **kind)
        model.fit(standardised(values, means.tolist(), scales.tolist()), answerable)
        return _Linear(tuple(names), means, scales, model.coef_[0], float(model.intercept_[0]))

    return fit


def boosted(names: Sequence[str], *, seed: int) -> Fit:
    """Gradient boosting over shallow trees. Source: Friedman, Annals of Statistics 2001."""
    from sklearn.ensemble import GradientBoostingClassifier

    def fit(values: Floats, answerable: Flags) -> Scorer:
        model = GradientBoostingClassifier(
            n_estimators=ROUNDS, max_depth=DEPTH, learning_rate=RATE, subsample=SHARE, random_state=seed
        )
        # trees cut where float32 does, so what they are fitted on is what they will be asked
        return _Boosted(model.fit(values.astype(np.float32), answerable), tuple(names))

    return fit


def line(z: Floats, answerable: Flags) -> tuple[float, float]:
    """Slope and offset of Platt's sigmoid over z (n,). Source: Platt, Probabilistic Outputs for SVMs, 1999, without the
    prior on the targets."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=1e6, max_iter=2000, solver="newton-cholesky").fit(z[:, None], answerable)
    return float(model.coef_[0, 0]), float(model.intercept_[0])


def corners(z: Floats, answerable: Flags) -> tuple[tuple[float, float], ...]:
    """The corners (z, P) of the isotonic regression, ascending. Source: Zadrozny & Elkan, KDD 2002."""
    from sklearn.isotonic import IsotonicRegression

    model = IsotonicRegression(out_of_bounds="clip").fit(z, answerable)
    return tuple(zip(model.X_thresholds_.tolist(), model.y_thresholds_.tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class _Linear:
    names: tuple[str, ...]
    means: Floats
    scales: Floats
    weights: Floats
    intercept: float

    def z(self, values: Floats) -> Floats:
        away = standardised(values, self.means.tolist(), self.scales.tolist())
        return np.asarray(away @ self.weights + self.intercept)

    def numbers(self, slope: float, offset: float) -> Mapping[str, Any]:
        """A feature whose weight is 0 says nothing and is left out (one stays where all are 0)."""
        lists = (self.names, self.means.tolist(), self.scales.tolist(), self.weights.tolist())
        features = [
            Weighed(name=name, mean=mean, scale=scale, weight=slope * weight)
            for name, mean, scale, weight in zip(*lists, strict=True)
        ]
        telling = [one for one in features if one.weight != 0] or features[:1]
        return {"features": tuple(telling), "intercept": slope * self.intercept + offset}


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
