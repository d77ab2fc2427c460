"""What `assay curves` writes, one file name each: a table, and a figure when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import pandas as pd

from core.errors import RecordingError
from evals.curves import drawn, of_profiles, of_run
from evals.curves.of_recording import FIGURES, RecordingCurves, together

if TYPE_CHECKING:
    from evals.run_folder import Run

OF_RUNS = ("risk-coverage", "roc", "cuts", "distributions")
OF_RECORDINGS = (*OF_RUNS, "sensitivity", "interaction")
CAPTION = {"cuts": "cut"}
"""Of recordings, where it is another than the curve's name."""
_AROUND = ("sensitivity", "interaction")


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """``stem`` names the file; ``caption`` is the key of ``drawn.CAPTIONS``; ``said`` is worth telling beside it."""

    stem: str
    caption: str
    table: pd.DataFrame
    draw: Callable[[], Any]
    said: str = ""


def of_runs(names: Sequence[str], runs: Mapping[str, Run]) -> list[Drawing]:
    """The curves of ``OF_RUNS`` that are named; several runs share the axes of risk-coverage and ROC."""
    rows = {run: loaded.rows for run, loaded in runs.items()}
    spaces = {
        run: next((str(row["confidence_space"]) for row in of if row.get("confidence_space")), "")
        for run, of in rows.items()
    }
    found: list[Drawing] = []
    for name in names:
        if name in ("risk-coverage", "roc"):
            found.append(_shared(name, rows))
            continue
        table, draw = (
            (of_run.answered, drawn.cuts) if name == "cuts" else (of_run.confidences, drawn.distributions)
        )
        found += [
            Drawing(
                stem=_stem(name, rows, run), caption=name, table=table(rows[run]),
                draw=partial(draw, rows[run], spaces[run]),
            )
            for run in rows
        ]  # fmt: skip
    return found


def of_recordings(
    names: Sequence[str],
    recordings: Mapping[str, RecordingCurves],
    *,
    objective: str,
    pairs: Sequence[tuple[str, str]] = (),
    points: int | None = None,
) -> list[Drawing]:
    """The curves of ``OF_RECORDINGS`` that are named. Recordings that differ in the variant of what is unanswerable alone
    also share cuts and distributions. Under a learned gate there are none around the profile.

    Raises:
        RecordingError: what lies around a profile with a learned gate is asked for alone, or pairs are.
    """
    rows = {name: curves.rows for name, curves in recordings.items()}
    gated = any(curves.profile.learned_gate for curves in recordings.values())
    if gated and (pairs or set(names) <= set(_AROUND)):
        raise RecordingError(
            "the profile judges by a learned gate, which reads texts, so its thresholds are not moved over a recording; "
            "ask for --figure cuts, which has the gate's own cut, or leave the gate out of the profile"
        )
    found: list[Drawing] = []
    for name in names:
        if name in ("risk-coverage", "roc"):
            found.append(_shared(name, rows))
        elif name == "cuts":
            tables = {one: curves.cuts(points=points) for one, curves in recordings.items()}
            found += _by_kind(name, recordings, tables, lambda table, space: drawn.cut(table))
        elif name == "distributions":
            tables = {one: curves.distributions() for one, curves in recordings.items()}
            found += _by_kind(name, recordings, tables, drawn.distribution)
    if not gated and set(names) & set(_AROUND):
        around = [
            _around(name, recordings, names, objective=objective, pairs=pairs, points=points)
            for name in recordings
        ]
        found += chain.from_iterable(around)
    return found


def _around(
    name: str,
    recordings: Mapping[str, RecordingCurves],
    wanted: Sequence[str],
    *,
    objective: str,
    pairs: Sequence[tuple[str, str]],
    points: int | None,
) -> list[Drawing]:
    """Sensitivity and heat maps of one recording; the pairs that are not named follow from the sensitivity."""
    curves, found = recordings[name], list[Drawing]()
    if "sensitivity" in wanted or not pairs:
        figures = list(dict.fromkeys([objective, *FIGURES]))
        table = curves.sensitivity(figures, points=points)
        pairs = pairs or [of_profiles.most_sensitive(table, objective)]
        if "sensitivity" in wanted:
            found.append(
                Drawing(
                    stem=_stem("sensitivity", recordings, name), caption="sensitivity", table=table,
                    draw=partial(drawn.sensitivity, table, figures), said=_told(table, objective),
                )
            )  # fmt: skip
    for pair in pairs if "interaction" in wanted else ():
        cells = curves.interaction(*pair, objective, points=points)
        stands = (curves.profile.number(pair[0]), curves.profile.number(pair[1]))
        found.append(
            Drawing(
                stem=f"{_stem('interaction', recordings, name)}-{'-'.join(pair)}", caption="interaction",
                table=of_profiles.long(cells, objective),
                draw=partial(drawn.interaction, cells, objective, stands),
            )
        )  # fmt: skip
    return found


def _told(table: pd.DataFrame, objective: str) -> str:
    effects = of_profiles.effects(table, objective)
    moved = effects[effects["spread"] > 1e-9]
    still = ", ".join(effects.loc[~(effects["spread"] > 1e-9), "threshold"])
    most = ", ".join(
        f"{row.threshold} ({row.lowest:.3f} to {row.highest:.3f})" for row in moved.head(3).itertuples()
    )
    now = effects["current"].iloc[0]
    return (
        f"{objective} is {now:.3f}; alone it is moved by {most or 'nothing'}"
        + (f"; not moved by {still}" if still else "")
    )  # fmt: skip


def _by_kind(
    name: str,
    recordings: Mapping[str, RecordingCurves],
    tables: Mapping[str, pd.DataFrame],
    draw: Callable[[pd.DataFrame, str], Any],
) -> list[Drawing]:
    """One for each table; one of all where they go together. ``draw`` takes the table and the space of its confidence."""
    joined = _by_variant(recordings, tables)
    return [
        Drawing(
            stem=_stem(name, joined, one), caption=CAPTION.get(name, name), table=table,
            draw=partial(draw, table, recordings[one].space),
        )
        for one, table in joined.items()
    ]  # fmt: skip


def _by_variant(
    recordings: Mapping[str, RecordingCurves], tables: Mapping[str, pd.DataFrame]
) -> Mapping[str, pd.DataFrame]:
    """One table of all where only the variant differs, under the first one's name; else those there are."""
    headers = [curves.recording.header for curves in recordings.values()]
    variants = [header.variant for header in headers]
    same = all((one.datasets, one.recipe) == (headers[0].datasets, headers[0].recipe) for one in headers)
    if len(tables) < 2 or not same or len(set(variants)) < len(variants):
        return tables
    return {next(iter(tables)): together(dict(zip(variants, tables.values(), strict=True)))}


def _shared(name: str, rows: Mapping[str, of_run.Rows]) -> Drawing:
    table, draw = (
        (of_run.risk_coverage, drawn.risk_coverage) if name == "risk-coverage" else (of_run.answered, drawn.roc)
    )  # fmt: skip
    stacked = [table(each).assign(run=run) for run, each in rows.items()]
    return Drawing(
        stem=name, caption=name, table=pd.concat(stacked, ignore_index=True), draw=partial(draw, rows)
    )


def _stem(name: str, every: Mapping[str, Any], one: str) -> str:
    """Numbered where there are several."""
    return name if len(every) == 1 else f"{name}-{list(every).index(one) + 1}"
