"""The way to the answer: the funnel, the scores against their cuts, and what reranking did to the order."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from core.show import charts, frames
from core.trace import Trace

FUNNEL = (
    "How to read it: how many candidates each stage left standing; in brackets how many fell there. "
    "Hover for the thresholds."
)
CUTS = (
    "How to read it: each mark is a candidate at its score; the bar is the cut. Crosses fell by this threshold, "
    "stars are cited. A cut that runs through the stars' neighbours decides this question."
)
SLOPES = (
    "How to read it: left the fused order, right the order after reranking; a line that climbs was promoted. "
    "Cited ones are strong and numbered. Hover an end for both scores and the text."
)
TIMES = "How to read it: wall time on this machine; the only part of a Trace that differs between equal runs."
NO_SCORES = "No candidate has a score that a threshold is compared with."


def show(trace: Trace) -> None:
    """Draws the charts."""
    left, right = st.columns([1, 1], gap="medium")
    with left:
        st.markdown("**Candidates left after each stage**")
        chart(charts.funnel(trace), frames.funnel(trace), FUNNEL, "funnel")
        st.markdown("**Order before and after reranking**")
        _slopes(trace)
    with right:
        st.markdown("**Scores against their cuts**")
        _cuts(trace)
        st.markdown("**Time by stage**")
        chart(charts.times(trace), frames.times(trace), TIMES, "times")


def chart(figure: go.Figure, table: pd.DataFrame, reading: str, name: str) -> None:
    """A figure, how to read it, and its data to take away."""
    st.plotly_chart(figure, key=f"chart:{name}", config={"displayModeBar": False})
    caption(table, reading, name)


def caption(table: pd.DataFrame, reading: str, name: str) -> None:
    """How to read what stands above, and its data to take away."""
    row = st.container(horizontal=True, vertical_alignment="top", wrap=False)
    row.caption(reading, width="stretch")
    row.download_button(
        "CSV",
        frames.csv(table),
        file_name=f"{name}.csv",
        mime="text/csv",
        key=f"csv:{name}",
        icon=":material/download:",
        type="tertiary",
        on_click="ignore",
        help="The data of this chart",
    )


def _cuts(trace: Trace) -> None:
    table = frames.cuts(trace)
    if table.empty:
        st.info(NO_SCORES, icon=":material/square_foot:")
        return
    chart(charts.cuts(trace), table, CUTS, "cuts")


def _slopes(trace: Trace) -> None:
    table = frames.slopes(trace)
    if not table.empty:
        chart(charts.slopes(trace), table, SLOPES, "slopes")
        return
    st.info(why_no_slopes(trace), icon=":material/swap_vert:")


def why_no_slopes(trace: Trace) -> str:
    """Why there is no order before and after, and what would bring one."""
    if trace.recipe == "graph":
        return "The graph recipe does not rerank: what it cites is ordered by cosine alone."
    if trace.values.get("rerank.method") == "none":
        return (
            "This profile does not rerank. Set **method** to maxsim under Rerank in the sidebar (`rerank.method`) "
            "to see what it would change."
        )
    return "There was nothing to rerank: no candidate was found."
