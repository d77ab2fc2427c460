"""How far labellers agree, and the labels as a labelled set to take away."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.records import Dataset
from core.show.plain import literal, shortened
from core.store import Store
from core.store.labels import Label
from evals.agreement import Agreement, of_labels
from evals.cases import Case
from evals.labelled import labelled_cases, native_lines
from evals.show import run_charts
from workbench import case_frames
from workbench.views import shown

PAIRS = (
    "How to read it: alike is the share of shared cases judged alike, by chance what would be so anyway; kappa (Cohen) "
    "is 1 for full agreement and 0 for chance."
)
TABLE = (
    "How to read it: cases by both verdicts; those on the diagonal were judged alike, talk about the others."
)


def show(store: Store, dataset: Dataset, cases: Sequence[Case], labels: Sequence[Label]) -> None:
    """Draws agreement and export."""
    st.subheader(f"Labels ({len(labels):,})", anchor=False, divider="grey")
    if not labels:
        st.info("No answer of this data set was labelled yet: select a case above.", icon=":material/label:")
        return
    _export(dataset, cases, labels)
    pairs = of_labels(labels)
    if not pairs:
        st.info("Agreement takes two labellers; so far one person labelled.", icon=":material/group:")
        return
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("**Agreement of labellers**")
        numbers = {
            name: st.column_config.NumberColumn(name, format="%.3f")
            for name in ("alike", "by chance", "kappa")
        }
        shown.table(case_frames.agreements(pairs), PAIRS, "agreement", columns=numbers, rows=6)
    with right:
        _verdicts(pairs)


def _verdicts(pairs: Sequence[Agreement]) -> None:
    """The table of the pair with most cases in common, or of the one that is chosen."""
    best = max(range(len(pairs)), key=lambda place: pairs[place].n)
    place = st.selectbox(
        "Pair",
        range(len(pairs)),
        index=best,
        key="cases:pair",
        format_func=lambda place: shortened(f"{pairs[place].first} and {pairs[place].second}", 80),
    )
    pair = pairs[place]
    if not pair.n:
        st.info("They judged no case in common.", icon=":material/group_off:")
        return
    table = case_frames.verdicts(pair)
    shown.chart(run_charts.agreement(table, pair.first, pair.second), table.reset_index(), TABLE, "verdicts")


def _export(dataset: Dataset, cases: Sequence[Case], labels: Sequence[Label]) -> None:
    made = labelled_cases(cases, labels)
    row = st.container(horizontal=True, vertical_alignment="center")
    row.download_button(
        f"Export {len(made.cases):,} labelled cases",
        lambda: "".join(native_lines(made.cases)),
        file_name="cases.jsonl",
        mime="application/jsonl",
        key="cases:export",
        icon=":material/download:",
        on_click="ignore",
        disabled=not made.cases,
    )
    row.caption("Then, to score on them:", width="content")
    row.code(
        "assay ingest cases.jsonl --dataset NAME && assay eval --dataset NAME --out out/NAME", language="bash"
    )
    if made.disputed:
        few = ", ".join(literal(shortened(case_id, 60)) for case_id in made.disputed[:8])
        more = f" and {len(made.disputed) - 8:,} more" if len(made.disputed) > 8 else ""
        st.caption(f"Left out, as labellers differ with no majority: {few}{more}.")
