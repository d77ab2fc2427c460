"""Charts of runs, labels and model calls as Plotly figures. Pure functions; text from data is escaped."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from core.show import palette
from core.show.frames import each
from core.show.plain import markup, number, score, shortened

FINDING = {
    "better": palette.GREEN,
    "worse": palette.VERMILLION,
    "higher": palette.BLUE,
    "lower": palette.PURPLE,
    "not distinguishable": palette.GREY,
    "not tested": palette.GREY,
    "not judged": palette.GREY,
}
FINDING_SYMBOL = {
    "better": "triangle-up",
    "worse": "triangle-down",
    "higher": "diamond",
    "lower": "diamond-open",
    "not distinguishable": "circle-open",
    "not tested": "circle",
    "not judged": "x-thin",
}
"""Findings differ by shape too, so that none depends on colour alone."""
OUTCOME = {
    "broke": palette.PURPLE,
    "answered, should have abstained": palette.VERMILLION,
    "answered wrong": palette.ORANGE,
    "abstained, should have answered": palette.YELLOW,
    "not judged": palette.GREY,
    "rightly abstained": palette.SKY,
    "answered right": palette.GREEN,
}
LABEL = 32


def intervals(table: pd.DataFrame) -> go.Figure:
    """A dot and its 95 % interval for each figure of a run, first on top; ``table`` as ``run_frames.figures``."""
    hover = [
        f"<b>{markup(row.figure)}</b> {score(row.value)} [{_known(row.low)}, {_known(row.high)}]"
        f"<br>{markup(row.about)}<br>{number(row.n)} cases"
        for row in each(table)
    ]
    figure = go.Figure(
        go.Scatter(
            x=table["value"],
            y=table["figure"],
            mode="markers+text",
            marker={"color": palette.BLUE, "size": 10},
            text=[score(value) for value in table["value"]],
            textposition="top center",
            textfont={"size": 11},
            error_x=_error(table, "value", palette.BLUE),
            hovertext=hover,
            hoverinfo="text",
            cliponaxis=False,
        )
    )
    figure.update_xaxes(title="value", zeroline=False)
    figure.update_yaxes(autorange="reversed", ticksuffix="  ", showgrid=True)
    return _laid_out(figure, height=90 + 34 * max(len(table), 2))


def differences(table: pd.DataFrame, name: str) -> go.Figure:
    """Second run less first, with its 95 % interval, by ``name`` (``figure`` or ``tag``); zero is marked."""
    figure = go.Figure()
    findings = table["finding"] if "finding" in table else pd.Series(["not tested"] * len(table))
    labels = [markup(shortened(str(label), LABEL)) for label in table[name]]
    for finding, color in FINDING.items():
        rows = [place for place, said in enumerate(findings) if said == finding]
        if not rows:
            continue
        part = table.iloc[rows]
        figure.add_scatter(
            x=part["difference"],
            y=rows,
            mode="markers",
            name=finding,
            showlegend="finding" in table,
            marker={
                "color": color,
                "symbol": FINDING_SYMBOL[finding],
                "size": 11,
                "line": {"width": 2, "color": color},
            },
            error_x=_error(part, "difference", color),
            hovertext=[_change_hover(str(row[name]), row) for _, row in part.iterrows()],
            hoverinfo="text",
        )
    figure.add_vline(x=0, line={"color": palette.OUTLINE, "width": 2, "dash": "dot"})
    figure.update_xaxes(title="second run − first run", zeroline=False)
    figure.update_yaxes(
        tickvals=list(range(len(labels))),
        ticktext=labels,
        range=[len(labels) - 0.4, -0.6],
        ticksuffix="  ",
        zeroline=False,
    )
    figure.update_layout(legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0})
    return _laid_out(figure, height=120 + 26 * max(len(table), 2))


def outcomes(table: pd.DataFrame) -> go.Figure:
    """Horizontal bars of cases by what became of them, failing kinds on top."""
    return _bars(
        table, "outcome", "cases", "cases", [OUTCOME[name] for name in table["outcome"]], breaks=True
    )


def agreement(table: pd.DataFrame, first: str, second: str) -> go.Figure:
    """A heat map of two labellers' verdicts with its counts; ``table`` is square, rows the first's."""
    heat = go.Heatmap(
        z=table.to_numpy(),
        x=list(table.columns),
        y=list(table.index),
        text=table.to_numpy(),
        texttemplate="%{text}",
        colorscale="Cividis",
        showscale=False,
        hovertemplate="%{y} / %{x}: %{z}<extra></extra>",
        xgap=2,
        ygap=2,
    )
    figure = go.Figure(heat)
    figure.update_xaxes(title=markup(shortened(second, LABEL)), showgrid=False)
    figure.update_yaxes(title=markup(shortened(first, LABEL)), autorange="reversed", showgrid=False)
    return _laid_out(figure, height=360).update_xaxes(tickangle=-30)


def sums(table: pd.DataFrame, name: str, value: str, title: str) -> go.Figure:
    """Horizontal bars of a sum by name."""
    return _bars(table, name, value, title, palette.BLUE)


def latencies(table: pd.DataFrame) -> go.Figure:
    """Every call's latency by stage on a logarithmic axis, failures as crosses; ``stage, latency_ms, outcome, model``."""
    figure = go.Figure()
    for ok, color, symbol, label in (
        (True, palette.SKY, "circle", "ok"),
        (False, palette.VERMILLION, "x", "not ok"),
    ):
        part = table[(table["outcome"] == "ok") == ok]
        if part.empty:
            continue
        figure.add_scatter(
            x=part["latency_ms"].clip(lower=0.01),
            y=[markup(shortened(stage, LABEL)) for stage in part["stage"]],
            mode="markers",
            name=label,
            marker={"color": color, "symbol": symbol, "size": 9, "opacity": 0.65},
            hovertext=[
                f"{row.latency_ms:,.1f} ms<br>{markup(shortened(row.model, LABEL))}<br>{markup(row.outcome)}"
                for row in each(part)
            ],
            hoverinfo="text",
        )
    figure.update_xaxes(type="log", title="milliseconds (log scale)", nticks=6)
    figure.update_yaxes(ticksuffix="  ", showgrid=True)
    figure.update_layout(legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0})
    return _laid_out(figure, height=150 + 44 * max(table["stage"].nunique(), 2))


