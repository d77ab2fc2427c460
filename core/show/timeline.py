"""Evidence in time: what held when, as a table and as a figure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from core.records import Fact
from core.show import frames, palette
from core.show.charts import laid_out, wrapped
from core.show.evidence import handle
from core.show.plain import markup, shortened
from core.trace import Trace

MAX_ROWS = 24
"""Rows of a timeline; the cited come first."""
LABEL = 46
TIMES = {
    "cited": palette.GREEN,
    "closest": palette.VERMILLION,
    "considered": palette.SKY,
    "superseded": palette.GREY,
}


def timeline(trace: Trace, superseded: Sequence[Fact] = ()) -> pd.DataFrame:
    """One row for each dated thing, in time: ``what, role, cited, start, end, text``; null ``end`` is open or a moment.

    What is cited (or closest) first decides what is kept, then the ranking, then superseded facts; at most ``MAX_ROWS``.
    """
    columns = ["what", "role", "cited", "start", "end", "lasts", "text"]
    rows = [*_dated(trace), *(_fact_row(fact, "superseded") for fact in superseded)]
    kept = [row for row in rows if row[3] or row[4]][:MAX_ROWS]
    return pd.DataFrame(kept, columns=columns).sort_values(
        ["start", "what"], na_position="first", kind="stable"
    )


def _dated(trace: Trace) -> Iterator[tuple[object, ...]]:
    numbers = frames.cited_numbers(trace)
    closest = {item.candidate_id for item in trace.answer.closest} if trace.answer.abstained else set()
    order = dict.fromkeys([*numbers, *(i.candidate_id for i in trace.answer.closest), *trace.ranking])
    known = {item.candidate_id: item for item in trace.candidates}
    for key in order:
        item = known.get(key)
        if item is None:
            continue
        role = "cited" if key in numbers else "closest" if key in closest else "considered"
        if item.fact:
            yield _fact_row(item.fact, role, numbers.get(key))
        else:
            what = handle(item) if item.kind != "node" else (item.name or shortened(item.text, LABEL))
            yield what, role, numbers.get(key), item.valid_at, None, False, item.text


def _fact_row(fact: Fact, role: str, cited: int | None = None) -> tuple[object, ...]:
    what = f"{fact.source} {fact.relation.replace('_', ' ')} {fact.target}"
    return what, role, cited, fact.valid_at, fact.invalid_at, True, fact.description or what


def timeline_figure(table: pd.DataFrame) -> go.Figure:
    """A bar from start to end for what lasts, a mark for what has only a moment; an arrow where the end is open."""
    figure = go.Figure()
    times = table.assign(start=_moments(table["start"]), end=_moments(table["end"]))
    known = pd.concat([times["start"], times["end"]]).dropna()
    first, last = known.min(), known.max()
    spare = max((last - first) * 0.06, pd.Timedelta(days=1))
    names = [_label(row) for row in frames.each(times)]
    for role, color in TIMES.items():
        picked = [(place, row) for place, row in enumerate(frames.each(times)) if row.role == role]
        figure.add_scatter(
            x=[when for _, row in picked for when in _ends(row, first - spare, last + spare)],
            y=[place for place, _ in picked for _ in range(3)],
            mode="lines+markers",
            name=role,
            line={"color": color, "width": 7 if role != "superseded" else 3, "dash": _dash(role)},
            marker={
                "size": 11,
                "color": color,
                "symbol": [mark for _, row in picked for mark in _marks(row)],
            },
            hovertext=[_hover(row) for _, row in picked for _ in range(3)],
            hoverinfo="text",
            showlegend=bool(picked),
            connectgaps=False,
        )
    figure.update_yaxes(
        tickvals=list(range(len(names))),
        ticktext=names,
        range=[len(names) - 0.4, -0.6],
        showgrid=True,
        zeroline=False,
    )
    figure.update_xaxes(range=[first - spare * 1.4, last + spare * 1.4], type="date")
    figure.update_layout(legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0})
    return laid_out(figure, height=120 + 26 * max(len(names), 3))


def _moments(column: pd.Series) -> pd.Series:
    return pd.to_datetime(column, errors="coerce", utc=True, format="ISO8601").dt.tz_localize(None)


def _ends(row: Any, first: pd.Timestamp, last: pd.Timestamp) -> tuple[object, object, None]:
    start, end, lasts = row.start, row.end, row.lasts
    if not lasts:
        return start, None, None
    return (first if pd.isna(start) else start), (last if pd.isna(end) else end), None


def _marks(row: Any) -> tuple[str, str, str]:
    if not row.lasts:
        return "diamond", "circle", "circle"
    open_end = pd.isna(row.end)
    return "line-ns", "triangle-right" if open_end else "line-ns", "circle"


def _dash(role: str) -> str:
    return "dot" if role == "superseded" else "solid"


def _label(row: Any) -> str:
    cited = "" if pd.isna(row.cited) else f"[{int(row.cited)}] "
    return markup(cited + shortened(str(row.what), LABEL))


def _hover(row: Any) -> str:
    start, end = (str(part)[:10] if not pd.isna(part) else "" for part in (row.start, row.end))
    held = f"{start or '…'} to {end or 'now'}" if row.lasts else start
    return f"<b>{held}</b> ({row.role})<br>{wrapped(str(row.text))}"
