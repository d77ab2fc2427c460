"""Charts of a Trace as Plotly figures. Pure functions; text from data is escaped, since Plotly reads tags."""

from __future__ import annotations

import math
import textwrap
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from core.show import frames, palette
from core.show.plain import markup, number, score, shortened
from core.trace import Trace

HOVER_WIDTH = 60


def funnel(trace: Trace) -> go.Figure:
    """Horizontal bars: how many candidates were left standing after each stage, first stage on top."""
    table = frames.funnel(trace)
    hover = [
        f"<b>{row.stage}</b>: {row.reached} left"
        + (f"<br>fell by {markup(row.by)}" if row.by else "<br>none fell")
        for row in frames.each(table)
    ]
    bar = go.Bar(
        x=table["reached"],
        y=table["stage"],
        orientation="h",
        text=[_bar_label(row.reached, row.fell) for row in frames.each(table)],
        textposition="outside",
        cliponaxis=False,
        hovertext=hover,
        hoverinfo="text",
        marker={
            "color": [palette.STAGE.get(name, palette.GREY) for name in table["stage"]],
            "line": {"color": palette.OUTLINE, "width": 1},
        },
    )
    figure = go.Figure(bar)
    widest = max([*table["reached"], 1])
    figure.update_xaxes(range=[0, widest * 1.28], title="candidates left", showgrid=False, zeroline=False)
    figure.update_yaxes(autorange="reversed", ticksuffix="  ")
    return laid_out(figure, height=70 + 42 * max(len(table), 3))


def slopes(trace: Trace) -> go.Figure:
    """One line a candidate from its rank before the reranker to its rank after; cited ones strong and numbered."""
    table = frames.slopes(trace)
    figure = go.Figure()
    for row in frames.each(table.sort_values("cited", na_position="first")):
        cited = None if pd.isna(row.cited) else int(row.cited)
        figure.add_scatter(
            x=[0, 1],
            y=[row.before, row.after],
            mode="lines+markers" if cited is None else "lines+markers+text",
            line={
                "color": palette.GREY if cited is None else palette.GREEN,
                "width": 1 if cited is None else 3,
            },
            opacity=0.45 if cited is None else 1,
            marker={"size": 6 if cited is None else 10},
            text=["", f"[{cited}]"] if cited else None,
            textposition="middle right",
            hovertext=_slope_hover(row, trace.spaces["rerank"]),
            hoverinfo="text",
            cliponaxis=False,
            showlegend=False,
        )
    last = max([*table["before"], *table["after"], 1])
    figure.update_xaxes(
        tickvals=[0, 1],
        ticktext=["fused order", "after reranking"],
        range=[-0.08, 1.12],
        side="top",
        showgrid=False,
        zeroline=False,
    )
    step = max(1, math.ceil(last / 10))
    figure.update_yaxes(
        range=[last + 0.7, 0.3], title="rank", tick0=1, dtick=step, tickformat="d", zeroline=False
    )
    return laid_out(figure, height=min(640, 160 + 14 * max(last, 12)))


def cuts(trace: Trace) -> go.Figure:
    """One row a threshold: every candidate's score in its space, with the cut as a bar across the row."""
    table = frames.cuts(trace)
    names = list(dict.fromkeys(table["threshold"]))
    figure = go.Figure()
    for kind in palette.OUTCOME:
        part = table[table["outcome"] == kind]
        figure.add_scatter(
            x=part["score"],
            y=[
                names.index(name) + _spread(key)
                for name, key in zip(part["threshold"], part["candidate_id"], strict=True)
            ],
            mode="markers",
            name=kind,
            marker={
                "color": palette.OUTCOME[kind],
                "symbol": palette.SYMBOL[kind],
                "size": 13 if kind == "cited" else 8,
                "opacity": 0.9 if kind in ("cited", "fell here") else 0.6,
            },
            hovertext=[
                f"{score(row.score)} in {markup(row.space)}<br>{wrapped(row.text)}"
                for row in frames.each(part)
            ],
            hoverinfo="text",
        )
    _add_cuts(figure, table, names)
    labels = [f"{name}<br><sup>{markup(_first(table, name, 'space'))}</sup>" for name in names]
    figure.update_yaxes(
        tickvals=list(range(len(names))),
        ticktext=labels,
        range=[len(names) - 0.45, -0.55],
        showgrid=False,
        zeroline=False,
    )
    figure.update_xaxes(title="score", zeroline=False)
    figure.update_layout(legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0})
    return laid_out(figure, height=130 + 74 * max(len(names), 1))


