"""The page Ask: a question, its answer or abstention, and everything that led there."""

from __future__ import annotations

import streamlit as st

from core.errors import AssayError
from core.records import Dataset
from core.show.plain import literal
from core.trace import Trace
from core.workspace import Workspace
from workbench import data, state
from workbench.state import View
from workbench.views import (
    abstention,
    answer,
    candidates,
    compare,
    controls,
    details,
    evidence,
    link,
    question,
    stages,
    thresholds,
)

SECTION_NAMES = {"path": "How it came about", "candidates": "All candidates", "compare": "Two profiles"}
NO_DATASET = (
    "There is nothing to ask yet. Bring in a folder of Markdown, text or JSONL files, then reload this page:"
)


def page() -> None:
    """Draws the page; an error that is the input's fault is shown as its message."""
    try:
        workspace = data.workspace()
        known = workspace.store.datasets()
        if not known:
            _nothing_yet()
            return
        _ask(workspace)
    except AssayError as error:
        st.error(literal(str(error)), icon=":material/error:")


def _ask(workspace: Workspace) -> None:
    for said in link.open_link([found.name for found in workspace.store.datasets()]):
        st.warning(literal(said), icon=":material/link_off:")
    dataset = controls.dataset(workspace)
    view = controls.view(workspace, dataset)
    view = thresholds.sidebar(view)
    view = question.box(view, data.examples(workspace, dataset))
    st.query_params.from_dict(state.to_query(view))
    if not view.question.strip():
        st.info("Write a question above, or choose an example.", icon=":material/arrow_upward:")
        return
    profile = view.tuned()
    with st.spinner("Asking … the first question of a data set also builds its index.", show_time=True):
        trace = data.asked(workspace, dataset, view, profile)
    _show(trace, view, workspace, dataset)
    details.show(trace, profile)


def _show(trace: Trace, view: View, workspace: Workspace, dataset: Dataset) -> None:
    if trace.answer.abstained:
        abstention.show(trace)
    else:
        answer.show(trace)
    evidence.show(trace, view, workspace, dataset)
    st.divider()
    st.segmented_control(
        "Look closer",
        state.SECTIONS,
        key="section",
        format_func=SECTION_NAMES.__getitem__,
        required=True,
        label_visibility="collapsed",
    )
    if view.section == "candidates":
        candidates.show(trace)
    elif view.section == "compare":
        compare.show(trace, view, workspace, dataset)
    else:
        stages.show(trace)


def _nothing_yet() -> None:
    st.header("Ask", anchor=False)
    st.info(NO_DATASET, icon=":material/folder_open:")
    st.code("assay ingest PATH --dataset NAME", language="bash")