def steps(table: pd.DataFrame) -> go.Figure:
    """Horizontal bars of milliseconds by step of one call, in order; a step that ran twice stands twice."""
    labels = [f"{place}. {name}" for place, name in enumerate(table["step"], start=1)]
    colors = [palette.STAGE.get(name, palette.GREY) for name in table["step"]]
    return _bars(table.assign(step=labels), "step", "ms", "milliseconds", colors)


def _bars(
    table: pd.DataFrame, name: str, value: str, title: str, color: list[str] | str, *, breaks: bool = False
) -> go.Figure:
    bar = go.Bar(
        x=table[value],
        y=[_label(str(label), breaks=breaks) for label in table[name]],
        orientation="h",
        text=[number(amount) for amount in table[value]],
        textposition="outside",
        cliponaxis=False,
        hoverinfo="skip",
        marker={"color": color, "line": {"color": palette.OUTLINE, "width": 1}},
    )
    figure = go.Figure(bar)
    widest = max([*table[value], 1e-9])
    figure.update_xaxes(range=[0, widest * 1.22], title=title, nticks=5, showgrid=False, zeroline=False)
    figure.update_yaxes(autorange="reversed", ticksuffix="  ", type="category")
    return _laid_out(figure, height=80 + 36 * max(len(table), 2))


def _label(text: str, *, breaks: bool) -> str:
    """On two lines where there is a comma and that is wanted."""
    said = markup(shortened(text, LABEL))
    return said.replace(", ", ",<br>") if breaks else said


def _error(table: pd.DataFrame, middle: str, color: str) -> dict[str, object]:
    return {
        "type": "data",
        "symmetric": False,
        "array": (table["high"].astype(float) - table[middle].astype(float)).clip(lower=0),
        "arrayminus": (table[middle].astype(float) - table["low"].astype(float)).clip(lower=0),
        "color": color,
        "thickness": 2,
        "width": 5,
    }


def _change_hover(label: str, row: pd.Series) -> str:
    lines = [
        f"<b>{markup(shortened(label, LABEL))}</b>",
        f"{_known(row['before'])} → {_known(row['after'])}",
        f"difference {_known(row['difference'])} [{_known(row['low'])}, {_known(row['high'])}]",
        f"{row['n']} cases, {row['wins']} wins, {row['losses']} losses",
    ]
    return "<br>".join([*lines, markup(str(row["in words"]))] if "in words" in row else lines)


def _known(value: float | None) -> str:
    return "–" if value is None or pd.isna(value) else f"{value:.3f}"


def _laid_out(figure: go.Figure, *, height: int) -> go.Figure:
    figure.update_layout(
        height=height,
        margin={"l": 10, "r": 30, "t": 30, "b": 44},
        hoverlabel={"align": "left", "namelength": -1},
        dragmode=False,
        yaxis_automargin=True,
        xaxis_tickangle=0,
        plot_bgcolor="rgba(0,0,0,0)",
        paper_bgcolor="rgba(0,0,0,0)",
    )
    return figure