def times(trace: Trace) -> go.Figure:
    """Horizontal bars of milliseconds by stage."""
    table = frames.times(trace)
    bar = go.Bar(
        x=table["ms"],
        y=table["stage"],
        orientation="h",
        text=[f"{ms:,.1f} ms" for ms in table["ms"]],
        textposition="outside",
        cliponaxis=False,
        hoverinfo="skip",
        marker={
            "color": [palette.STAGE.get(name, palette.GREY) for name in table["stage"]],
            "line": {"color": palette.OUTLINE, "width": 1},
        },
    )
    figure = go.Figure(bar)
    figure.update_xaxes(
        range=[0, max([*table["ms"], 0.1]) * 1.25], title="milliseconds", showgrid=False, zeroline=False
    )
    figure.update_yaxes(autorange="reversed", ticksuffix="  ")
    return laid_out(figure, height=70 + 30 * max(len(table), 3))


def _add_cuts(figure: go.Figure, table: pd.DataFrame, names: list[str]) -> None:
    """A cut far below every score lets all pass: it is said at the row's start instead of stretching the axis."""
    if table.empty:
        return
    low, high = table["score"].min(), table["score"].max()
    reach = max(0.05, (high - low) * 0.15)
    for row, name in enumerate(names):
        cut = float(_first(table, name, "cut"))
        if cut < low - reach:
            figure.add_annotation(
                x=low,
                y=row - 0.36,
                text="off: every score passes",
                showarrow=False,
                xanchor="left",
                font={"size": 11},
            )
            continue
        figure.add_shape(
            type="line",
            x0=cut,
            x1=cut,
            y0=row - 0.32,
            y1=row + 0.32,
            line={"color": palette.VERMILLION, "width": 3},
        )
        figure.add_annotation(
            x=cut,
            y=row - 0.38,
            text=f"cut {number(cut)}",
            showarrow=False,
            yanchor="middle",
            font={"size": 11},
        )


def _first(table: pd.DataFrame, threshold: str, column: str) -> str:
    return str(table.loc[table["threshold"] == threshold, column].iloc[0])


def _spread(candidate_id: str) -> float:
    """A fixed place across the row, so that equal scores do not hide each other and a rerun does not shake."""
    return (sum(candidate_id.encode("utf-8", "replace")) % 17 - 8) / 40


def _bar_label(reached: int, fell: int) -> str:
    return f"{reached:,}  (−{fell:,})" if fell else f"{reached:,}"


def _slope_hover(row: Any, space: str) -> str:
    lines = [
        f"rank {row.before} → {row.after}",
        f"fused {score(None if pd.isna(row.fused) else row.fused)}",
        f"{markup(space)} {score(row.reranked)}",
        wrapped(row.text),
    ]
    return "<br>".join(lines)


def wrapped(text: str) -> str:
    """``text`` escaped, cut and broken into lines for a hover."""
    lines = textwrap.wrap(shortened(text, frames.TEXT), HOVER_WIDTH) or [""]
    return "<br>".join(markup(line) for line in lines)


def laid_out(figure: go.Figure, *, height: int) -> go.Figure:
    """``figure`` with the house's margins on the page's own ground."""
    figure.update_layout(
        height=height,
        margin={"l": 10, "r": 24, "t": 30, "b": 40},
        hoverlabel={"align": "left", "namelength": -1},
        dragmode=False,
        plot_bgcolor="rgba(0,0,0,0)",
        paper_bgcolor="rgba(0,0,0,0)",
    )
    return figure
