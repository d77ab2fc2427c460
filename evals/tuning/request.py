"""The options of `assay tune` as they were given, and the command that gives them again."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.options import USER
from core.trace import Recipe
from evals.cases import Variant
from evals.tuning.explore import Search


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The options of the command as they were given."""

    dataset: str | None = None
    recipe: Recipe | None = None
    recording: Path | None = None
    profile: str = "default"
    vary: tuple[str, ...] = ()
    search: Search = "sobol"
    trials: int = 512
    objectives: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    promise: str | None = None
    tune_split: str | None = None
    report_split: str | None = None
    folds: int | None = None
    variant: Variant = "near-miss"
    levels: tuple[str, ...] | None = None
    filters: tuple[str, ...] = ()
    limit: int | None = None
    seed: int = 0
    out: Path | None = None
    surface: Path | None = None
    db: Path | str | None = None
    user: str = USER
    embedder: str | None = None


def command_line(request: Request, *, searched: bool = True) -> str:
    """The command that does it again, the database and the output apart; without what says how to search, unless it is
    ``searched``."""
    search: list[tuple[str, Any]] = [("--search", request.search), ("--trials", request.trials)]
    given: list[tuple[str, Any]] = [
        ("--dataset", request.dataset), ("--recipe", request.recipe), ("--recording", request.recording),
        ("--profile", request.profile), *(("--vary", one) for one in request.vary), *(search if searched else ()),
        *(("--objective", one) for one in request.objectives),
        *(("--constraint", one) for one in request.constraints), ("--promise", request.promise),
        ("--tune-split", request.tune_split), ("--report-split", request.report_split), ("--folds", request.folds),
        *([("--variant", request.variant)] if searched else ()),
        ("--levels", request.levels and ",".join(request.levels)),
        *(("--filter", one) for one in request.filters), ("--limit", request.limit), ("--seed", request.seed),
        ("--embedder", request.embedder),
    ]  # fmt: skip
    words = ["assay", "tune"]
    for option, value in given:
        words += [] if value is None else [option, str(value)]
    return shlex.join(words)
