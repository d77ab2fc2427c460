"""Beside the evidence: its graph, what it was made from, what held when, what lies where."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.records import Dataset, Fact
from core.show.timeline import timeline, timeline_figure
from core.trace import Trace
from core.workspace import Workspace
from workbench import data, pictures, provenance
from workbench.state import PICTURES, View
from workbench.views import evidence_graph
from workbench.views.stages import caption, chart

NAMES = {"graph": "Graph", "provenance": "Made from", "timeline": "Timeline", "map": "Map"}
CHAINS = (
    "How to read it: each numbered piece of evidence, below it what it was made from, down to the raw record (L0). "
    "L2 is a synthesis, L1 a note."
)
TIMELINE = (
    "How to read it: a bar is a fact over the time it held, a triangle that it still holds, a diamond a single moment. "
    "Cited ones carry their number. Hover for the text."
)
MAP = (
    "How to read it: the star is the place of the question, dots are what is stored near it, the dotted line is the "
    "radius. A grid of degrees, north up; no map is loaded from elsewhere."
)
NO_TIME = "Nothing that came up for this question carries a date."
NO_CHAIN = "This evidence is raw: it was not made from anything else."
NO_PLACES = (
    "No places were searched. Choose recipe **graph** and set **Places within (km)** under Time and place in the "
    "sidebar; the question must name a place."
)
FACTS_OF = 60
"""Superseded facts looked at around the entities of an answer."""


def show(trace: Trace, view: View, workspace: Workspace, dataset: Dataset) -> None:
    """The choice of picture, and the picture."""
    st.segmented_control(
        "Picture of the evidence",
        PICTURES,
        key="picture",
        format_func=NAMES.__getitem__,
        required=True,
        label_visibility="collapsed",
    )
    old = _superseded(trace, view, workspace, dataset)
    if view.picture == "provenance":
        _chains(trace)
    elif view.picture == "timeline":
        _timeline(trace, old)
    elif view.picture == "map":
        _map(trace)
    else:
        evidence_graph.show(trace, old)


def _superseded(trace: Trace, view: View, workspace: Workspace, dataset: Dataset) -> Sequence[Fact]:
    if trace.recipe != "graph" or view.picture not in ("graph", "timeline"):
        return ()
    st.toggle("Superseded facts", key="superseded", help="Facts that were replaced by newer ones, in grey.")
    if not view.superseded:
        return ()
    by_entity = data.superseded(workspace, dataset)
    around = [fact for item in trace.answer.evidence or trace.answer.closest if (fact := item.fact)]
    entities = dict.fromkeys(number for fact in around for number in (fact.source_id, fact.target_id))
    found = {fact.fact_id: fact for number in entities for fact in by_entity.get(number, ())}
    shown = {item.fact.fact_id for item in trace.candidates if item.fact}
    return [fact for fact_id, fact in found.items() if fact_id not in shown][:FACTS_OF]


def _chains(trace: Trace) -> None:
    shown = trace.answer.evidence or trace.answer.closest
    table = pictures.chains(trace)
    if table.empty or not table["hops"].any():
        st.info(NO_CHAIN, icon=":material/account_tree:")
        return
    with st.container(height=560):
        st.html(provenance.tree(shown))
    caption(table, CHAINS, "provenance")


def _timeline(trace: Trace, old: Sequence[Fact]) -> None:
    table = timeline(trace, old)
    if table.empty:
        st.info(NO_TIME, icon=":material/timeline:")
        return
    chart(timeline_figure(table), table, TIMELINE, "timeline")


def _map(trace: Trace) -> None:
    if trace.nearby is None:
        st.info(NO_PLACES, icon=":material/map:")
        return
    chart(pictures.place_map(trace.nearby), pictures.places(trace.nearby), MAP, "places")
