"""What `assay tune` does: records, or takes a recording; tunes; writes the surface and the profile."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core import profile as profiles
from core.errors import UsageError
from core.profile import Profile
from core.progress import bar
from core.trace import Recipe
from core.workspace import Workspace
from evals.record import WIDTHS, record
from evals.recording import Recording
from evals.recording_files import load
from evals.runs import select_cases
from evals.tuning import promised, report, saved, surface
from evals.tuning.objective import parse_constraint, parse_objective
from evals.tuning.origin import described, made_of, outcome
from evals.tuning.problem import Problem
from evals.tuning.promise import Promise, parse_promise
from evals.tuning.request import Request
from evals.tuning.space import Axis, parse_axes
from evals.tuning.tuning import Plan, Tuned, tune

INFEASIBLE, NOT_PROMISED = 1, 3
FOLDS = 5
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """The options read and checked, before anything costs time."""

    base: Profile
    axes: tuple[Axis, ...]
    promise: Promise | None
    surface: Path


def run(request: Request, *, as_json: bool = False) -> tuple[str, int]:
    """What is to be printed, and the exit code: 0, or 1 where no setting meets the constraints, or 3 where the promise
    cannot be given; no profile is written then.

    Raises:
        AssayError: an option that cannot be taken, or data it does not fit.
    """
    recording = None if request.recording is None else load(request.recording)
    wanted = _wanted(request, recording)
    recording = recording or _recorded(request, wanted)
    problem = Problem(
        recording=recording,
        base=_bound(wanted.base, recording),
        axes=wanted.axes,
        objectives=tuple(parse_objective(text) for text in request.objectives or ("balanced_correct",)),
        constraints=tuple(parse_constraint(text) for text in request.constraints),
    )
    plan, about = _plan(request, problem, wanted.promise)
    searches = (1 if plan.folds is None else 1 + plan.folds) if wanted.axes else 1
    with bar("tuning", total=request.trials * searches, unit="settings") as progress:
        tuned = tune(problem, plan, progress=progress, keep=lambda found: keep(found, wanted.surface))
    about |= outcome(tuned)
    written = {"surface": str(wanted.surface) if wanted.axes else None, "profile_file": None}
    if tuned.profile is not None and request.out is not None:
        saved.save(
            saved.bound(tuned.profile, recording.header.spaces), request.out, about, about=described(about)
        )
        written["profile_file"] = str(request.out)
    return _printed(tuned, about, written, as_json), _code(tuned)


def _wanted(request: Request, recording: Recording | None) -> _Wanted:
    """Everything that can be wrong without the data, checked first."""
    if recording is None and request.dataset is None:
        raise UsageError("--dataset is missing: name one, or give --recording")
    recorded = None if recording is None else recording.header.recipe
    recipe = request.recipe or recorded or "brain"
    if recorded is not None and recipe != recorded:
        raise UsageError(f"--recipe {recipe}: the recording is of recipe {recorded}; leave --recipe out")
    if len(request.objectives) > 2:
        raise UsageError(
            f"at most two objectives are weighed against each other, got {len(request.objectives)}"
        )
    for text in request.objectives:
        parse_objective(text)
    for text in request.constraints:
        parse_constraint(text)
    promise = None if request.promise is None else parse_promise(request.promise)
    if promise is not None:
        promised.check(promise)
    alone = promise is not None and not (request.vary or request.objectives or request.constraints)
    place = request.surface or _surface_path(request, recipe)
    surface.check_suffix(place)
    if request.out is not None and request.out.suffix != ".toml":
        raise UsageError(f"--out {request.out}: a profile's file ends in .toml")
    return _Wanted(
        base=profiles.load(request.profile, recipe),
        axes=() if alone else parse_axes(request.vary, recipe),
        promise=promise,
        surface=place,
    )


def _surface_path(request: Request, recipe: Recipe) -> Path:
    if request.out is not None:
        return request.out.with_suffix(".surface.csv")
    of = request.dataset or (request.recording.name if request.recording else "")
    name = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in of)
    return Path(".assay") / "tuning" / f"{name}-{recipe}-{request.search}-{request.seed}.csv"


def _recorded(request: Request, wanted: _Wanted) -> Recording:
    from evals.cli import stored_cases

    assert request.dataset is not None
    widths = {
        axis.name: max(
            int(axis.high), wanted.base.count(axis.name), WIDTHS[axis.name] * (axis.name != "rerank.depth")
        )
        for axis in wanted.axes
        if axis.name in WIDTHS
    }
    with Workspace.open(request.db, embedder=request.embedder, create=False) as workspace:
        stored, broken = stored_cases(workspace, request.dataset, request.user)
        cases = select_cases(stored, filters=request.filters, limit=request.limit)
        _splits(request, {case.split for _, case in cases})
        wanted.base.bind(workspace.spaces(wanted.base))
        with bar("recording", total=len(cases), unit="cases") as progress:
            return record(
                workspace, cases, recipe=wanted.base.recipe, profile=wanted.base, variant=request.variant,
                levels=request.levels, widths=widths if wanted.base.recipe != "graph" else None, broken=broken,
                user_id=request.user, progress=progress,
            )  # fmt: skip


def _bound(base: Profile, recording: Recording) -> Profile:
    base.bind(recording.header.spaces)
    recording.check(base)
    return base


def _plan(request: Request, problem: Problem, promise: Promise | None) -> tuple[Plan, dict[str, Any]]:
    recording = problem.recording
    labelled = [(case.dataset, case.case) for case in recording.cases]
    chosen = select_cases(labelled, filters=request.filters, limit=request.limit)
    there = {(dataset, case.case_id) for dataset, case in chosen}
    every = np.array([(dataset, case.case_id) in there for dataset, case in labelled])
    splits = np.array([case.split or "" for _, case in labelled])
    tune_split, report_split = _splits(request, set(splits[every]) - {""})
    plan = Plan(
        search=request.search, trials=request.trials, seed=request.seed, promise=promise,
        chosen=every if tune_split is None else every & (splits == tune_split),
        report=None if report_split is None else every & (splits == report_split),
    )  # fmt: skip
    if not problem.axes:
        plan = replace(plan, chosen=every if plan.report is None else plan.report, report=None)
    elif report_split is None:
        if promise is not None:
            raise UsageError(
                "a promise needs cases that chose nothing: give --tune-split and --report-split, or leave out --vary, "
                "--objective and --constraint and only the cut is moved"
            )
        plan = replace(plan, folds=request.folds or FOLDS)
    return plan, made_of(request, problem, plan, (tune_split, report_split))


def _splits(request: Request, there: set[Any]) -> tuple[str | None, str | None]:
    """The splits to choose on and to judge on; None and None: folds (or, with a promise alone, all cases)."""
    known = sorted(name for name in there if name)
    one, other = request.tune_split, request.report_split
    for option, split in (("--tune-split", one), ("--report-split", other)):
        if split is not None and split not in known:
            raise UsageError(f"{option} {split!r}: the cases have {', '.join(known) or 'no splits'}")
    if request.folds is not None:
        if other is not None:
            raise UsageError(
                "--folds judges on documents left out, --report-split on a split: give one of them"
            )
        return one, None
    alone = request.promise is not None and not (request.vary or request.objectives or request.constraints)
    if one is None and other is None:
        return ("dev", "test") if {"dev", "test"} <= set(known) and not alone else (None, None)
    rest = [name for name in known if name not in (one, other)]
    if alone:
        return None, other or one
    if one is not None and one == other:
        raise UsageError(
            f"--tune-split and --report-split are both {one!r}: what chose a setting cannot judge it"
        )
    if (one is None or other is None) and len(rest) != 1:
        missing = "--report-split" if other is None else "--tune-split"
        raise UsageError(f"{missing} is missing; the cases have {', '.join(known)}; or give --folds")
    return one or rest[0], other or rest[0]


def keep(found: surface.Surface, path: Path) -> None:
    """Writes a surface, and says so where the search was stopped."""
    surface.write(found, path)
    if sys.exc_info()[0] is KeyboardInterrupt:
        print(f"stopped: the {len(found.points)} settings tried so far are in {path}", file=sys.stderr)


def _printed(tuned: Tuned, about: dict[str, Any], written: dict[str, Any], as_json: bool) -> str:
    if as_json:
        body = {**json.loads(report.to_json(tuned, about)), **written}
        return json.dumps(body, ensure_ascii=False, indent=2, allow_nan=False)
    lines = [report.to_text(tuned, about)]
    if written["profile_file"]:
        lines.append(f"profile: {written['profile_file']}")
    if written["surface"]:
        lines.append(f"every setting and figure: {written['surface']}")
    return lines[0] + ("\n\n" + "\n".join(lines[1:]) if lines[1:] else "")


def _code(tuned: Tuned) -> int:
    if tuned.why_not:
        return INFEASIBLE
    return NOT_PROMISED if tuned.profile is None else 0
