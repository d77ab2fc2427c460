"""Where a tuned profile came from, as its file says it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from core import clock
from evals.tuning.flatness import Flat
from evals.tuning.problem import Problem, clusters_of
from evals.tuning.request import Request, command_line
from evals.tuning.tuning import Plan, Tuned

Flags = NDArray[np.bool_]


def made_of(
    request: Request, problem: Problem, plan: Plan, splits: tuple[str | None, str | None]
) -> dict[str, Any]:
    """The data, the split and the command."""
    header = problem.recording.header
    judged = plan.report if plan.report is not None else plan.chosen
    how = "the same, by the settings of folds that left their documents out" if plan.folds else ""
    return {
        "dataset": request.dataset or ", ".join(sorted(header.datasets)),
        "content": ", ".join(f"{name} {digest}" for name, digest in sorted(header.datasets.items())),
        "variant": header.variant,
        "embedder": header.embedder,
        "base": problem.base.name,
        "tuned_on": _cases_of(problem, plan.chosen, splits[0]) if problem.axes else "nothing",
        "judged_on": how or _cases_of(problem, judged, splits[1]),
        "n": int(judged.sum()),
        "failed": len(header.failures) or None,
        "seed": request.seed,
        "date": clock.now(),
        "assay": header.assay,
        "command": command_line(request),
    }


def outcome(tuned: Tuned) -> dict[str, Any]:
    """What a profile's file says of how good it is."""
    found: dict[str, Any] = {}
    if tuned.surface is not None:
        found |= {
            "objective": " and ".join(one.text for one in tuned.problem.objectives),
            "constraints": "; ".join(one.text for one in tuned.problem.constraints) or None,
            "search": f"{tuned.plan.search}, {len(tuned.surface.points)} settings",
            "folds": tuned.plan.folds,
        }
        for one in tuned.held_out[:1]:
            ends, apart = one.after_interval, one.difference_interval
            found |= {
                "held_out_before": one.before,
                "held_out": one.after,
                "held_out_interval": ends and f"[{ends[0]:.4f}, {ends[1]:.4f}]",
                "held_out_difference_interval": apart and f"[{apart[0]:.4f}, {apart[1]:.4f}]",
            }
        if isinstance(tuned.flat, Flat):
            found["within_noise"] = "; ".join(
                f"{name} {low:g} to {high:g}" for name, (low, high) in tuned.flat.ranges.items()
            )
    if tuned.promise is not None and (place := tuned.promise.tested.chosen) is not None:
        tested, ends = tuned.promise.tested, tuned.promise.tested.interval(place)
        found |= {
            "promise": tuned.promise.promise.text,
            "promise_errors": f"{tested.errors[place]} of {tested.counted[place]}",
            "promise_interval": f"[{ends[0]:.4f}, {ends[1]:.4f}]",
        }
    return found


def described(about: dict[str, Any]) -> str:
    """One sentence for the profile's ``about``."""
    what = about.get("objective") or about.get("promise")
    return f"Tuned for {what} on {about['dataset']}, under {about['embedder']}; see [origin]."


def _cases_of(problem: Problem, chosen: Flags, split: str | None) -> str:
    cases = [problem.recording.cases[place] for place in np.flatnonzero(chosen).tolist()]
    name = "all cases" if split is None else split
    return f"{name} ({len(cases)} cases about {clusters_of(cases)[1] if cases else 0} documents)"
