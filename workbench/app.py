"""The workbench's pages. Started by `assay app`."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from workbench.views import ask

STYLE = Path(__file__).with_name("style.css")
ICON = Path(__file__).with_name("icon.svg")
BRAND = '<div class="assay-brand">Assay<small>what answers are made of</small></div>'


def main() -> None:
    """Page setup and navigation; each page is a module in ``views``."""
    st.set_page_config(page_title="Assay", page_icon=ICON, layout="wide")
    st.html(STYLE)
    st.sidebar.html(BRAND)
    pages = [st.Page(ask.page, title="Ask", icon=":material/forum:", url_path="ask", default=True)]
    st.navigation(pages).run()


main()
