"""The curves as Plotly figures, each with a caption that says how to read it. Text of data is escaped."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from evals.curves import of_profiles, of_run
from evals.curves.colours import DASHES, GREEN, GREY, ORDER, SCALE, VERMILLION

BINS = 40
BESIDE = 3
"""Kinds whose histograms are laid over each other; more stand in rows of their own."""
OTHERS = tuple(colour for colour in ORDER if colour not in (GREEN, VERMILLION))
CAPTIONS: Mapping[str, str] = {
    "risk-coverage": (
        "From left to right more is answered. The line shows how much of what is answered is wrong; lower is "
        "better. The diamond is where the run's own setting stands."
    ),
    "roc": (
        "Up: how many questions that can be answered are. Right: how many that cannot be answered are all the"
        " same. The nearer to the top left corner the better; on the diagonal, confidence tells nothing."
    ),
    "cuts": (
        "What a cut on the confidence would answer. A good cut lies where the upper line is still high and "
        "the lower one already low."
    ),
    "cut": (
        "What each value of the cut really answers while everything else stays as it is. A good cut lies where the line "
        "of the answerable is still high and those of the unanswerable are already low; the dashed line is its value now."
    ),
    "distributions": (
        "How confident the system was, by kind of question. Where the shapes overlap no cut can tell the "
        "kinds apart."
    ),
    "sensitivity": (
        "Each panel moves one threshold and leaves all others as they are; the dashed line is its value now. "
        "A flat line means that the exact number hardly matters."
    ),
    "interaction": (
        "Each cell is one pair of settings; brighter is more. A ridge along one axis means that the other "
        "threshold hardly matters there."
    ),
}
"""How to read each figure, in a sentence or two."""


def risk_coverage(runs: Mapping[str, of_run.Rows]) -> go.Figure:
    """One line a run, with a diamond where it stands."""
    figure = go.Figure()
    for place, (name, rows) in enumerate(runs.items()):
        table, stands = of_run.risk_coverage(rows), of_run.chosen(rows)
        figure.add_scatter(
            x=table["coverage"], y=table["risk"], customdata=table["cut"], line_shape="hv", **_line(name, place),
            hovertemplate="answered %{x:.1%}<br>of it wrong %{y:.1%}<br>cut %{customdata:.4g}<extra></extra>",
        )  # fmt: skip
        figure.add_scatter(x=[stands["coverage"]], y=[stands["risk"]], **_diamond(name, place))
    return _laid_out(figure, "share answered (coverage)", "share of the answered that is wrong (risk)")


def roc(runs: Mapping[str, of_run.Rows]) -> go.Figure:
    """One line a run over the diagonal of chance."""
    figure = go.Figure()
    figure.add_scatter(
        x=[0, 1], y=[0, 1], mode="lines", line={"color": GREY, "dash": "dot", "width": 1}, name="chance",
        hoverinfo="skip",
    )  # fmt: skip
    for place, (name, rows) in enumerate(runs.items()):
        table, stands = of_run.answered(rows), of_run.chosen(rows)
        figure.add_scatter(
            x=[0, *table["answered_unanswerable"]], y=[0, *table["answered_answerable"]],
            customdata=[float("inf"), *table["cut"]], **_line(name, place),
            hovertemplate="answerable %{y:.1%}<br>unanswerable %{x:.1%}<br>cut %{customdata:.4g}<extra></extra>",
        )  # fmt: skip
        figure.add_scatter(
            x=[stands["answered_unanswerable"]], y=[stands["answered_answerable"]], **_diamond(name, place)
        )
    return _laid_out(figure, "unanswerable answered (false answers)", "answerable answered")


def cuts(rows: of_run.Rows, space: str = "") -> go.Figure:
    """Both shares of one run over the cut."""
    table = of_run.answered(rows)
    figure = go.Figure()
    for name, column, colour, dash in (
        ("answerable", "answered_answerable", GREEN, "solid"),
        ("unanswerable", "answered_unanswerable", VERMILLION, "dash"),
    ):
        figure.add_scatter(
            x=table["cut"], y=table[column], name=name, mode="lines", line={"color": colour, "dash": dash},
            line_shape="vh", hovertemplate=f"{name} answered %{{y:.1%}}<br>cut %{{x:.4g}}<extra></extra>",
        )  # fmt: skip
    return _laid_out(figure, f"cut on the confidence ({escape(space)})" if space else "cut", "share answered")


def cut(table: pd.DataFrame) -> go.Figure:
    """The shares answered of ``RecordingCurves.cuts``: answerable, all unanswerable, and each kind of these."""
    figure = go.Figure()
    kinds = list(dict.fromkeys(table["kind"]))
    for place, kind in enumerate(kinds):
        part = table[table["kind"] == kind]
        figure.add_scatter(
            x=part["value"], y=part["answered"], mode="lines", line=_kind_line(kind, place),
            name=f"{escape(kind)} (n = {part['n'].iloc[0]:,})",
            hovertemplate=f"{escape(kind)} answered %{{y:.1%}}<br>cut %{{x:.4g}}<extra></extra>",
        )  # fmt: skip
    for value in table.loc[table["current"], "value"].unique():
        figure.add_vline(x=value, line={"color": GREY, "dash": "dash"})
    names = ", ".join(dict.fromkeys(table["threshold"]))
    return _laid_out(figure, escape(names) or "cut", "share answered")


def distributions(rows: of_run.Rows, space: str = "") -> go.Figure:
    """A histogram of confidence for each kind of case, as shares of the kind."""
    return distribution(of_run.confidences(rows), space)


def distribution(table: pd.DataFrame, space: str = "") -> go.Figure:
    """The same of a table of ``of_run.confidences``; more than ``BESIDE`` kinds stand in rows with one axis."""
    from plotly.subplots import make_subplots

    kinds = sorted(set(table["kind"]), key=lambda kind: (kind != of_run.ANSWERABLE, kind))
    rows = len(kinds) if len(kinds) > BESIDE else 1
    figure = make_subplots(rows=rows, cols=1, shared_xaxes=True, vertical_spacing=0.1 / rows)
    colours = (GREEN, VERMILLION, *OTHERS, *OTHERS)
    for place, kind in enumerate(kinds):
        part = table[table["kind"] == kind]
        figure.add_histogram(
            x=part["confidence"], name=f"{escape(kind)} (n = {len(part):,})", histnorm="probability",
            xbins=_bins(table["confidence"]), opacity=0.65, row=place + 1 if rows > 1 else 1, col=1,
            marker={"color": colours[place % len(colours)], "pattern": {"shape": ("", "/", "x", ".")[place % 4]}},
        )  # fmt: skip
    figure.update_layout(barmode="overlay", bargap=0.02)
    axis = f"confidence ({escape(space)})" if space else "confidence"
    laid_out = _laid_out(
        figure, None, "share of the kind" if rows == 1 else None, height=max(420, 110 * rows)
    )
    return laid_out.update_xaxes(title=axis, row=rows, col=1)


def _bins(confidence: pd.Series[float]) -> dict[str, float]:
    """The same bins for every kind."""
    low, high = float(confidence.min()), float(confidence.max())
    return {"start": low, "end": high + (high - low) / BINS, "size": (high - low) / BINS or 1.0}


def sensitivity(table: pd.DataFrame, figures: list[str]) -> go.Figure:
    """A panel for each threshold of ``of_profiles.sensitivity``, the same lines in each; first those that move the first
    figure most, of these that do not those that move another one."""
    from plotly.subplots import make_subplots

    spreads = [
        of_profiles.effects(table, each).set_index("threshold")["spread"].fillna(0) for each in figures
    ]
    order = pd.DataFrame({"first": spreads[0].round(9), "any": pd.concat(spreads, axis=1).max(axis=1)})
    names = list(
        order.loc[table["threshold"].unique()]
        .sort_values(["first", "any"], ascending=False, kind="stable")
        .index
    )
    columns = min(3, max(1, len(names)))
    lines = -(-len(names) // columns) or 1
    height = 120 + 200 * lines
    figure = make_subplots(
        rows=lines,
        cols=columns,
        subplot_titles=[escape(name) for name in names],
        vertical_spacing=60 / height,
    )
    for place, name in enumerate(names):
        part, at = (
            table[table["threshold"] == name],
            {"row": place // columns + 1, "col": place % columns + 1},
        )
        for number, column in enumerate(figures):
            figure.add_scatter(
                x=part["value"], y=part[column], name=escape(column), legendgroup=column, showlegend=place == 0,
                mode="lines", line={"color": ORDER[number % len(ORDER)], "dash": DASHES[number % len(DASHES)]},
                hovertemplate=f"{escape(column)} %{{y:.3f}}<br>{escape(name)} %{{x:.4g}}<extra></extra>", **at,
            )  # fmt: skip
        for value in part.loc[part["current"], "value"]:
            figure.add_vline(x=value, line={"color": GREY, "dash": "dash"}, **at)
    return _laid_out(figure, None, None, height=height)


def interaction(
    table: pd.DataFrame, figure_name: str, current: tuple[float, float] | None = None
) -> go.Figure:
    """The heat map of ``of_profiles.interaction``; a cross where the profile stands (row, column)."""
    figure = go.Figure(
        go.Heatmap(
            z=table.to_numpy(), x=list(table.columns), y=list(table.index), colorscale=SCALE,
            colorbar={"title": escape(figure_name)},
            hovertemplate=f"{escape(str(table.index.name))} %{{y:.4g}}<br>{escape(str(table.columns.name))} "
            f"%{{x:.4g}}<br>{escape(figure_name)} %{{z:.3f}}<extra></extra>",
        )
    )  # fmt: skip
    if current is not None:
        figure.add_scatter(
            x=[current[1]], y=[current[0]], mode="markers", name="now", hoverinfo="skip",
            marker={"symbol": "x", "size": 12, "color": "white", "line": {"color": "black", "width": 1}},
        )  # fmt: skip
    return _laid_out(figure, escape(str(table.columns.name)), escape(str(table.index.name)))


def _kind_line(kind: str, place: int) -> dict[str, Any]:
    if kind == of_run.ANSWERABLE:
        return {"color": GREEN, "width": 3}
    if kind == of_run.UNANSWERABLE:
        return {"color": VERMILLION, "width": 3, "dash": "dash"}
    return {"color": OTHERS[place % len(OTHERS)], "width": 1.5, "dash": DASHES[place % len(DASHES)]}


def _line(name: str, place: int) -> dict[str, Any]:
    style = {
        "color": ORDER[place % len(ORDER)],
        "dash": DASHES[place // len(ORDER) % len(DASHES)],
        "width": 2,
    }
    return {"name": escape(name), "legendgroup": name, "mode": "lines", "line": style}


def _diamond(name: str, place: int) -> dict[str, Any]:
    marker = {"symbol": "diamond", "size": 11, "color": ORDER[place % len(ORDER)]}
    told = f"{escape(name)} as it was set: %{{x:.1%}}, %{{y:.1%}}<extra></extra>"
    return {
        "mode": "markers", "marker": marker, "hovertemplate": told, "showlegend": False, "legendgroup": name,
    }  # fmt: skip


def _laid_out(figure: go.Figure, x: str | None, y: str | None, *, height: int = 420) -> go.Figure:
    figure.update_layout(
        height=height,
        margin={"l": 60, "r": 20, "t": 40, "b": 50},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        plot_bgcolor="rgba(0,0,0,0)",
        paper_bgcolor="rgba(0,0,0,0)",
    )
    if x is not None:
        figure.update_xaxes(title=x)
    if y is not None:
        figure.update_yaxes(title=y)
    figure.update_xaxes(gridcolor="rgba(128,128,128,0.25)", zeroline=False)
    figure.update_yaxes(gridcolor="rgba(128,128,128,0.25)", zeroline=False)
    return figure
