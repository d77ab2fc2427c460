"""The evidence: a card for each citation, beside the graph it forms."""

from __future__ import annotations

import streamlit as st

from core.trace import Candidate, Trace
from workbench import cards
from workbench.views import evidence_graph


def show(trace: Trace) -> None:
    """Draws cards and graph side by side."""
    left, right = st.columns([6, 5], gap="medium")
    with left:
        _cards(trace)
    with right:
        evidence_graph.show(trace)


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
