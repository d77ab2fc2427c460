"""The page Data: what a data set holds, whether it is sound, and bringing in, embedding, exporting, deleting."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import streamlit as st

from core.ingest.embed import embed_missing
from core.progress import Progress
from core.records import Dataset
from core.show.plain import clean, literal, shortened
from core.store import Store
from core.workspace import Workspace
from evals import export
from evals.contents import Contents, contents
from evals.labelled import native_lines
from evals.overview import overview
from evals.show import run_charts
from evals.validate import ABOUT, Finding, validate
from workbench import address, data, settings
from workbench.jobs import jobs
from workbench.views import bring, progress, shown

HOLDS = "How to read it: rows of each kind. Nodes are memories (L0 raw, L1 notes, L2 syntheses), chunks are passages."
TAGS = "How to read it: how many labelled questions carry each value of a tag."
HEALTH = "How to read it: one row a finding, by check; `where` is the case, or `file:line` while one brings data in."
CHECKED_AT_ONCE = 20_000
"""Rows up to which a data set's health is looked at without being asked for."""
SECTIONS = ("What it holds", "Health", "Embed", "Export", "Delete")
CHANGING = ("Embed", "Delete")


@shown.guarded("Data")
def page() -> None:
    """Draws the page."""
    workspace = data.workspace()
    names = [found.name for found in workspace.store.datasets()]
    if not settings.read_only():
        bring.show(workspace)
    if not names:
        shown.empty(
            "There is no data set yet: bring one in above, or with", "assay ingest PATH --dataset NAME"
        )
        return
    st.subheader(f"Data sets ({len(names)})", anchor=False, divider="grey")
    address.take("data:dataset", names, names[0])
    sections = [name for name in SECTIONS if not (settings.read_only() and name in CHANGING)]
    address.take("data:section", sections, sections[0])
    name = str(st.selectbox("Data set", names, key="data:dataset"))
    section = str(
        st.segmented_control(
            "Section", sections, key="data:section", required=True, label_visibility="collapsed"
        )
    )
    address.write({"dataset": name, "section": section})
    _DRAW[section](workspace, workspace.store.dataset(name))


def _holds(workspace: Workspace, dataset: Dataset) -> None:
    counts = pd.DataFrame(
        [
            (kind.replace("nodes_", "nodes of "), count)
            for kind, count in workspace.store.counts(dataset.dataset_id).items()
            if count
        ],
        columns=["kind", "rows"],
    )
    if counts.empty:
        st.info("It holds nothing.", icon=":material/inbox:")
        return
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("**Rows by kind**")
        shown.chart(run_charts.sums(counts, "kind", "rows", "rows"), counts, HOLDS, "holds")
    with right:
        _labelled(workspace.store, dataset)


def _labelled(store: Store, dataset: Dataset) -> None:
    st.markdown("**Labelled questions**")
    known = data.labelled(store, dataset)
    if not known.cases:
        st.info(
            "It holds no labelled question: import a labelled set, or label answers on Cases.",
            icon=":material/label_off:",
        )
        return
    told = overview(Contents(name=dataset.name, texts={}, cases=known.cases, broken=known.broken))
    splits = pd.DataFrame([{"split": split or "(none)", **row} for split, row in told["splits"].items()])
    shown.table(splits, "How to read it: labelled questions by split.", "splits")
    tags = pd.DataFrame(
        [(name, value, count) for name, values in told["tags"].items() for value, count in values.items()],
        columns=["tag", "value", "cases"],
    )
    if not tags.empty:
        tags["value"] = [shortened(value, 120) for value in tags["value"]]
        shown.table(tags, TAGS, "tags", rows=6)


def _health(workspace: Workspace, dataset: Dataset) -> None:
    rows = sum(workspace.store.counts(dataset.dataset_id).values())
    key = f"health:{dataset.uid}@{dataset.revision}"
    if rows > CHECKED_AT_ONCE and jobs().get(key) is None:
        st.info(f"Checking reads all {rows:,} rows, beside the page.", icon=":material/health_and_safety:")
        if not st.button("Check it", key="data:check", icon=":material/play_arrow:"):
            return
    found = _findings(key, workspace.store, dataset)
    if found is None:
        return
    if not found:
        st.success("Sound: none of the checks found anything.", icon=":material/check_circle:")
        _checks()
        return
    findings(found)


