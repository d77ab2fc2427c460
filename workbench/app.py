"""The workbench's pages. Started by `assay app`."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from workbench import settings
from workbench.views import ask, calls, cases, datasets, runs

STYLE = Path(__file__).with_name("style.css")
ICON = Path(__file__).with_name("icon.svg")
ASK_STATE = (
    "dataset", "recipe", "profile", "question", "as_of", "known_at", "nearby_km", "beside", "picture", "superseded",
    "levels:", "knob:",
)  # fmt: skip
PAGES_STYLE = Path(__file__).with_name("pages.css")


def main() -> None:
    """Page setup and navigation; each page is a module in ``views``."""
    st.set_page_config(page_title="Assay", page_icon=ICON, layout="wide")
    st.html(STYLE)
    st.html(PAGES_STYLE)
    if settings.read_only():
        st.sidebar.caption(settings.READ_ONLY)
    _keep(ASK_STATE)
    st.navigation(
        [
            st.Page(ask.page, title="Ask", icon=":material/forum:", url_path="ask", default=True),
            st.Page(runs.page, title="Runs", icon=":material/monitoring:", url_path="runs"),
            st.Page(cases.page, title="Cases", icon=":material/checklist:", url_path="cases"),
            st.Page(datasets.page, title="Data", icon=":material/database:", url_path="data"),
            st.Page(calls.page, title="Model calls", icon=":material/receipt_long:", url_path="calls"),
        ]
    ).run()


def _keep(names: tuple[str, ...]) -> None:
    """Streamlit forgets the controls of a page that is left; those of Ask are as they were when one comes back."""
    for key in [str(key) for key in st.session_state if str(key).startswith(names)]:
        st.session_state[key] = st.session_state[key]


main()
