"""The learned gate: a calibrated logistic regression over the features (or boosted trees), as plain numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import ScoreSpaceError
from core.gate.features import VERSION
from core.gate.trees import Tree
from core.trace import Recipe

FAMILY = "probability"
MOST = 4.0
"""Standard deviations beyond which a feature says no more: nothing so far out was seen in training."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """A feature as the gate reads it: ``weight · (value − mean) / scale``; ``scale`` is positive."""

    name: str
    mean: float
    scale: float
    weight: float

    def standard(self, value: float) -> float:
        """The value in standard deviations from the mean of training, within ±``MOST``."""
        return min(max((value - self.mean) / self.scale, -MOST), MOST)


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedGate:
    """``P = 1 / (1 + exp(−z))``, ``z = intercept + Σ weight · standardised value + Σ trees``; where ``calibration`` has
    points (z, P), both ascending, P is read off the line through them instead. ``reads`` maps a score family to the full
    space the gate was trained in; ``report`` is how it was trained and what it did on questions held out (plain values).

    Source: Platt, Probabilistic Outputs for SVMs, 1999 (whose slope and offset are part of the weights); Zadrozny &
    Elkan, KDD 2002 (isotonic calibration).
    """

    recipe: Recipe
    features: tuple[Weighed, ...]
    intercept: float
    reads: Mapping[str, str]
    trees: tuple[Tree, ...] = ()
    calibration: tuple[tuple[float, float], ...] = ()
    version: int = VERSION
    report: Mapping[str, Any] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The features it reads, in order."""
        return tuple(one.name for one in self.features)

    @property
    def digest(self) -> str:
        """16 hex digits over everything that decides: a changed number is another gate."""
        weighed = [(one.name, one.mean, one.scale, one.weight) for one in self.features]
        trees = [(one.feature, one.cut, one.left, one.right, one.value) for one in self.trees]
        numbers = (weighed, self.intercept, trees, self.calibration)
        body = (self.recipe, self.version, numbers, sorted(self.reads.items()))
        return sha256(json.dumps(body).encode()).hexdigest()[:16]

    @property
    def space(self) -> str:
        """The score space of its probabilities: a threshold on one gate means nothing on another."""
        return f"{FAMILY}/{self.digest}"

    def contributions(self, values: Mapping[str, float]) -> dict[str, float]:
        """What each feature adds to z, by name: positive speaks for answering. KeyError for a missing value."""
        found = {one.name: one.weight * one.standard(values[one.name]) for one in self.features}
        row = [float(np.float32(values[name])) for name in self.names] if self.trees else []
        for tree in self.trees:
            for feature, change in tree.contributions(row):
                found[self.names[feature]] += change
        return found

    def probability(self, values: Mapping[str, float]) -> float:
        """The calibrated probability that the evidence suffices, in [0, 1]."""
        start = self.intercept + sum(tree.value[0] for tree in self.trees)
        return self.calibrated(start + sum(self.contributions(values).values()))

    def calibrated(self, z: float) -> float:
        """P of a z."""
        if self.calibration:
            known, probabilities = zip(*self.calibration, strict=True)
            return float(np.interp(z, known, probabilities))
        return 1 / (1 + math.exp(-z)) if z >= 0 else math.exp(z) / (1 + math.exp(z))

    def check(self, active: Mapping[str, str], profile: str) -> None:
        """Raises ScoreSpaceError where this run scores in another space than the gate was trained in."""
        for family, trained in self.reads.items():
            actual = active.get(family)
            if actual is not None and actual != trained:
                raise ScoreSpaceError(
                    f"profile {profile!r}: its learned gate was trained in score space {trained!r}, but this run scores "
                    f"in {actual!r}, where its weights mean something else. Use the model it was trained with, or train "
                    f"it again: assay tune --gate --dataset NAME --recipe {self.recipe} --profile PROFILE --out FILE.toml"
                )


def standardised(
    rows: NDArray[np.float64], means: Sequence[float], scales: Sequence[float]
) -> NDArray[np.float64]:
    """(n, f) values as ``Weighed.standard`` gives them, for training."""
    away = (rows - np.asarray(means)) / np.asarray(scales)
    return np.asarray(np.clip(away, -MOST, MOST), dtype=np.float64)
