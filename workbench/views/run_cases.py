"""The cases of one run, failing kinds first, and one of them with the way to its Trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from core.errors import DataError, NotFoundError
from core.show.plain import clean, literal, shortened
from evals.cases import Case
from evals.run_folder import Run
from evals.show import run_frames
from workbench import address, data, runs
from workbench.views import shown

TEXT = 160
RANKS = 10
"""Ranks that are listed, beside those of gold evidence."""
READING = (
    "How to read it: failing kinds first, then by confidence, most sure first: a sure and wrong answer tells most. "
    "Select a row to look into the case."
)


def show(run: Run) -> None:
    """Draws the table and the picked case."""
    st.subheader(f"Cases ({len(run.rows) + run.failures:,})", anchor=False, divider="grey")
    cases = stored_cases(sorted({str(row["dataset"]) for row in run.rows}))
    table = _table(run, cases)
    place = shown.table(table, READING, "run-cases", pick="runs:rows", rows=10, columns=_columns())
    if place is not None:
        st.session_state["runs:case"] = str(table.iloc[place]["case_id"])
    case_id = address.picked("runs:case", table["case_id"].tolist())
    if case_id is None:
        return
    st.query_params["case"] = case_id
    for row in [row for row in run.rows if row["case_id"] == case_id][:1]:
        case_card(cases.get((str(row["dataset"]), case_id)), [("This run", run.manifest, row)])


def stored_cases(datasets: Sequence[str]) -> dict[tuple[str, str], Case]:
    """(data set, case id) → the case as it is stored now; data sets that are gone have none."""
    store = data.workspace().store
    found = {}
    for name in datasets:
        try:
            dataset = store.dataset(name)
        except NotFoundError:
            continue
        for case in data.labelled(store, dataset).cases:
            found[name, case.case_id] = case
    return found


def case_card(case: Case | None, sides: Sequence[tuple[str, Mapping[str, Any], Mapping[str, Any]]]) -> None:
    """One case: its question and gold, and for each run what became of it, with a link to its Trace on Ask."""
    with st.container(border=True):
        first = sides[0][2]
        st.caption(f"case {literal(str(first['case_id']))} of {literal(str(first['dataset']))}")
        if case is None:
            st.info(
                "This case is not stored any more: its question cannot be asked again.",
                icon=":material/link_off:",
            )
        else:
            st.text(clean(shortened(case.question, 2000)))
            _gold(case)
        for column, (name, manifest, row) in zip(st.columns(len(sides)), sides, strict=True):
            with column:
                _side(name, manifest, row, case)


def _gold(case: Case) -> None:
    said = [f"answer: {shortened(answer, 300)}" for answer in case.answers[:3]]
    said += [f"evidence: {shortened(gold.key, 200)}" for gold in case.gold[:6]]
    st.code("\n".join(said) or "no gold answer or evidence", language=None, wrap_lines=True)


def _side(name: str, manifest: Mapping[str, Any], row: Mapping[str, Any], case: Case | None) -> None:
    st.markdown(f"**{name}**: {run_frames.outcome(row)}")
    confidence = row.get("confidence")
    lines = [f"confidence: {confidence:.3f}" if isinstance(confidence, float) else "confidence: none"]
    gold = {each.key for each in case.gold} if case else set()
    ranking = [str(key) for key in row.get("ranking", ())]
    lines += [
        f"{rank:>2}. {'★' if key in gold else ' '} {shortened(key, TEXT)}"
        for rank, key in enumerate(ranking, start=1)
        if rank <= RANKS or key in gold
    ]
    st.code("\n".join(lines), language=None, wrap_lines=True, height="content")
    link = runs.ask_link(manifest, str(row["dataset"]), case) if case else None
    if link:
        st.link_button("Open its Trace on Ask", link, icon=":material/open_in_new:", key=f"trace:{name}")


def _table(run: Run, cases: Mapping[tuple[str, str], Case]) -> pd.DataFrame:
    order = {name: place for place, name in enumerate(run_frames.OUTCOMES)}
    rows = [
        {
            "outcome": run_frames.outcome(row),
            "confidence": row.get("confidence"),
            "question": shortened(cases[key].question, TEXT) if (key := _key(row)) in cases else "",
            "case_id": str(row["case_id"]),
            "dataset": str(row["dataset"]),
            "split": row.get("split"),
            "tags": ", ".join(f"{name}={value}" for name, value in (row.get("tags") or {}).items()),
            "ndcg@10": row.get("ndcg@10"),
            "citation_f1": row.get("citation_f1"),
        }
        for row in run.rows
    ]
    rows += [{"outcome": "broke", "case_id": case_id, "dataset": dataset} for dataset, case_id in run.failed]
    frame = pd.DataFrame(rows, columns=list(rows[0]) if rows else ["outcome", "case_id", "dataset"])
    if frame.empty:
        raise DataError(f"{run.source} holds no case; run `assay eval` again")
    ranked = frame.assign(
        order=frame["outcome"].map(order), sure=-pd.to_numeric(frame["confidence"]).fillna(-1)
    )
    return (
        ranked.sort_values(["order", "sure", "case_id"])
        .drop(columns=["order", "sure"])
        .reset_index(drop=True)
    )


def _key(row: Mapping[str, Any]) -> tuple[str, str]:
    return str(row["dataset"]), str(row["case_id"])


def _columns() -> dict[str, object]:
    return {
        "question": st.column_config.TextColumn("question", width="large"),
        **{
            name: st.column_config.NumberColumn(name, format="%.3f")
            for name in ("confidence", "ndcg@10", "citation_f1")
        },
    }
