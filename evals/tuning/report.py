"""A tuning as a page of text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from core.profile import Value
from evals.tuning.draws import Compared, Interval
from evals.tuning.flatness import Flat
from evals.tuning.promised import Kept
from evals.tuning.tuning import Tuned, figures_of


def to_text(tuned: Tuned, about: Mapping[str, Any]) -> str:
    """What was found, what it is worth on cases that chose nothing, how flat it is, what is promised. ``about``: what
    was tuned on, as ``origin`` holds it."""
    parts = [_head(tuned, about)]
    if tuned.surface is not None:
        parts += [_found(tuned), _thresholds(tuned), _held_out(tuned)]
    if tuned.promise is not None:
        parts.append(_promise(tuned.promise))
    if tuned.why_not:
        parts.append(f"No profile: {tuned.why_not}.")
    return "\n\n".join(part for part in parts if part)


def to_json(tuned: Tuned, about: Mapping[str, Any]) -> str:
    """The same, every number unrounded; no value is null."""
    surface, best = tuned.surface, tuned.best
    body = {
        "about": {key: value for key, value in about.items() if value is not None},
        "seconds": tuned.seconds,
        "why_not": tuned.why_not,
        "profile": None if tuned.profile is None else dict(tuned.profile.values),
        "search": None
        if surface is None
        else {
            "method": tuned.plan.search,
            "settings": len(surface.points),
            "proposed": surface.proposed,
            "feasible": int(surface.feasible.sum()),
            "start": {"setting": surface.points[0], "figures": figures_of(surface, 0)},
            "best": None
            if best is None
            else {"setting": surface.points[best], "figures": figures_of(surface, best)},
            "front": [surface.points[place] for place in tuned.front],
        },
        "flat": None
        if not isinstance(tuned.flat, Flat)
        else {
            "settings": tuned.flat.count,
            "of": tuned.flat.compared,
            "ranges": {name: list(ends) for name, ends in tuned.flat.ranges.items()},
        },
        "effects": [
            {
                "threshold": one.name, "acts": one.acts, "moves_objective": one.matters,
                "values": list(one.values), "objective": list(one.scores),
            }
            for one in tuned.effects
        ],
        "held_out": [
            {
                "figure": one.name, "before": one.before, "after": one.after, "difference": one.difference,
                "before_interval": one.before_interval, "after_interval": one.after_interval,
                "difference_interval": one.difference_interval,
            }
            for one in tuned.held_out
        ],
        "fold_settings": list(tuned.fold_points),
        "promise": None if tuned.promise is None else promise_body(tuned.promise),
    }  # fmt: skip
    return json.dumps(body, ensure_ascii=False, indent=2, allow_nan=False)


def promise_body(kept: Kept) -> dict[str, Any]:
    """What came of a promise."""
    place = kept.tested.chosen if kept.value is not None else None
    return {
        "text": kept.promise.text,
        "kept": kept.value is not None,
        "threshold": kept.cut,
        "value": kept.value,
        "documents": kept.documents,
        "cases": kept.cases,
        "errors": None if place is None else int(kept.tested.errors[place]),
        "counted": None if place is None else int(kept.tested.counted[place]),
        "p_value": None if place is None else float(kept.tested.p_values[place]),
        "interval": None if place is None else kept.tested.interval(place),
        "answered_answerable": None if place is None else float(kept.answered[place]),
        "needed": kept.needed,
    }


def _head(tuned: Tuned, about: Mapping[str, Any]) -> str:
    return (
        f"{about['dataset']}, recipe {tuned.problem.base.recipe}, from profile {tuned.problem.base.name}\n"
        f"tuned on {about['tuned_on']}; judged on {about['judged_on']}"
    )


def _found(tuned: Tuned) -> str:
    surface, problem = tuned.surface, tuned.problem
    assert surface is not None
    lines = [
        f"{len(surface.points)} settings ({surface.proposed} by {tuned.plan.search}, the rest around the best) in "
        f"{tuned.seconds:.1f} s"
        + (f", {int(surface.feasible.sum())} meet the constraints" if problem.constraints else "")
    ]
    if tuned.best is None:
        return lines[0]
    for number, objective in enumerate(problem.objectives):
        start, best = (objective.shown(float(surface.scores[place, number])) for place in (0, tuned.best))
        lines.append(
            f"{objective.text}: {start:.3f} → {best:.3f} where it was chosen (so seen too well; see below)"
        )
    if tuned.front:
        lines.append(
            f"{len(tuned.front)} settings on the front of both; taken: the highest sum of both, scaled"
        )
    return "\n".join(lines)


def _thresholds(tuned: Tuned) -> str:
    if tuned.found is None:
        return ""
    profile = tuned.profile or tuned.found
    problem, flat = tuned.problem, tuned.flat
    ranges = flat.ranges if isinstance(flat, Flat) else {}
    rows = [("threshold", "before", "tuned", "within noise of the best", "")]
    for axis, effect in zip(problem.axes, tuned.effects, strict=True):
        ends = ranges.get(axis.name)
        said = (
            "never acts: kept as it was"
            if not effect.acts
            else ""
            if effect.matters
            else "moves other figures only"
        )
        if tuned.promise is not None and tuned.profile is not None and axis.name == tuned.promise.cut:
            said = "set by the promise"
        rows.append(
            (
                axis.name, _value(problem.base.values[axis.name]), _value(profile.values[axis.name]),
                f"{_value(ends[0])} … {_value(ends[1])}" if ends and effect.acts else "", said,
            )
        )  # fmt: skip
    said = (
        f"{flat.count} of {flat.compared} settings cannot be told from the best by these cases: read no digit that "
        "the ranges do not fix."
        if isinstance(flat, Flat)
        else f"How flat the best is cannot be said: {flat}."
    )
    return f"{_table(rows)}\n{said}"


def _held_out(tuned: Tuned) -> str:
    if not tuned.held_out:
        return ""
    label = "on cases that chose nothing"
    if tuned.promise is not None:
        label += ", before the promise moved the cut"
    rows = [(label, "before", "after", "difference", "")]
    for one in tuned.held_out:
        if one.before is None and one.after is None:
            continue
        rows.append((one.name, *_told(one)))
    return _table(rows)


def _told(one: Compared) -> tuple[str, str, str, str]:
    apart = one.difference_interval
    unclear = apart is not None and apart[0] <= 0 <= apart[1]
    same = one.difference is not None and abs(one.difference) < 1e-12
    return (
        _with(one.before, one.before_interval),
        _with(one.after, one.after_interval),
        "0" if same else _with(one.difference, apart, signed=True),
        "" if same or apart is None else "chance may explain it" if unclear else "more than chance",
    )


def _promise(kept: Kept) -> str:
    promise, tested = kept.promise, kept.tested
    counted = f"{kept.documents} documents" + (
        f" (one case of each, of {kept.cases} cases)" if kept.cases > kept.documents else ""
    )
    if kept.value is not None and tested.chosen is not None:
        place = tested.chosen
        low, high = tested.interval(place)
        return (
            f"Promised: {promise.text} with {kept.cut} = {_value(kept.value)}\n"
            f"{tested.errors[place]} errors of {tested.counted[place]} counted, out of {counted}; "
            f"p = {tested.p_values[place]:.3g} ≤ {1 - promise.confidence:.3g}; Clopper-Pearson of the risk "
            f"[{low:.3f}, {high:.3f}]; answers {kept.answered[place]:.2f} of the answerable\n"
            "It holds for cases drawn like these; other documents, questions or models need another test."
        )
    why = "at the cuts tested, only answering nothing passes" if tested.kept else _safest(kept)
    need = f"would need about {kept.needed} documents" if kept.needed else "no number of such cases would do"
    return f"Cannot be promised: {promise.text} with n = {kept.documents}: {why}; {need}."


def _safest(kept: Kept) -> str:
    tested = kept.tested
    if not len(tested.p_values) or (tested.counted[0] == 0 and not tested.counted.any()):
        return "no case counts"
    return (
        f"at the safest cut, {kept.cut} = {_value(kept.values[0])}, {tested.errors[0]} of {tested.counted[0]} went "
        f"wrong (p = {tested.p_values[0]:.3g})"
    )


def _with(value: float | None, ends: Interval | None, *, signed: bool = False) -> str:
    if value is None:
        return "–"
    number = f"{value:+.3f}" if signed else f"{value:.3f}"
    return number if ends is None else f"{number} [{ends[0]:.3f}, {ends[1]:.3f}]"


def _value(value: Value) -> str:
    return f"{value:g}" if isinstance(value, int | float | np.number) else str(value)


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
