"""The page Model calls: what was asked of models and of the system, what it took and cost."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from core.errors import NotFoundError
from core.records import DEFAULT_USER
from core.show.plain import literal, shortened
from core.store import Store
from core.store.journals import Trajectory
from evals.show import run_charts
from workbench import address, data
from workbench.views import shown

ALL = "(all)"
LIMITS = ("100", "500", "2000", "10000")
CALLS = "How to read it: one row a call of a model, the latest first. No cost means no price is known for the model."
TOKENS = "How to read it: tokens in and out of each model, in the calls shown. Embedding on this machine counts none."
LATENCY = (
    "How to read it: each mark is one call at its latency; crosses did not end well. The axis is logarithmic."
)
WHOLE = "How to read it: one row a call of the system, the latest first. Select one to see its steps."
STEPS = "How to read it: wall time of each step of this call, in order."


@shown.guarded("Model calls")
def page() -> None:
    """Draws the page."""
    store = data.workspace().store
    address.take("calls:latest", LIMITS, LIMITS[1])
    latest = int(st.session_state["calls:latest"])
    rows = store.journals.inferences(DEFAULT_USER, limit=latest)
    whole = store.journals.trajectories(DEFAULT_USER, limit=latest)
    if not rows and not whole:
        shown.empty(
            "No call was written down yet. Questions asked by command or over HTTP are; this makes one:",
            "assay ask 'Who approves outbound followups?' --dataset meridian --recipe brain",
            ":material/call_made:",
        )
        return
    table = _filtered(pd.DataFrame(rows, columns=list(rows[0]) if rows else ["type", "model", "outcome"]))
    _totals(table)
    if table.empty:
        st.info("No model call fits these filters.", icon=":material/filter_alt_off:")
    else:
        _charts(table)
        _listed(table)
    _trajectories(store, whole)


def _filtered(table: pd.DataFrame) -> pd.DataFrame:
    """The rows that fit the filters, which are drawn; the address is written."""
    cells = st.columns(4)
    for cell, name in zip(cells, ("type", "model", "outcome"), strict=False):
        known = [ALL, *sorted(str(value) for value in table[name].dropna().unique())]
        address.take(f"calls:{name}", known, ALL)
        cell.selectbox(name.capitalize(), known, key=f"calls:{name}")
    cells[3].selectbox("Latest", LIMITS, key="calls:latest")
    chosen = {name: str(st.session_state[f"calls:{name}"]) for name in ("type", "model", "outcome")}
    said: dict[str, str | None] = {name: None if value == ALL else value for name, value in chosen.items()}
    kept = {"call": st.query_params.get("call"), "latest": str(st.session_state["calls:latest"])}
    address.write(said | kept)
    for name, value in said.items():
        if value is not None:
            table = table[table[name] == value]
    return table.reset_index(drop=True)


def _totals(table: pd.DataFrame) -> None:
    cells = st.columns(5)
    cells[0].metric("Calls", f"{len(table):,}", border=True)
    if table.empty:
        return
    known = table["cost_usd"].dropna()
    unpriced = int(table["cost_usd"].isna().sum())
    cells[1].metric("Tokens in", f"{int(table['input_tokens'].sum()):,}", border=True)
    cells[2].metric("Tokens out", f"{int(table['output_tokens'].sum()):,}", border=True)
    cells[3].metric(
        "US dollars",
        f"{known.sum():.4f}" if len(known) else "–",
        border=True,
        help=f"{unpriced:,} of these calls have no known price and are not in the sum.",
    )
    cells[4].metric("Median latency", f"{table['latency_ms'].median():,.0f} ms", border=True)


def _charts(table: pd.DataFrame) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("**Tokens by model**")
        tokens = table.groupby("model", as_index=False)[["input_tokens", "output_tokens", "cost_usd"]].sum()
        tokens["tokens"] = tokens["input_tokens"] + tokens["output_tokens"]
        tokens = tokens.sort_values("tokens", ascending=False).head(12)
        if tokens["tokens"].any():
            shown.chart(
                run_charts.sums(tokens, "model", "tokens", "tokens in and out"), tokens, TOKENS, "tokens"
            )
        else:
            st.info("These calls counted no tokens: they ran on this machine.", icon=":material/memory:")
    with right:
        st.markdown("**Latency by stage**")
        times = table[["stage", "latency_ms", "outcome", "model"]]
        shown.chart(run_charts.latencies(times), times, LATENCY, "latency")


def _listed(table: pd.DataFrame) -> None:
    st.subheader(f"Calls of models ({len(table):,})", anchor=False, divider="grey")
    first = [
        "created_at",
        "type",
        "stage",
        "model",
        "outcome",
        "input_tokens",
        "output_tokens",
        "thinking_tokens",
    ]
    order = [*first, "cost_usd", "latency_ms", "reasoning", "dataset", "session_id", "trajectory_id"]
    formats = {"latency_ms": "%.1f", "cost_usd": "%.6f"}
    columns = {name: st.column_config.NumberColumn(name, format=form) for name, form in formats.items()}
    shown.table(_texts(table[order]), CALLS, "inferences", columns=columns, rows=8)


def _trajectories(store: Store, whole: list[Trajectory]) -> None:
    st.subheader(f"Calls of the system ({len(whole):,})", anchor=False, divider="grey")
    if not whole:
        st.info("None was written down yet.", icon=":material/call_made:")
        return
    names = ("started_at", "kind", "dataset", "outcome", "ms", "detail", "session_id", "trajectory_id")
    table = pd.DataFrame([[getattr(call, name) for name in names] for call in whole], columns=list(names))
    columns = {"ms": st.column_config.NumberColumn("ms", format="%.1f")}
    place = shown.table(_texts(table), WHOLE, "trajectories", columns=columns, pick="calls:rows", rows=8)
    if place is not None:
        st.session_state["calls:call"] = str(table.iloc[place]["trajectory_id"])
    wanted = st.session_state.get("calls:call") or st.query_params.get("call")
    if wanted:
        _one(store, str(wanted))


def _one(store: Store, trajectory_id: str) -> None:
    try:
        call = store.journals.trajectory(trajectory_id, DEFAULT_USER)
    except NotFoundError as error:
        st.warning(literal(str(error)), icon=":material/link_off:")
        return
    st.query_params["call"] = call.trajectory_id
    with st.container(border=True):
        said = f"{call.kind} on {call.dataset}, {call.ms:,.0f} ms, {call.outcome} {call.detail}"
        st.caption(f"{literal(call.trajectory_id)}  {literal(shortened(said, 400))}")
        steps = pd.DataFrame(
            [
                (step["name"], step["ms"], _pairs(step["sizes"]), _pairs(step["inputs"]))
                for step in call.steps
            ],
            columns=["step", "ms", "sizes", "inputs"],
        )
        if steps.empty:
            st.info("It has no steps on record.", icon=":material/footprint:")
            return
        shown.chart(run_charts.steps(steps), steps, STEPS, "steps")
        shown.table(
            steps, "How to read it: what each step was given, and how much of what.", "step-table", rows=8
        )


def _pairs(values: dict[str, Any]) -> str:
    return shortened(", ".join(f"{name} {value}" for name, value in values.items()), 300)


def _texts(table: pd.DataFrame) -> pd.DataFrame:
    return table.map(lambda value: shortened(value, 200) if isinstance(value, str) else value)
