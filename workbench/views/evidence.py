"""The evidence: a card for each citation, beside the graph it forms."""

from __future__ import annotations

import streamlit as st

from core.trace import Candidate, Trace
from workbench import cards, palette
from workbench.graph import drawing

GRAPH_HEIGHT = 520
READING = (
    "How to read it: the question points at what is cited (or, after an abstention, at what was closest). "
    "Click a node or an edge to read it; drag to rearrange, scroll to zoom."
)


def show(trace: Trace) -> None:
    """Draws cards and graph side by side."""
    left, right = st.columns([6, 5], gap="medium")
    with left:
        _cards(trace)
    with right:
        _graph(trace)


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


def _graph(trace: Trace) -> None:
    st.subheader("Evidence graph", anchor=False)
    drawn = drawing(trace)
    if drawn.why_empty:
        st.info(drawn.why_empty, icon=":material/hub:")
        return
    from st_link_analysis import EdgeStyle, NodeStyle, st_link_analysis

    st_link_analysis(
        drawn.elements,
        layout={
            "name": "fcose",
            "animate": False,
            "fit": True,
            "padding": 24,
            "nodeDimensionsIncludeLabels": True,
        },
        node_styles=[NodeStyle(label, color, "caption") for label, color in palette.NODE.items()],
        # labeled=None: the widget warns about its own default
        edge_styles=[
            EdgeStyle(label, color, caption="caption", labeled=None, directed=True)
            for label, color in palette.EDGE.items()
        ],
        height=GRAPH_HEIGHT,
        key=f"graph:{trace.trace_id}",
    )
    kinds = " · ".join(
        f"{label} {sum(n['label'] == label for n in drawn.nodes.values())}" for label in palette.NODE
    )
    st.caption(f"{READING} ({kinds})")
