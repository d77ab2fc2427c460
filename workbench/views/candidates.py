"""Every candidate that was considered, with its scores by space and where it fell."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.show import frames
from core.trace import Trace
from workbench import cards

READING = (
    "How to read it: in ranking order; `cited` is the number in the answer. Each score column is named by its space: "
    "compare scores within a column only. `margin` is value − cut. Select a row to read the whole text."
)


def show(trace: Trace) -> None:
    """Draws the table, its download, and the text of a picked row."""
    if not trace.candidates:
        st.info("No candidate was found, so there is nothing to list.", icon=":material/search_off:")
        return
    table = frames.candidates(trace)
    shown = table.dropna(axis="columns", how="all")
    picked = st.dataframe(
        shown,
        hide_index=True,
        placeholder="",
        column_config=_columns(shown.select_dtypes("float").columns.tolist()),
        on_select="rerun",
        selection_mode="single-row",
        key=f"candidates:{trace.trace_id}",
        height=min(420, 38 + 35 * len(table)),
    )
    row = st.container(horizontal=True, vertical_alignment="top", wrap=False)
    row.caption(READING, width="stretch")
    row.download_button(
        "CSV",
        frames.csv(table),
        file_name="candidates.csv",
        mime="text/csv",
        key="csv:candidates",
        icon=":material/download:",
        type="tertiary",
        on_click="ignore",
    )
    for place in picked["selection"]["rows"]:
        st.html(cards.candidate_card(trace.candidate(str(table.iloc[place]["candidate_id"]))))


def _columns(scores: list[str]) -> dict[str, Any]:
    numbers = {name: st.column_config.NumberColumn(name, format="%.4f") for name in scores}
    return numbers | {
        "rank": st.column_config.NumberColumn("rank", width="small", pinned=True),
        "cited": st.column_config.NumberColumn("cited", width="small", pinned=True, format="[%d]"),
        "kind": st.column_config.TextColumn("kind", width="small"),
        "text": st.column_config.TextColumn("text", width=360),
    }
