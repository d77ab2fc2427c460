"""What the pages share: a chart or a table with how to read it and its data, an empty state, errors as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from core.errors import AssayError
from core.show import frames
from core.show.plain import literal

ROW = 35
HEAD = 38


def chart(figure: go.Figure, table: pd.DataFrame, reading: str, name: str) -> None:
    """A figure, how to read it, and its data to take away."""
    st.plotly_chart(figure, key=f"chart:{name}", config={"displayModeBar": False})
    caption(table, reading, name)


def table(
    shown: pd.DataFrame,
    reading: str,
    name: str,
    *,
    columns: Mapping[str, Any] | None = None,
    rows: int = 10,
    pick: str | None = None,
) -> int | None:
    """A table that scrolls beyond ``rows``; the row's place that was picked just now, where ``pick`` is the key of it."""
    common: dict[str, Any] = {
        "hide_index": True,
        "placeholder": "",
        "column_config": dict(columns or {}),
        "height": HEAD + ROW * max(1, min(rows, len(shown))),
        "alt": reading,
    }
    chosen = None
    if pick is None:
        st.dataframe(shown, key=f"table:{name}", **common)
    else:
        event = st.dataframe(shown, key=pick, on_select="rerun", selection_mode="single-row", **common)
        chosen = next(iter(event["selection"]["rows"]), None)
    caption(shown, reading, name)
    return chosen if chosen is None or chosen < len(shown) else None


def caption(data: pd.DataFrame, reading: str, name: str) -> None:
    """How to read what stands above, and its data."""
    row = st.container(horizontal=True, vertical_alignment="top", wrap=False)
    row.caption(reading, width="stretch")
    row.download_button(
        "CSV",
        lambda: frames.csv(data),
        file_name=f"{name}.csv",
        mime="text/csv",
        key=f"csv:{name}",
        icon=":material/download:",
        type="tertiary",
        on_click="ignore",
        help="The data of this view",
    )


def empty(said: str, command: str | None = None, icon: str = ":material/inbox:") -> None:
    """Nothing here, and which command changes that."""
    st.info(said, icon=icon)
    if command:
        st.code(command, language="bash")


def guarded(title: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """A page with a heading whose errors that are the input's fault are shown as their message, as text."""

    def around(draw: Callable[[], None]) -> Callable[[], None]:
        @wraps(draw)
        def page() -> None:
            st.header(title, anchor=False)
            try:
                draw()
            except AssayError as error:
                st.error(literal(str(error)), icon=":material/error:")

        return page

    return around
