"""Two profiles on one question, side by side, with the differences marked."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from core import profile as profiles
from core.records import Dataset
from core.show.plain import literal, markup
from core.trace import Trace
from core.workspace import Workspace
from workbench import cards, compared, data
from workbench.state import View
from workbench.views.answer import verdict
from workbench.views.stages import caption

SETTINGS = "How to read it: every threshold and method that the two are set to differently."
FATES = "How to read it: the candidates cited under one of the two and not under the other, or under another number."
SAME = "The two are set alike: same thresholds, same methods."


def show(trace: Trace, view: View, workspace: Workspace, dataset: Dataset) -> None:
    """B is asked the same question; both answers, then what differs."""
    st.selectbox(
        "Compare with profile",
        profiles.shipped(),
        key="beside",
        help="A is what the sidebar says, B this profile as it is.",
        width=320,
    )
    other = replace(view, profile=view.beside, changes={})
    with st.spinner("Asking the same question under the other profile …"):
        second = data.asked(workspace, dataset, other, other.tuned())
    st.markdown(f"**{literal(compared.summary(trace, second)).strip('` ')}**")
    pair = st.columns(2, gap="medium", border=True)
    for name, place, mine, theirs in (("A", pair[0], trace, second), ("B", pair[1], second, trace)):
        with place:
            _side(name, mine, theirs)
    _differences(trace, second)


def _side(name: str, mine: Trace, theirs: Trace) -> None:
    st.html(f'<h4 class="assay-side">{name} <bdi>{markup(mine.profile)}</bdi></h4>')
    verdict(mine)
    both = {item.candidate_id for item in theirs.answer.evidence}
    st.html(cards.listed(mine.answer, both, f"only {name}"))


def _differences(first: Trace, second: Trace) -> None:
    left, right = st.columns([2, 3], gap="medium")
    with left:
        st.markdown("**Set differently**")
        table = compared.settings(first, second)
        if table.empty:
            st.info(SAME, icon=":material/drag_handle:")
        else:
            st.dataframe(table, hide_index=True, key="table:settings")
            caption(table, SETTINGS, "settings")
    with right:
        st.markdown("**Came out differently**")
        table = compared.fates(first, second)
        if table.empty:
            st.info("No evidence differs.", icon=":material/drag_handle:")
        else:
            st.dataframe(
                table.drop(columns="candidate_id"), hide_index=True, placeholder="", key="table:fates"
            )
            caption(table, FATES, "fates")
