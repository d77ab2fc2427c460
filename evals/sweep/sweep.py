"""A sweep from end to end: each arm recorded (once for all arms that differ in thresholds only), tuned by replay, judged
on cases that chose nothing; stopped by time or Ctrl-C it goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import AssayError, UsageError
from core.profile import Profile, to_toml
from core.progress import Progress, quiet
from core.thresholds import Setting, for_recipe
from core.workspace import Workspace
from evals.cases import Variant
from evals.record import WIDTHS, record
from evals.recording import Recording
from evals.recording_files import load, save
from evals.replay import replay
from evals.run_files import RunLog, line, written
from evals.runs import LabelledCase
from evals.scoring import Row
from evals.sweep.arms import Arm
from evals.sweep.corpora import Corpora
from evals.tuning import crossval
from evals.tuning.explore import Search
from evals.tuning.objective import Constraint, Objective
from evals.tuning.problem import Problem
from evals.tuning.saved import bound
from evals.tuning.space import Axis
from evals.tuning.tuning import ConstantError, Plan, tune

Flags = NDArray[np.bool_]
CasesOf = Callable[[Workspace, str], tuple[list[LabelledCase], list[dict[str, str]]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """What is swept. ``axes``: thresholds tuned inside each arm; none: each arm is judged as the profile has them.

    ``splits``: those to choose and to judge on; None: the documents are cut in two halves, the same for every arm.
    ``budget``: seconds after which no new arm begins.
    """

    arms: Sequence[Arm]
    base: Profile
    axes: tuple[Axis, ...]
    objective: Objective
    constraints: tuple[Constraint, ...] = ()
    search: Search = "sobol"
    trials: int = 256
    splits: tuple[str, str] | None = None
    variant: Variant = "near-miss"
    levels: tuple[str, ...] | None = None
    user: str
    seed: int = 0
    budget: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One arm: its ``profile`` as TOML and its judged ``rows``, or why it has none."""

    arm: Arm
    profile: str | None = None
    rows: Sequence[Row] = ()
    settings: int = 0
    seconds: float = 0.0
    failed: str | None = None


def run(
    sweep: Sweep, corpora: Corpora, cases_of: CasesOf, out: Path, *, progress: Progress = quiet
) -> tuple[list[Result], int]:
    """The arms that are done, in their order, and how many are left for another time.

    Raises:
        UsageError: ``out`` cannot be written.
    """
    try:
        (out / "arms").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{out}: no folder for results: {error.strerror}; choose another --out") from error
    begun = perf_counter()
    log = RunLog(out, _manifest(sweep))
    recorded = Recordings(sweep, corpora, cases_of, out / "recordings")
    try:
        for number, arm in enumerate(sweep.arms):
            key = (arm.name, "", 0)
            if key not in log.done:
                if sweep.budget is not None and perf_counter() - begun >= sweep.budget:
                    break
                entry = _entry(_result(sweep, arm, recorded))
                log.add(key, entry)
                log.done[key] = entry
                _write(entry, out / "arms", number)
            progress(1)
    finally:
        log.close()
    done = [_read(arm, log.done[arm.name, "", 0]) for arm in sweep.arms if (arm.name, "", 0) in log.done]
    return done, len(sweep.arms) - len(done)


class Recordings:
    """One recording for all arms that ask the same of the same corpus, kept in a folder by the digest of that."""

    def __init__(self, sweep: Sweep, corpora: Corpora, cases_of: CasesOf, folder: Path) -> None:
        self._sweep, self._corpora, self._cases_of, self._folder = sweep, corpora, cases_of, folder
        self._held: dict[str, Recording] = {}

    def of(self, arm: Arm, profile: Profile) -> Recording:
        """Made, or read where it was made before."""
        workspace, dataset = self._corpora.of(arm)
        widths = self._widths(profile)
        key = self._key(workspace, dataset, profile, widths)
        if key not in self._held:
            self._held.clear()  # arms that share one follow each other; memory holds one
            self._held[key] = self._read(self._folder / key) or self._made(
                workspace, dataset, profile, widths, self._folder / key
            )
        return self._held[key]

    def _read(self, folder: Path) -> Recording | None:
        return load(folder) if folder.exists() else None

    def _made(
        self, workspace: Workspace, dataset: str, profile: Profile, widths: Mapping[str, int], folder: Path
    ) -> Recording:
        cases, broken = self._cases_of(workspace, dataset)
        made = record(
            workspace, cases, recipe=profile.recipe, profile=profile, variant=self._sweep.variant,
            levels=self._sweep.levels, widths=widths if profile.recipe != "graph" else None, broken=broken,
            user_id=self._sweep.user,
        )  # fmt: skip
        folder.parent.mkdir(parents=True, exist_ok=True)
        save(made, folder)
        return load(folder)

    def _widths(self, profile: Profile) -> dict[str, int]:
        """As wide as the arm and what is tuned inside it reach."""
        if profile.recipe == "graph":
            return {}
        tuned = {axis.name: int(axis.high) for axis in self._sweep.axes}
        return {
            name: max(profile.count(name), tuned.get(name, 0), width if name != "rerank.depth" else 0)
            for name, width in WIDTHS.items()
        }

    def _key(self, workspace: Workspace, dataset: str, profile: Profile, widths: Mapping[str, int]) -> str:
        methods = {
            knob.name: profile.values[knob.name]
            for knob in for_recipe(profile.recipe)
            if isinstance(knob, Setting)
        }
        content = workspace.store.content_hash(workspace.store.dataset(dataset, self._sweep.user).dataset_id)
        asked = {
            "content": content, "dataset": dataset, "embedder": workspace.embedder.model_id, "methods": methods,
            "widths": dict(widths), "variant": self._sweep.variant, "levels": self._sweep.levels,
            "recipe": profile.recipe,
        }  # fmt: skip
        return sha256(line(asked).encode()).hexdigest()[:24]


