"""The page Runs: past evaluations, one looked into, two compared."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.show.plain import literal
from evals.run_folder import Run
from evals.show import run_charts, run_frames
from workbench import address, runs, settings
from workbench.runs import RunHead
from workbench.views import run_cases, run_compare, shown

NONE = "(no comparison)"
LIST = (
    "How to read it: the latest first. correct: answered citing gold, or rightly abstained; selective_risk: share of "
    "the answered that is wrong."
)
FIGURES = (
    "How to read it: each dot is a figure of this run, the bar its 95 % interval, resampled by document. "
    "Where bars are wide, the cases are few."
)
OUTCOMES = "How to read it: what became of every case; failing kinds stand on top."


@shown.guarded("Runs")
def page() -> None:
    """Draws the page."""
    folder = settings.runs_folder()
    heads, wrong = runs.found(folder)
    for said in wrong:
        st.warning(literal(said), icon=":material/warning:")
    if not heads:
        _nothing_yet(str(folder))
        return
    names = [head.name for head in heads]
    address.take("runs:run", names, names[0])
    address.take("runs:against", [NONE, *names], NONE)
    head, other = _chosen(heads)
    if other is not None:
        run_compare.show(other, head)
        return
    part = st.session_state.get("runs:part") or st.query_params.get("part")
    address.write({"run": head.name, "part": part, "case": address.picked("runs:case", _case_ids(head))})
    _one(head, heads)


def _case_ids(head: RunHead) -> list[str]:
    return [str(row["case_id"]) for row in runs.opened(head).rows]


def _chosen(heads: Sequence[RunHead]) -> tuple[RunHead, RunHead | None]:
    by_name = {head.name: head for head in heads}
    left, right = st.columns(2)
    name = left.selectbox("Run", list(by_name), key="runs:run", help="Folders of `assay eval --out`.")
    chosen = by_name[str(name)]
    against = right.selectbox(
        "Compared with the earlier run",
        [NONE, *(other for other in by_name if other != name)],
        key="runs:against",
        help="Both must have asked the same data. The run on the left is the second one: a gain is its gain.",
    )
    return chosen, by_name.get(str(against))


def _one(head: RunHead, heads: Sequence[RunHead]) -> None:
    run = runs.opened(head)
    _headline(head)
    left, right = st.columns([3, 2], gap="large")
    with left:
        _figures(head)
    with right:
        st.markdown("**What became of the cases**")
        said = run_frames.counted(run_frames.outcomes(run).values())
        shown.chart(run_charts.outcomes(said), said, OUTCOMES, "outcomes")
        _made(head, run)
    run_cases.show(run)
    st.subheader(f"All runs ({len(heads)})", anchor=False, divider="grey")
    shown.table(runs.overview(heads), LIST, "runs", columns=_columns(), rows=12)


def _headline(head: RunHead) -> None:
    cells = st.columns(5)
    cases = head.summary.get("cases") or {}
    cells[0].metric("Cases scored", f"{cases.get('scored', 0):,}", border=True)
    cells[1].metric("Failed", f"{cases.get('failed', 0):,}", border=True)
    for cell, name in zip(cells[2:], ("correct", "selective_risk", "ndcg@10"), strict=True):
        value = head.value(name)
        cell.metric(name, "–" if value is None else f"{value:.3f}", border=True)


def _figures(head: RunHead) -> None:
    table = run_frames.figures(head.summary)
    st.markdown("**Figures with their intervals**")
    if table.empty:
        st.info("This run has no figure with a value.", icon=":material/square_foot:")
        return
    parts = list(dict.fromkeys(table["part"]))
    address.take("runs:part", parts, parts[0])
    part = st.segmented_control("Part", parts, key="runs:part", required=True, label_visibility="collapsed")
    st.query_params["part"] = str(part)
    drawn = table[table["part"] == part]
    shown.chart(run_charts.intervals(drawn), drawn, FIGURES, "figures")


def _made(head: RunHead, run: Run) -> None:
    with st.expander("How it was made", icon=":material/fingerprint:"):
        lines = [f"{name}: {value}" for name, value in head.manifest.items() if name != "values"]
        st.code("\n".join([*lines, f"folder: {run.source}"]), language=None, wrap_lines=True)


def _columns() -> dict[str, object]:
    numbers = {name: st.column_config.NumberColumn(name, format="%.3f") for name in runs.HEADS}
    return numbers | {"written": st.column_config.DatetimeColumn("written", format="YYYY-MM-DD HH:mm")}


def _nothing_yet(folder: str) -> None:
    shown.empty(
        f"There is no finished evaluation in {literal(folder)} yet. This makes one; then reload this page. "
        "Evaluations elsewhere: `assay app --runs FOLDER`, or `ASSAY_RUNS`.",
        "assay eval --dataset meridian --recipe brain --out out/meridian-brain",
        ":material/monitoring:",
    )