def _findings(key: str, store: Store, dataset: Dataset) -> list[Finding] | None:
    """The findings, worked out once a revision in a thread of its own; None while that runs."""

    def work(_: Progress) -> list[Finding]:
        return validate(contents(store, dataset))

    if jobs().get(key) is None:
        jobs().start(key, f"checking {dataset.name}", work)
    return progress.result(key)


def findings(found: list[Finding]) -> None:
    """What is wrong, by check, with the place of each."""
    table = pd.DataFrame(
        [(one.check, ABOUT[one.check], clean(one.where), shortened(one.what, 500)) for one in found],
        columns=["check", "about", "where", "what"],
    )
    counts = table.groupby("check", sort=False).size()
    st.warning(
        f"{len(found):,} findings: " + ", ".join(f"{count:,} {name}" for name, count in counts.items()),
        icon=":material/warning:",
    )
    shown.table(table[["where", "what", "check", "about"]], HEALTH, "findings", rows=12)


def _checks() -> None:
    st.caption("Checked: " + "; ".join(ABOUT.values()) + ".")


def _embed(workspace: Workspace, dataset: Dataset) -> None:
    model = workspace.embedder.model_id
    st.caption(
        f"Gives every text a vector of `{model}`; what has one is left alone. Work goes on beside the page and may be "
        "stopped: what is finished is kept."
    )
    key = f"embed:{dataset.uid}"
    if progress.show(key):
        return
    if st.button("Embed what has no vector yet", key="data:embed", icon=":material/scatter_plot:"):

        def work(step: Progress) -> str:
            report = embed_missing(workspace.store, workspace.embedder, [dataset.dataset_id], progress=step)
            said = f"{report.embedded:,} texts embedded, {report.cached:,} already were"
            return f"{said}, {report.without_tokens:,} have no words"

        total = workspace.store.text_count([dataset.dataset_id])
        jobs().start(key, f"embedding {dataset.name}", work, total=total)
        st.rerun()


def _export(workspace: Workspace, dataset: Dataset) -> None:
    cases = data.labelled(workspace.store, dataset).cases
    if not cases:
        st.info("It holds no labelled question, so there is nothing to export.", icon=":material/label_off:")
        return
    st.caption(
        f"{len(cases):,} labelled questions, as files other tools read; native lines go back in with `assay ingest`."
    )

    def ragas() -> str:
        return "".join(export.ragas_samples([contents(workspace.store, dataset)]))

    for column, (label, file, made) in zip(
        st.columns(4),
        (
            ("Native (JSON Lines)", "cases.jsonl", lambda: "".join(native_lines(cases))),
            ("CSV", "cases.csv", lambda: "".join(export.cases_csv(cases))),
            ("TREC qrels", "cases.qrels", lambda: "".join(export.trec_qrels(cases))),
            ("ragas", "cases.ragas.jsonl", ragas),
        ),
        strict=True,
    ):
        column.download_button(
            label,
            made,
            file_name=file,
            key=f"export:{file}",
            icon=":material/download:",
            on_click="ignore",
            width="stretch",
        )


def _delete(workspace: Workspace, dataset: Dataset) -> None:
    st.warning(
        f"Deletes {literal(dataset.name)} with all it holds, its labels too. There is no way back.",
        icon=":material/delete:",
    )
    typed = st.text_input("Type the name of the data set to delete it", key=f"data:typed:{dataset.uid}")
    st.button(
        "Delete this data set",
        key="data:delete",
        icon=":material/delete_forever:",
        disabled=typed != dataset.name,
        on_click=_deleted,
        args=(workspace.store, dataset, typed),
    )


def _deleted(store: Store, dataset: Dataset, typed: str) -> None:
    if typed == dataset.name and not settings.read_only():
        store.delete_dataset(dataset.name)
        st.session_state.pop("data:dataset", None)
        st.toast("Deleted.", icon=":material/delete:")


_DRAW: dict[str, Callable[[Workspace, Dataset], None]] = {
    "What it holds": _holds,
    "Health": _health,
    "Embed": _embed,
    "Export": _export,
    "Delete": _delete,
}