def _result(sweep: Sweep, arm: Arm, recorded: Recordings) -> Result:
    """An arm that cannot be had is a failed arm: it never takes the sweep down."""
    begun = perf_counter()
    try:
        base = arm.profile(sweep.base)
        recording = recorded.of(arm, base)
        base.bind(recording.header.spaces)
        chosen, judged = _parts(sweep, recording)
        profile, settings = base, 1
        if sweep.axes:
            profile, settings = _tuned(sweep, recording, base, chosen, judged)
        rows = replay(recording, [profile]).among(judged).rows(0)
        text = to_toml(bound(profile, recording.header.spaces))
    except AssayError as error:
        return Result(arm=arm, failed=str(error), seconds=perf_counter() - begun)
    named = [{**row, "dataset": "", "cluster": str(row["cluster"]).partition("\x1f")[2]} for row in rows]
    return Result(arm=arm, profile=text, rows=named, settings=settings, seconds=perf_counter() - begun)


def _tuned(
    sweep: Sweep, recording: Recording, base: Profile, chosen: Flags, judged: Flags
) -> tuple[Profile, int]:
    """What the search chose; the profile as it is where nothing that is varied changes anything."""
    varied = tuple(axis for axis in sweep.axes if axis.name in base.values)
    problem = Problem(
        recording=recording,
        base=base,
        axes=varied,
        objectives=(sweep.objective,),
        constraints=sweep.constraints,
    )
    plan = Plan(search=sweep.search, trials=sweep.trials, seed=sweep.seed, chosen=chosen, report=judged)
    try:
        tuned = tune(problem, plan)
    except ConstantError:
        return base, 1
    if tuned.profile is None or tuned.surface is None:
        raise UsageError(tuned.why_not or "nothing was found")
    return tuned.profile, len(tuned.surface.points)


def _parts(sweep: Sweep, recording: Recording) -> tuple[Flags, Flags]:
    """(Q,) the cases to choose on and those to judge on; all of them where nothing is chosen."""
    every = np.ones(len(recording.cases), dtype=bool)
    if sweep.splits is not None:
        split = np.array([case.case.split or "" for case in recording.cases])
        return split == sweep.splits[0], split == sweep.splits[1]
    if not sweep.axes:
        return every, every
    halves = crossval.folds_of(_of_one_name(recording), 2, seed=sweep.seed)
    return halves == 0, halves == 1


def _of_one_name(recording: Recording) -> list[Any]:
    """The cases under one dataset's name, so that every arm's halves hold the same documents."""
    return [replace(case, dataset="") for case in recording.cases]


def _manifest(sweep: Sweep) -> dict[str, Any]:
    """What a sweep must share with the one it goes on with; the arms may be others."""
    return {
        "base": sweep.base.fingerprint,
        "tuned": [(axis.name, axis.low, axis.high, list(axis.values)) for axis in sweep.axes],
        "objective": sweep.objective.text,
        "constraints": [one.text for one in sweep.constraints],
        "search": [sweep.search, sweep.trials, sweep.seed],
        "splits": sweep.splits,
        "variant": sweep.variant,
        "levels": sweep.levels,
    }


def _entry(result: Result) -> dict[str, Any]:
    """What the log keeps of an arm; one that failed is tried again by the next run."""
    told = {"profile": result.profile, "settings": result.settings, "seconds": result.seconds}
    return {"failed": result.failed, **told} if result.failed else {"row": list(result.rows), **told}


def _read(arm: Arm, entry: Mapping[str, Any]) -> Result:
    return Result(
        arm=arm, profile=entry["profile"], rows=entry.get("row", ()), settings=entry["settings"],
        seconds=entry["seconds"], failed=entry.get("failed"),
    )  # fmt: skip


def _write(entry: Mapping[str, Any], folder: Path, number: int) -> None:
    """The arm's profile and rows as files of their own."""
    if entry["profile"] is None:
        return
    with written(folder / f"{number + 1:03d}.toml") as file:
        file.write(entry["profile"])
    with written(folder / f"{number + 1:03d}.rows.jsonl") as file:
        file.writelines(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in entry["row"])
