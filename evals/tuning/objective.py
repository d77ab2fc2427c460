"""What is tuned for: one figure or a weighted set of them, under constraints."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.errors import UsageError
from evals.aggregates import FIGURES as COMPARED
from evals.aggregates import Better
from evals.replay_figures import FIGURES
from evals.tuning.relation import Relation, parse

Floats = NDArray[np.float64]
EXAMPLE = "false_answer_rate <= 0.05"
_TERM = re.compile(r"\s*([+-]?)\s*(?:(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+)\s*\*\s*)?([A-Za-z_][\w@.]*)\s*")
_DOWN = ("answered_unanswerable", "e_aurc", "risk@coverage")


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """A weighted sum of figures, higher is better: weights of figures where lower is better are negative."""

    text: str
    weights: Mapping[str, float]

    @property
    def minimised(self) -> bool:
        """Whether it is one figure that should be low, and is shown as that figure."""
        return list(self.weights.values()) == [-1.0]

    def of(self, figures: Mapping[str, Floats]) -> Floats:
        """(P,) the sum; NaN where one of the figures has no value."""
        parts = [weight * np.asarray(figures[name], np.float64) for name, weight in self.weights.items()]
        return np.asarray(np.sum(parts, axis=0), dtype=np.float64)

    def shown(self, value: float) -> float:
        """As one reads it: a figure that should be low without the minus."""
        return -value if self.minimised else value


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """A figure that must be at most, or at least, a number."""

    relation: Relation

    @property
    def text(self) -> str:
        """As it is written on the command line."""
        return f"{self.relation.figure} {self.relation.sense} {self.relation.number:g}"

    def excess(self, figures: Mapping[str, Floats]) -> Floats:
        """(P,) by how much each setting breaks it, at most 0 where it is met; infinite where the figure has no value."""
        value = np.asarray(figures[self.relation.figure], dtype=np.float64)
        beyond = value - self.relation.number if self.relation.sense == "<=" else self.relation.number - value
        return np.where(np.isnan(beyond), np.inf, np.where(np.abs(beyond) < 1e-12, 0.0, beyond))


def better(figure: str) -> Better | None:
    """Which way a figure is better; None: it depends."""
    if figure in COMPARED:
        return COMPARED[figure].better
    return "down" if figure.startswith(_DOWN) else "up"


def parse_objective(text: str) -> Objective:
    """``balanced_correct``, ``false_answer_rate`` (made low), or ``0.5*ndcg@10+0.5*citation_f1``.

    Raises:
        UsageError: no such figure, one named twice, no sum, or a sign that would tune for the worse.
    """
    terms, place = [], 0
    while place < len(text) and (found := _TERM.match(text, place)):
        if place and not found.group(1):
            break
        terms.append(found.groups())
        place = found.end()
    if not terms or place != len(text):
        raise UsageError(
            f"objective {text!r} is no figure and no sum of them; write balanced_correct, or "
            "0.5*ndcg@10+0.5*citation_f1"
        )
    if len(terms) == 1 and not terms[0][0] and not terms[0][1] and better(_known(terms[0][2])) == "down":
        return Objective(text=text.strip(), weights={terms[0][2]: -1.0})
    weights: dict[str, float] = {}
    for sign, factor, name in terms:
        if _known(name) in weights:
            raise UsageError(f"objective {text!r} names {name} twice")
        weights[name] = _weight(text, sign, factor, name)
    return Objective(text=text.strip(), weights=weights)


def one_figure(name: str) -> Objective:
    """One figure, made low where lower is better."""
    return Objective(text=name, weights={name: -1.0 if better(name) == "down" else 1.0})


def parse_constraint(text: str) -> Constraint:
    """``"false_answer_rate <= 0.05"``.

    Raises:
        UsageError: it is none, or no such figure.
    """
    relation = parse(text, example=EXAMPLE)
    _known(relation.figure)
    if relation.level is not None:
        raise UsageError(
            f"constraint {text!r}: only a promise has a confidence; leave out '@ {relation.level:g}', or use --promise"
        )
    return Constraint(relation=relation)


def infeasible(constraints: Sequence[Constraint], figures: Mapping[str, Floats]) -> str | None:
    """Why no setting meets all constraints, and how near one comes; None where one does."""
    excess = [constraint.excess(figures) for constraint in constraints]
    if not constraints or (np.max(excess, axis=0) <= 0).any():
        return None
    said = []
    for constraint, beyond in zip(constraints, excess, strict=True):
        if (beyond <= 0).any():
            continue
        nearest = int(np.argmin(beyond))
        value = figures[constraint.relation.figure][nearest]
        said.append(
            f"no setting has a value for {constraint.relation.figure}"
            if math.isinf(beyond[nearest])
            else f"no setting meets {constraint.text}: the closest has {value:.3f}"
        )
    if said:
        return "; ".join(said)
    nearest = int(np.argmin(np.max(excess, axis=0)))
    values = ", ".join(
        f"{one.relation.figure} = {figures[one.relation.figure][nearest]:.3f}" for one in constraints
    )
    every = " and ".join(constraint.text for constraint in constraints)
    return f"each is met by some setting, but none meets {every} together: the closest has {values}"


def _weight(text: str, sign: str, factor: str | None, name: str) -> float:
    weight = float(factor or 1) * (-1 if sign == "-" else 1)
    way = better(name)
    if weight == 0 or not math.isfinite(weight):
        raise UsageError(f"objective {text!r}: the weight of {name} must be a number other than 0")
    if (way == "down") != (weight < 0) and way is not None:
        how = (
            "lower is better, so write it with a minus"
            if way == "down"
            else "higher is better, so write it with a plus"
        )
        raise UsageError(f"objective {text!r}: of {name} {how}")
    return weight


def _known(name: str) -> str:
    if name not in FIGURES:
        raise UsageError(f"no figure {name!r} is replayed; there are {', '.join(FIGURES)}")
    return name
