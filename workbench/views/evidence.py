"""The evidence: a card for each citation, beside a picture of it."""

from __future__ import annotations

import streamlit as st

from core.records import Dataset
from core.trace import Candidate, Trace
from core.workspace import Workspace
from workbench import cards
from workbench.state import View
from workbench.views import pictures


def show(trace: Trace, view: View, workspace: Workspace, dataset: Dataset) -> None:
    """Draws cards and picture side by side."""
    left, right = st.columns([6, 5], gap="medium")
    with left:
        _cards(trace)
    with right:
        pictures.show(trace, view, workspace, dataset)


def _cards(trace: Trace) -> None:
    abstained = trace.answer.abstained
    st.subheader("What was closest" if abstained else "Evidence", anchor=False)
    shown = trace.answer.closest if abstained else trace.answer.evidence
    if not shown:
        st.info("There is no evidence to show: nothing was found.", icon=":material/search_off:")
        return
    known: dict[str, Candidate] = {candidate.candidate_id: candidate for candidate in trace.candidates}
    body = "".join(
        cards.evidence_card(item, place, known.get(item.candidate_id), cited=not abstained)
        for place, item in enumerate(shown, start=1)
    )
    st.html(f'<div class="assay-cards">{body}</div>')
