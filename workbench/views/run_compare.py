"""Two runs of the same data: what is distinguishable and what not, by tag, and who won and lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core.show.plain import literal
from evals.aggregates import figures_of
from evals.case_changes import CaseChange
from evals.compare import HEADLINES, Comparison
from evals.legend import ABOUT
from evals.show import run_charts, run_frames
from workbench import address, runs
from workbench.runs import RunHead
from workbench.views import progress, run_cases, shown

CHANGES = (
    "How to read it: the second run less the first, with its 95 % interval; left of the dotted line is less. A hollow "
    "circle is not distinguishable from chance at these cases (permutation test, Holm's adjustment for all figures, 5 %)."
)
TAGS = (
    "How to read it: the same figure among the cases of one tag. Groups are small and many, so intervals are shown "
    "and nothing is tested."
)
MOVED = "How to read it: cases whose figure changed, losses first. Select a row to see both rankings and both Traces."


def show(before: RunHead, after: RunHead) -> None:
    """Draws the comparison of ``after`` against ``before``."""
    known = list(figures_of([*runs.opened(before).rows, *runs.opened(after).rows]))
    default = next((name for name in HEADLINES[::-1] if name in known), known[0])
    address.take("runs:figure", known, default)
    figure = str(st.selectbox("Figure for tags and cases", known, key="runs:figure", format_func=_described))
    address.write(
        {"run": after.name, "against": before.name, "figure": figure, "case": st.query_params.get("case")}
    )
    key = runs.comparing(before, after)
    comparison = progress.result(key)
    if comparison is None:
        return
    cases, tags = runs.of_figure(key, figure, comparison)
    _settings(comparison)
    _findings(comparison)
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("**Every figure: second run less first**")
        table = run_frames.changes(comparison)
        drawn = table.dropna(subset=["difference"]).reset_index(drop=True)
        shown.chart(run_charts.differences(drawn, "figure"), table, CHANGES, "differences")
    with right:
        st.markdown(f"**By tag: {figure}**")
        _tags(run_frames.by_tag(tags))
    _moved(comparison, figure, cases)


def _described(name: str) -> str:
    return f"{name}: {ABOUT[name]}" if name in ABOUT else name


def _settings(comparison: Comparison) -> None:
    said = [f"{name}: {old} → {new}" for name, (old, new) in comparison.settings.items()]
    apart = len(comparison.only_before) + len(comparison.only_after)
    said.append(f"{comparison.cases:,} cases in both" + (f", {apart:,} in one only" if apart else ""))
    st.caption("What differs: " + "; ".join(literal(one) for one in said))


def _findings(comparison: Comparison) -> None:
    counts = Counter(change.finding for change in comparison.changes)
    cells = st.columns(4)
    for cell, (label, names) in zip(
        cells,
        {
            "Better": ("better",),
            "Worse": ("worse",),
            "Changed, neither better": ("higher", "lower"),
            "Not distinguishable": ("not distinguishable",),
        }.items(),
        strict=True,
    ):
        cell.metric(label, sum(counts[name] for name in names), border=True, help="figures")
    for table in comparison.abstained[:1]:
        st.caption(
            f"Abstentions (McNemar, all cases): {table.sentence}; only the first run abstains from "
            f"{table.only_before}, only the second from {table.only_after}, {_p(table.p_holm)}."
        )


def _p(value: float) -> str:
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"


def _tags(table: pd.DataFrame) -> None:
    table = table.dropna(subset=["difference"]).reset_index(drop=True)
    if table.empty:
        st.info("The cases of these runs have no tag.", icon=":material/label_off:")
        return
    largest = table.assign(size=table["n"]).nlargest(20, "size").sort_index().drop(columns="size")
    shown.chart(run_charts.differences(largest.reset_index(drop=True), "tag"), table, TAGS, "tags")
    if len(table) > len(largest):
        st.caption(f"The 20 largest of {len(table)} groups are drawn; the CSV has all.")


def _moved(comparison: Comparison, figure: str, cases: Sequence[CaseChange]) -> None:
    better = figures_of([*comparison.before.rows, *comparison.after.rows])[figure].better
    table = run_frames.moved(cases, better)
    losses, wins = (int((table["which"] == which).sum()) for which in ("loss", "win"))
    st.subheader(f"Cases: {wins:,} wins, {losses:,} losses", anchor=False, divider="grey")
    if table.empty:
        st.info(f"No single case's {figure} changed.", icon=":material/drag_handle:")
        return
    numbers = {
        name: st.column_config.NumberColumn(name, format="%.3f") for name in ("before", "after", "gain")
    }
    place = shown.table(table, MOVED, "wins-and-losses", pick="runs:moved", columns=numbers)
    if place is not None:
        st.session_state["runs:case"] = str(table.iloc[place]["case_id"])
    case_id = address.picked("runs:case", table["case_id"].tolist())
    if case_id is not None:
        st.query_params["case"] = case_id
        _both(comparison, case_id)


def _both(comparison: Comparison, case_id: str) -> None:
    sides = [
        (name, run.manifest, next(row for row in run.rows if row["case_id"] == case_id))
        for name, run in (("First run", comparison.before), ("Second run", comparison.after))
        if any(row["case_id"] == case_id for row in run.rows)
    ]
    dataset = str(sides[0][2]["dataset"])
    run_cases.case_card(run_cases.stored_cases([dataset]).get((dataset, case_id)), sides)
