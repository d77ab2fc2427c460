"""Tuning from end to end: search, what it is worth on cases that chose nothing, how flat it is, and what is promised."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from core.errors import UsageError
from core.profile import Profile
from core.progress import Progress, quiet
from evals.replayed import Replayed
from evals.tuning import crossval, promised
from evals.tuning.draws import Compared, compared
from evals.tuning.explore import Explorer, Search
from evals.tuning.flatness import Flat, flat
from evals.tuning.objective import better, infeasible, one_figure
from evals.tuning.problem import Problem, clusters_of
from evals.tuning.promise import Promise
from evals.tuning.samplers import STATIC
from evals.tuning.sensitivity import Effect, effects, never_act
from evals.tuning.space import MAIN_CUT, Axis, Point, parse_axes
from evals.tuning.surface import Surface, front

Flags = NDArray[np.bool_]
REPORTED = (
    "balanced_correct", "decision_f1", "g_mean", "answered_answerable", "false_answer_rate", "selective_risk",
    "citation_f1", "ndcg@10", "auroc",
)  # fmt: skip
"""Figures that are told before and after, beside those that decide."""


class ConstantError(UsageError):
    """No setting changes the objective: there is nothing to choose by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How to search. Either ``report`` names the cases (Q,) that choose nothing and judge the choice, or ``folds`` says
    into how many parts the documents are cut. With neither, nothing is tuned and all cases test the promise."""

    search: Search = "sobol"
    trials: int = 512
    seed: int = 0
    chosen: Flags
    report: Flags | None = None
    folds: int | None = None
    promise: Promise | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tuned:
    """What came of it. ``profile`` is None where no setting met the constraints (``why_not`` says which and how near) or
    the promise could not be given, ``found`` is what the search alone chose; ``best`` is the place of that on the
    ``surface``, ``front`` those of two objectives.

    ``held_out``: before and after on the cases that chose nothing; with ``folds``, of the settings chosen in the folds.
    """

    problem: Problem
    plan: Plan
    profile: Profile | None
    found: Profile | None = None
    surface: Surface | None = None
    best: int | None = None
    front: tuple[int, ...] = ()
    flat: Flat | str = ""
    effects: tuple[Effect, ...] = ()
    held_out: tuple[Compared, ...] = ()
    fold_points: tuple[Point | None, ...] = ()
    promise: promised.Kept | None = None
    why_not: str | None = None
    seconds: float = 0.0


def tune(
    problem: Problem,
    plan: Plan,
    *,
    progress: Progress = quiet,
    keep: Callable[[Surface], None] = lambda surface: None,
) -> Tuned:
    """Searches, unless nothing is varied, then gives the promise that is asked for. ``keep`` is handed the surface when
    the search ends or is stopped by Ctrl-C.

    Raises:
        ConstantError: no setting changes the objective; the message says which thresholds never act. RecordingError: a
            setting asks for what was not recorded.
    """
    begun = perf_counter()
    tuned = _searched(problem, plan, progress, keep) if problem.axes else _untuned(problem, plan)
    if plan.promise is not None and tuned.profile is not None:
        tuned = _promised(tuned, plan.promise)
    return replace(tuned, seconds=perf_counter() - begun)


def cut_axis(problem: Problem) -> Axis:
    """The cut a promise moves: over the range it is varied in, else from 0 to 1."""
    name = MAIN_CUT[problem.base.recipe]
    varied = [axis for axis in problem.axes if axis.name == name]
    return varied[0] if varied else parse_axes([f"{name}=0:1"], problem.base.recipe)[0]


def _searched(problem: Problem, plan: Plan, progress: Progress, keep: Callable[[Surface], None]) -> Tuned:
    surface = _explored(problem, plan, plan.chosen, progress, keep)
    why_not = infeasible(problem.constraints, surface.figures)
    if surface.constant and not why_not:
        raise ConstantError(_constant(problem, plan, surface))
    best = surface.best()
    if best is None:
        said = why_not or "no setting has a value for every objective"
        return Tuned(problem=problem, plan=plan, profile=None, surface=surface, why_not=said)
    found = effects(problem, surface.points[best], plan.chosen)
    idle = {effect.name for effect in found if not effect.acts}
    profile = problem.profile({**surface.points[best], **{name: problem.start[name] for name in idle}})
    on = _among(problem.replayed([surface.points[best]]), plan.chosen)
    tuned = Tuned(
        problem=problem, plan=plan, profile=profile, found=profile, surface=surface, best=best, effects=found,
        front=tuple(front(surface.scores, surface.feasible).tolist()) if len(problem.objectives) > 1 else (),
        flat=flat(problem, surface, best, on, seed=plan.seed),
    )  # fmt: skip
    return _judged(tuned, progress)


def _explored(
    problem: Problem, plan: Plan, chosen: Flags, progress: Progress, keep: Callable[[Surface], None]
) -> Surface:
    explorer = Explorer(problem=problem, chosen=chosen, progress=progress)
    try:
        return explorer.run(plan.search, plan.trials, seed=plan.seed)
    finally:
        if explorer.points:
            keep(explorer.surface())


def _judged(tuned: Tuned, progress: Progress) -> Tuned:
    """With what the choice is worth on cases that chose nothing."""
    problem, plan = tuned.problem, tuned.plan
    told = [one_figure(name) for name in dict.fromkeys((*problem.figures, *REPORTED)) if better(name)]
    objectives = [
        *problem.objectives,
        *(one for one in told if one.text not in {o.text for o in problem.objectives}),
    ]
    if plan.folds is not None:
        among = np.flatnonzero(plan.chosen)
        folds = np.full(len(plan.chosen), -1)
        folds[among] = crossval.folds_of(
            [problem.recording.cases[place] for place in among.tolist()], plan.folds, seed=plan.seed
        )
        found = crossval.validated(problem, folds, plan.chosen, _search_again(tuned, progress))
        held_out = compared(objectives, found.held_out, seed=plan.seed)
        return replace(tuned, held_out=tuple(held_out), fold_points=found.points)
    if plan.report is None or tuned.profile is None:
        return tuned
    point = {axis.name: tuned.profile.values[axis.name] for axis in problem.axes}
    both = _among(problem.replayed([problem.start, point]), plan.report)
    return replace(tuned, held_out=tuple(compared(objectives, both, seed=plan.seed)))


def _search_again(tuned: Tuned, progress: Progress) -> crossval.Search:
    """The same search on fewer cases. Settings that looked at no figure are the same again, and so are their sums; those
    around the best are looked for anew, since the cases left out had a say in where that is."""
    problem, plan, surface = tuned.problem, tuned.plan, tuned.surface
    if surface is None or plan.search not in STATIC or set(problem.figures) > set(surface.sums):
        return lambda chosen: _explored(problem, plan, chosen, progress, lambda surface: None)
    among = np.flatnonzero(plan.chosen)
    codes, clusters = clusters_of([problem.recording.cases[place] for place in among.tolist()])

    def of_some(chosen: Flags) -> Surface:
        weights = np.zeros((1, clusters))
        weights[0, codes[chosen[among]]] = 1
        proposed = np.arange(surface.proposed)
        sums = {name: surface.sums[name].among(proposed) for name in problem.figures}
        figures = {name: one.under(weights)[:, 0] for name, one in sums.items()}
        own = replace(surface, points=surface.points[: surface.proposed], figures=figures, sums=sums)
        best = own.best()
        if best is None:
            return own
        explorer = Explorer(problem=problem, chosen=chosen)
        explorer.add([problem.start, own.points[best]])
        return explorer.refine()

    return of_some


def _untuned(problem: Problem, plan: Plan) -> Tuned:
    return Tuned(problem=problem, plan=plan, profile=problem.base)


def _promised(tuned: Tuned, promise: Promise) -> Tuned:
    """With the promised cut in the profile, tested on the cases that chose nothing."""
    problem, plan = tuned.problem, tuned.plan
    assert tuned.profile is not None
    cut = cut_axis(problem)
    values = promised.in_testing_order(promise, cut)
    given = replace(problem, base=tuned.profile, axes=(cut,))
    testing = plan.chosen if plan.report is None else plan.report
    replayed = _among(given.replayed([{cut.name: value} for value in values]), testing)
    kept = promised.kept(promise, cut.name, values, replayed, seed=plan.seed)
    profile = None if kept.value is None else tuned.profile.with_values({cut.name: kept.value})
    return replace(tuned, promise=kept, profile=profile)


def _constant(problem: Problem, plan: Plan, surface: Surface) -> str:
    """Why a sweep that changes nothing is refused."""
    names = " and ".join(objective.text for objective in problem.objectives)
    value = problem.objectives[0].shown(float(surface.scores[0, 0]))
    said = f"it is {value:.3f} for all {len(surface.points)}"
    if np.isnan(value):
        said = "it has no value on these cases"
    found = effects(problem, problem.start, plan.chosen)
    idle = never_act(found)
    acting = ", ".join(effect.name for effect in found if effect.acts)
    why = f"without any effect on these cases: {idle}" if idle else ""
    other = f"with an effect on other figures only: {acting}" if acting else ""
    return (
        f"no setting changes {names} ({said}), so there is nothing to choose by: "
        f"{'; '.join(part for part in (why, other) if part)}. Vary other thresholds, or tune for another figure"
    )


def _among(replayed: Replayed, chosen: Flags) -> Replayed:
    return replayed if chosen.all() else replayed.among(chosen)


def figures_of(surface: Surface, place: int) -> Mapping[str, float]:
    """Every figure of one setting on the cases that were searched on; those without a value are left out."""
    return {
        name: float(values[place]) for name, values in surface.figures.items() if not np.isnan(values[place])
    }
