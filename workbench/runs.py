"""The evaluations there are: folders of `assay eval --out` under one folder, read when they are looked at."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from core import profile as profiles
from core.errors import AssayError
from core.progress import Progress
from core.trace import RECIPES
from evals import compare
from evals.case_changes import CaseChange
from evals.cases import Case
from evals.compare import Change, Comparison, compare_runs
from evals.run_folder import Run, load_run
from workbench import state
from workbench.jobs import jobs
from workbench.state import View

DEPTH = 3
"""Levels of folders below the folder of runs that are looked into."""
KEPT = 8
HEADS = ("correct", "balanced_correct", "coverage", "selective_risk", "ndcg@10", "citation_f1")
"""Figures in the list of runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHead:
    """A finished run without its rows. ``name``: its folder below that of the runs; ``stamp`` changes with its files."""

    name: str
    folder: Path
    stamp: tuple[int, ...]
    written: datetime
    summary: Mapping[str, Any]

    @property
    def manifest(self) -> Mapping[str, Any]:
        """How it was made."""
        found = self.summary.get("manifest")
        return found if isinstance(found, dict) else {}

    @property
    def datasets(self) -> frozenset[str]:
        """Names of the data sets it asked."""
        return frozenset(self.manifest.get("datasets") or ())

    def value(self, figure: str) -> float | None:
        """A figure's value; None where the run has none."""
        found = self.summary.get(figure)
        value = found.get("value") if isinstance(found, dict) else None
        return float(value) if isinstance(value, int | float) else None


def found(folder: Path) -> tuple[list[RunHead], list[str]]:
    """The finished runs under ``folder``, the latest first, and what is wrong with those that cannot be read."""
    heads, wrong = [], []
    for depth in range(1, DEPTH + 1):
        for file in sorted(folder.glob("/".join(["*"] * depth) + "/summary.json")):
            try:
                heads.append(_head(folder, file))
            except (OSError, ValueError) as error:
                wrong.append(f"{file}: cannot be read: {error}")
    return sorted(heads, key=lambda head: (-head.written.timestamp(), head.name)), wrong


def overview(heads: Sequence[RunHead]) -> pd.DataFrame:
    """One row a run: how it was made, how many cases, and the figures one looks at first."""
    rows = [
        {
            "run": head.name,
            "data set": str(head.manifest.get("dataset", "")),
            "recipe": str(head.manifest.get("recipe", "")),
            "profile": str(head.manifest.get("profile", "")),
            "cases": (head.summary.get("cases") or {}).get("scored"),
            "failed": (head.summary.get("cases") or {}).get("failed"),
            **{name: head.value(name) for name in HEADS},
            "written": head.written,
        }
        for head in heads
    ]
    return pd.DataFrame(rows)


def opened(head: RunHead) -> Run:
    """The whole run, read once for each state of its files.

    Raises:
        DataError: a file of it is damaged; the message says ``file:line``.
    """
    return _opened(str(head.folder), head.stamp)


def comparing(before: RunHead, after: RunHead) -> str:
    """Starts the comparison beside the page, unless it was, and gives the key of its job: it resamples and permutes."""
    key = f"compare:{before.folder}:{before.stamp}:{after.folder}:{after.stamp}"
    if jobs().get(key) is None:

        def work(_: Progress) -> Comparison:
            return compare_runs(load_run(before.folder), load_run(after.folder), ())

        jobs().start(key, f"comparing {before.name} and {after.name}", work)
    return key


@st.cache_resource(max_entries=4 * KEPT, show_spinner="Cases and tags of this figure …")
def of_figure(key: str, figure: str, _comparison: Comparison) -> tuple[list[CaseChange], dict[str, Change]]:
    """One figure of the comparison of that key: the cases that changed, and its change by tag.

    Raises:
        UsageError: an unknown figure.
    """
    return compare.of_figure(_comparison, figure)


def ask_link(manifest: Mapping[str, Any], dataset: str, case: Case) -> str | None:
    """The address of this case's Trace on Ask, under the recipe and values of a run; None for another system's run."""
    recipe = manifest.get("recipe")
    if recipe not in RECIPES:
        return None
    wanted = str(manifest.get("profile"))
    name = wanted if wanted in profiles.shipped() else state.default_profile()
    try:
        base = profiles.load(name, recipe)
    except AssayError:
        return None
    values = manifest.get("values") or {}
    view = View(
        dataset=dataset,
        recipe=recipe,
        profile=name,
        question=case.question,
        levels=tuple(manifest.get("levels") or ()),
        as_of=case.as_of or "",
        known_at=case.known_at or "",
        changes=state.differing(base, values if isinstance(values, dict) else {}),
    )
    return state.address(view)


@st.cache_resource(max_entries=KEPT, show_spinner="Reading the run …")
def _opened(folder: str, stamp: tuple[int, ...]) -> Run:
    return load_run(Path(folder))


def _head(root: Path, file: Path) -> RunHead:
    summary = json.loads(file.read_text(encoding="utf-8"))
    if not isinstance(summary, dict) or not isinstance(summary.get("manifest"), dict):
        raise ValueError("it has no manifest; run `assay eval` again")
    folder = file.parent
    stamp = tuple(
        (folder / name).stat().st_mtime_ns if (folder / name).is_file() else 0
        for name in ("summary.json", "rows.jsonl", "failures.jsonl")
    )
    return RunHead(
        name=folder.relative_to(root).as_posix(),
        folder=folder,
        stamp=stamp,
        written=datetime.fromtimestamp(stamp[0] / 1e9, UTC),
        summary=summary,
    )
