"""The page Cases: a labelled set to browse, filter and search, failing kinds first; label, agree, export."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from core.records import Dataset
from core.show.plain import literal
from core.store import Store
from core.store.labels import Label
from evals.cases import Case
from evals.show import run_charts, run_frames
from workbench import address, case_frames, data, runs, settings
from workbench.runs import RunHead
from workbench.views import agreed, label, shown

ANY = "(any)"
NO_RUN = "(no run)"
LABELLED = ("labelled", "not labelled")
LIST = "How to read it: with a run, failing kinds stand first. Select a row to see the answer and label it."
OUTCOMES = "How to read it: what became of the cases that fit, in the chosen run; failing kinds on top."
CASE = "cases:case"


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What is asked for; empty lets all pass."""

    search: str
    split: str
    kind: str
    tag: str
    labels: str


@shown.guarded("Cases")
def page() -> None:
    """Draws the page."""
    store = data.workspace().store
    names = [found.name for found in store.datasets()]
    if not names:
        shown.empty(
            "There is no data set yet. A labelled set comes in with",
            "assay import scifact PATH --dataset scifact",
        )
        return
    address.take("cases:dataset", names, names[0])
    left, right = st.columns(2)
    dataset = store.dataset(str(left.selectbox("Data set", names, key="cases:dataset", on_change=_forget)))
    head = _run(right, dataset)
    known = data.labelled(store, dataset)
    if known.broken:
        st.warning(
            f"{len(known.broken):,} labelled questions are no case; Data → Health says why.",
            icon=":material/warning:",
        )
    if not known.cases:
        shown.empty(
            f"{literal(dataset.name)} holds no labelled question. Bring `case` lines in on Data, or",
            "assay import FORMAT PATH --dataset NAME",
            ":material/label_off:",
        )
        return
    filters = _filters(known.cases)
    labels = store.labels.latest([dataset.dataset_id])
    _browse(store, dataset, head, _fitting(known.cases, labels, filters), labels, filters)
    agreed.show(store, dataset, known.cases, labels)


def _run(place: st.delta_generator.DeltaGenerator, dataset: Dataset) -> RunHead | None:
    heads = [head for head in runs.found(settings.runs_folder())[0] if dataset.name in head.datasets]
    by_name = {head.name: head for head in heads}
    address.take("cases:run", [NO_RUN, *by_name], next(iter(by_name), NO_RUN))
    name = place.selectbox(
        "Run",
        [NO_RUN, *by_name],
        key="cases:run",
        help="What became of each case in it; failing kinds come first.",
    )
    return by_name.get(str(name))


def _filters(known: Sequence[Case]) -> Filters:
    options = {
        "split": [ANY, *sorted({case.split for case in known if case.split})],
        "kind": [ANY, *sorted({case_frames.kind_of(case) for case in known})],
        "tag": [ANY, *sorted({tag for case in known for tag in case_frames.tags_of(case)})],
        "labels": [ANY, *LABELLED],
    }
    address.take_text("cases:search")
    cells = st.columns([3, 1, 1, 2, 1])
    search = cells[0].text_input(
        "Search",
        key="cases:search",
        placeholder="words of the question, answer or evidence",
        max_chars=address.MAX_SEARCH,
    )
    chosen = {}
    for cell, (name, values) in zip(cells[1:], options.items(), strict=True):
        address.take(f"cases:{name}", values, ANY)
        picked = str(cell.selectbox(name.capitalize(), values, key=f"cases:{name}"))
        chosen[name] = "" if picked == ANY else picked
    return Filters(search=search.strip(), **chosen)


def _fitting(known: Sequence[Case], labels: Sequence[Label], wanted: Filters) -> list[Case]:
    fit = case_frames.fitting(
        known, search=wanted.search, split=wanted.split, kind=wanted.kind, tag=wanted.tag
    )
    if not wanted.labels:
        return fit
    done = {one.case_id for one in labels}
    return [case for case in fit if (case.case_id in done) == (wanted.labels == LABELLED[0])]


def _browse(
    store: Store,
    dataset: Dataset,
    head: RunHead | None,
    fit: Sequence[Case],
    labels: Sequence[Label],
    filters: Filters,
) -> None:
    outcomes = _outcomes(head, dataset) if head else None
    table = case_frames.cases(fit, labels, outcomes)
    st.subheader(f"Cases ({len(fit):,})", anchor=False, divider="grey")
    if table.empty:
        st.info("No case fits these filters.", icon=":material/filter_alt_off:")
        _write(dataset, head, filters, None)
        return
    ids = table["case_id"].tolist()
    case_id = _listed(table, outcomes is not None, ids)
    _write(dataset, head, filters, case_id)
    if case_id is None:
        st.info("Select a row to see the answer and label it.", icon=":material/touch_app:")
        return
    _walk(ids, case_id)
    case = next(case for case in fit if case.case_id == case_id)
    label.show(store, dataset, head, case, [one for one in labels if one.case_id == case_id])


def _listed(table: pd.DataFrame, with_outcomes: bool, ids: Sequence[str]) -> str | None:
    """Draws the list, beside what became of the cases; the picked case."""
    if not with_outcomes:
        place = shown.table(table, LIST, "cases", pick="cases:rows", rows=8)
    else:
        left, right = st.columns([5, 3], gap="medium")
        with left:
            place = shown.table(table, LIST, "cases", pick="cases:rows", rows=8)
        with right:
            counts = table["outcome"].value_counts()
            drawn = run_frames.counted(table["outcome"])
            if drawn.empty:
                st.info(
                    f"None of these {int(counts.sum()):,} cases is in the run.", icon=":material/link_off:"
                )
            else:
                shown.chart(run_charts.outcomes(drawn), drawn, OUTCOMES, "outcomes")
    if place is not None and st.session_state.get("cases:seen") != place:
        st.session_state[CASE] = ids[place]
    st.session_state["cases:seen"] = place
    return address.picked(CASE, ids)


def _outcomes(head: RunHead, dataset: Dataset) -> dict[str, str]:
    said = run_frames.outcomes(runs.opened(head))
    return {case_id: outcome for (name, case_id), outcome in said.items() if name == dataset.name}


def _walk(ids: Sequence[str], case_id: str) -> None:
    place = ids.index(case_id)
    row = st.container(horizontal=True, vertical_alignment="center")
    for text, to, icon in (("Previous", place - 1, "arrow_back"), ("Next", place + 1, "arrow_forward")):
        row.button(
            text,
            key=f"cases:{text}",
            icon=f":material/{icon}:",
            disabled=not 0 <= to < len(ids),
            on_click=_go,
            args=(ids[to % len(ids)],),
        )
    row.caption(f"{place + 1:,} of {len(ids):,}", width="content")


def _go(case_id: str) -> None:
    st.session_state[CASE] = case_id


def _forget() -> None:
    for key in (CASE, "cases:run", "cases:split", "cases:kind", "cases:tag"):
        st.session_state.pop(key, None)
    st.query_params.clear()


def _write(dataset: Dataset, head: RunHead | None, filters: Filters, case_id: str | None) -> None:
    address.write(
        {
            "dataset": dataset.name,
            "run": head.name if head else NO_RUN,
            "search": filters.search,
            "split": filters.split,
            "kind": filters.kind,
            "tag": filters.tag,
            "labels": filters.labels,
            "case": case_id,
        }
    )
