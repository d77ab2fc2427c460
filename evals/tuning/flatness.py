"""How far the optimum is flat: the settings that the cases cannot tell from the best."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.profile import Value
from evals.paired import LEVEL, lower
from evals.replayed import Replayed
from evals.tuning import draws
from evals.tuning.problem import Problem, clusters_of
from evals.tuning.surface import Surface

Floats = NDArray[np.float64]
CURVES = 100
"""Settings, the best ones, that are compared where the objective is no ratio of sums: they are slow."""
_BLOCK = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Flat:
    """``count`` of ``compared`` feasible settings are within noise of the best; ``ranges`` are the lowest and highest
    value each threshold has among them."""

    count: int
    compared: int
    ranges: Mapping[str, tuple[Value, Value]]


def flat(problem: Problem, surface: Surface, best: int, replayed: Replayed, *, seed: int = 0) -> Flat | str:
    """The settings whose objectives are not below the best one's by more than chance explains: the interval of the
    difference, over the same resampled documents, reaches 0. In words why it cannot be said, where it cannot.

    The best is the best of many by luck too, so this rather calls too few settings equal than too many. ``replayed``
    holds the cases that were searched on (its settings do not matter). Source: Efron & Tibshirani, An Introduction to
    the Bootstrap, 1993, ch. 8 (paired).
    """
    clusters = clusters_of(replayed.cases)[1]
    if clusters < 2:
        return "all cases are about one document, which shows nothing of how documents differ"
    order = np.flatnonzero(surface.feasible)
    order = order[np.argsort(-surface.scores[order].sum(axis=1), kind="stable")]
    if any(name not in surface.sums for one in surface.objectives for name in one.weights):
        order = order[:CURVES]
    places = np.unique(np.append(order, best))
    weights = draws.weights_of(clusters, seed)
    within = np.ones(len(places), dtype=bool)
    for number in range(len(surface.objectives)):
        within &= _within(problem, surface, number, best, places, weights)
    equal = places[within | (places == best)]
    ranges = {
        axis.name: _ends([surface.points[place][axis.name] for place in equal.tolist()])
        for axis in surface.axes
    }
    return Flat(count=len(equal), compared=len(places), ranges=ranges)


def _within(
    problem: Problem, surface: Surface, number: int, best: int, places: NDArray[np.intp], weights: Floats
) -> NDArray[np.bool_]:
    clusters, tail = weights.shape[1], (1 - LEVEL) / 2
    top = _drawn(problem, surface, number, np.array([best]), weights)[0]
    found = []
    for begin in range(0, len(places), _BLOCK):
        some = _drawn(problem, surface, number, places[begin : begin + _BLOCK], weights)
        found += [lower(one, tail, clusters) <= 1e-9 for one in top - some]
    return np.array(found)


def _drawn(
    problem: Problem, surface: Surface, number: int, places: NDArray[np.intp], weights: Floats
) -> Floats:
    """(n, DRAWS) an objective of some settings on each draw of documents."""
    objective = surface.objectives[number]
    parts = {
        name: surface.sums[name].among(places).under(weights[1:])
        for name in objective.weights
        if name in surface.sums
    }
    rest = [name for name in objective.weights if name not in parts]
    if rest:
        again = problem.replayed([surface.points[place] for place in places.tolist()])
        parts |= {name: draws.under(name, again, weights[1:]) for name in rest}
    return draws.weighed(objective, parts)


def _ends(values: list[Value]) -> tuple[Value, Value]:
    ranked = sorted(values, key=float)
    return ranked[0], ranked[-1]
