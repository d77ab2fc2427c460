"""Nested cross-validation by source document: what tuning is worth on documents it did not see."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.errors import UsageError
from evals.recording import RecordedCase
from evals.replayed import BY_PROFILE, Replayed
from evals.tuning.problem import Problem, clusters_of
from evals.tuning.space import Point
from evals.tuning.surface import Surface

Flags = NDArray[np.bool_]
Search = Callable[[Flags], Surface]
"""Searches on the cases that are flagged (Q,) and gives all it tried."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Validated:
    """``held_out``: the base profile and what each fold's search chose (in that order), every case judged by the setting
    that was chosen without its document. ``points``: the choice of each fold, None where no setting was feasible."""

    held_out: Replayed
    points: tuple[Point | None, ...]


def folds_of(cases: Sequence[RecordedCase], count: int, *, seed: int = 0) -> NDArray[np.intp]:
    """(Q,) the fold of each case: a document is in one fold, folds are as even as documents allow, and each kind
    (answerable or not) is spread over them.

    Raises:
        UsageError: fewer documents than folds.
    """
    codes, clusters = clusters_of(cases)
    if not 2 <= count <= clusters:
        raise UsageError(
            f"--folds must be from 2 to the number of documents asked about, {clusters}, got {count}"
        )
    size = np.bincount(codes, minlength=clusters)
    yes = np.bincount(codes, weights=[case.case.answerable is True for case in cases], minlength=clusters)
    order = np.random.default_rng(seed).permutation(clusters)
    order = order[np.argsort(-size[order], kind="stable")]
    filled = np.zeros((count, 2))
    fold_of = np.zeros(clusters, dtype=np.intp)
    for place in order.tolist():
        adds = np.array([yes[place], size[place] - yes[place]])
        kind = int(adds[1] > adds[0])
        fold_of[place] = np.lexsort((filled.sum(axis=1), filled[:, kind]))[0]
        filled[fold_of[place]] += adds
    return fold_of[codes]


def validated(problem: Problem, folds: NDArray[np.intp], among: Flags, search: Search) -> Validated:
    """Searches once for each fold on the other folds' cases, and judges the fold by what was chosen. ``folds`` (Q,) means
    something ``among`` (Q,) the cases that take part.

    A setting has nothing to be fitted, so its figure on the inner folds pooled is its figure on all of them: the choice
    on the training cases is the inner cross-validation. A fold without a feasible setting keeps the base profile.
    Source: Varma & Simon, BMC Bioinformatics 2006 (nested); Roberts et al., Ecography 2017 (by groups).
    """
    points: list[Point | None] = []
    for fold in range(int(folds.max()) + 1):
        surface = search(among & (folds != fold))
        best = surface.best()
        points.append(None if best is None else surface.points[best])
    every = problem.replayed([problem.start, *(point or problem.start for point in points)])
    return Validated(held_out=_held_out(every.among(among), folds[among]), points=tuple(points))


def _held_out(every: Replayed, folds: NDArray[np.intp]) -> Replayed:
    """The base profile, and of each case the row of its fold's choice."""
    rows = np.stack([np.zeros_like(folds), folds + 1])
    columns = np.arange(len(folds))
    of_profile = {name: getattr(every, name)[rows, columns] for name in BY_PROFILE}
    retrieval = {name: values[every.ranking_of[rows], columns] for name, values in every.retrieval.items()}
    return replace(
        every, profiles=every.profiles[:2], ranking_of=np.arange(2), retrieval=retrieval, **of_profile
    )
