"""Evidence in time and space: tables and figures of what held when, and of what lies where. Nothing is fetched."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.geo.sphere import EARTH_RADIUS_KM
from core.records import Fact
from core.trace import Nearby, Trace
from workbench import cards, frames, palette, provenance
from workbench.charts import laid_out, wrapped
from workbench.plain import markup, number, shortened

MAX_ROWS = 24
"""Rows of a timeline; the cited come first."""
LABEL = 46
TIMES = {
    "cited": palette.GREEN,
    "closest": palette.VERMILLION,
    "considered": palette.SKY,
    "superseded": palette.GREY,
}
CIRCLE = np.radians(np.linspace(0, 360, 91))
GRID = "rgba(128,128,128,0.35)"


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
            what = cards.handle(item) if item.kind != "node" else (item.name or shortened(item.text, LABEL))
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
    names = [_label(row) for row in times.itertuples()]
    for role, color in TIMES.items():
        picked = [(place, row) for place, row in enumerate(times.itertuples()) if row.role == role]
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


def _ends(row: object, first: pd.Timestamp, last: pd.Timestamp) -> tuple[object, object, None]:
    start, end, lasts = row.start, row.end, row.lasts  # type: ignore[attr-defined]
    if not lasts:
        return start, None, None
    return (first if pd.isna(start) else start), (last if pd.isna(end) else end), None


def _marks(row: object) -> tuple[str, str, str]:
    if not row.lasts:  # type: ignore[attr-defined]
        return "diamond", "circle", "circle"
    open_end = pd.isna(row.end)  # type: ignore[attr-defined]
    return "line-ns", "triangle-right" if open_end else "line-ns", "circle"


def _dash(role: str) -> str:
    return "dot" if role == "superseded" else "solid"


def _label(row: object) -> str:
    cited = "" if pd.isna(row.cited) else f"[{int(row.cited)}] "  # type: ignore[attr-defined]
    return markup(cited + shortened(str(row.what), LABEL))  # type: ignore[attr-defined]


def _hover(row: object) -> str:
    start, end = (str(part)[:10] if not pd.isna(part) else "" for part in (row.start, row.end))  # type: ignore[attr-defined]
    held = f"{start or '…'} to {end or 'now'}" if row.lasts else start  # type: ignore[attr-defined]
    return f"<b>{held}</b> ({row.role})<br>{wrapped(str(row.text))}"  # type: ignore[attr-defined]


def places(nearby: Nearby) -> pd.DataFrame:
    """The places searched around and what lies within: ``name, what, latitude, longitude, km, anchor``, nearest first."""
    columns = ["name", "what", "latitude", "longitude", "km", "anchor"]
    around = [(a.name, "searched around", a.latitude, a.longitude, 0.0, a.name) for a in nearby.anchors]
    found = [(f.name, f.type, f.latitude, f.longitude, f.distance_km, f.anchor) for f in nearby.found]
    return pd.DataFrame([*around, *found], columns=columns)


def place_map(nearby: Nearby) -> go.Figure:
    """The places on a bare grid of degrees, with the circle that was searched; no background is loaded."""
    figure = go.Figure()
    for anchor in nearby.anchors:
        latitudes, longitudes = circle(anchor.latitude, anchor.longitude, nearby.radius_km)
        figure.add_scattergeo(
            lat=latitudes, lon=longitudes, mode="lines", line={"color": palette.GREY, "width": 1.5, "dash": "dot"},
            hoverinfo="skip", name=f"within {number(nearby.radius_km)} km", showlegend=anchor is nearby.anchors[0],
        )  # fmt: skip
    table = places(nearby)
    for anchored, color, mark, name in (
        (True, palette.VERMILLION, "star", "searched around"),
        (False, palette.SKY, "circle", "found"),
    ):
        part = table[(table["what"] == "searched around") == anchored]
        figure.add_scattergeo(
            lat=part["latitude"], lon=part["longitude"], mode="markers+text", name=name,
            marker={"size": 14 if anchored else 10, "color": color, "symbol": mark},
            text=[markup(shortened(str(one), 28)) for one in part["name"]], textposition="top center",
            hovertext=[f"<b>{markup(row.name_)}</b> ({markup(row.what)})<br>{row.km:,.1f} km from {markup(row.anchor)}"
                       for row in part.rename(columns={"name": "name_"}).itertuples()],
            hoverinfo="text",
        )  # fmt: skip
    axis = {"showgrid": True, "gridcolor": GRID}
    figure.update_geos(
        visible=False,
        fitbounds="locations",
        projection_type="mercator",
        lonaxis=axis,
        lataxis=axis,
        bgcolor="rgba(0,0,0,0)",
    )
    figure.update_layout(legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0})
    return laid_out(figure, height=480)


def circle(latitude: float, longitude: float, radius_km: float) -> tuple[list[float], list[float]]:
    """Latitudes and longitudes of points ``radius_km`` away along a great circle, all the way round.

    Source: the direct problem on a sphere, R = 6371.0088 km.
    """
    distance, phi = radius_km / EARTH_RADIUS_KM, math.radians(latitude)
    sine = np.sin(phi) * math.cos(distance) + math.cos(phi) * math.sin(distance) * np.cos(CIRCLE)
    latitudes = np.arcsin(np.clip(sine, -1, 1))
    east = np.arctan2(
        np.sin(CIRCLE) * math.sin(distance) * math.cos(phi), math.cos(distance) - math.sin(phi) * sine
    )
    longitudes = (longitude + np.degrees(east) + 540) % 360 - 180
    return np.degrees(latitudes).tolist(), longitudes.tolist()


def chains(trace: Trace) -> pd.DataFrame:
    """What evidence was made from, a row a link: ``cited, hops, level, source, turn, child_id, node_id, text``."""
    columns = ["cited", "hops", "level", "source", "turn", "child_id", "node_id", "text"]
    rows = [
        (place, entry.hops, entry.level, entry.source, entry.turn, entry.child_id, entry.node_id, entry.text)
        for place, item in enumerate(trace.answer.evidence or trace.answer.closest, start=1)
        for entry in item.provenance
    ]
    return pd.DataFrame(rows, columns=columns).assign(
        text=lambda t: t["text"].map(lambda s: shortened(s, provenance.PARENT_TEXT))
    )
