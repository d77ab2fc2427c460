"""What is killed: import, remember, record, eval and label, each through the product's own functions.

A job works in a folder that was prepared for it and calls ``acknowledge`` with what it was told is kept.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from core import profile as profiles
from core.ingest import embed, ingestor
from core.ingest.folder import read_paths
from core.models.scripted_chat import Scripted
from core.models.wordllama import WordLlama
from core.remember.remember import remember
from core.store import Store
from core.store.labels import Label
from core.trace import Trace
from core.workspace import Workspace
from evals import manifest
from evals.cli import stored_cases
from evals.record import record
from evals.record_piece import Draft, Piece, forget
from evals.recording_files import refuse_other, save
from evals.run_files import Entry, Key, RunLog
from evals.runs import EvalRequest, evaluate

Acknowledge = Callable[[Any], None]
DB, INPUT, OUT, OLD = "assay.db", "input", "out", "older"
SCRIPT, TEXTS = "script.jsonl", "texts.json"
RECIPE, PROFILE = "brain", "seed"
LABELS = 60
for name in ("bm25s", "faiss", "sklearn.feature_extraction.text"):  # else every child would import them again
    importlib.import_module(name)
EMBEDDER = WordLlama()
EMBEDDER.embed(["loads its weights before the first fork"])


def import_(folder: Path, acknowledge: Acknowledge) -> None:
    """Stores and embeds the input in two datasets, in small batches; acknowledges how many rows there are after each."""
    embed.BATCH = 20
    with Store.open(folder / DB) as store:
        for name in ("one", "two"):
            ingestor.ingest(
                store,
                name,
                read_paths([folder / INPUT]),
                batch=10,
                progress=lambda _: acknowledge(row_count(store)),
            )
            ids = [store.dataset(name).dataset_id]
            embed.embed_missing(store, EMBEDDER, ids, progress=lambda _: acknowledge(row_count(store)))


def row_count(store: Store) -> int:
    """Rows of the tables that only grow while something is imported."""
    tables = ("artifact", "chunk", "entity", "fact", "node", "node_link", "labelled_case", "embedding")
    return sum(int(str(store.database.rows(f"SELECT count(*) FROM {one}")[0][0])) for one in tables)  # noqa: S608


def remember_(folder: Path, acknowledge: Acknowledge) -> None:
    """Remembers one text after another, a scripted model extracting; acknowledges the source of each."""
    texts: dict[str, str] = json.loads((folder / TEXTS).read_text())
    with Workspace.open(folder / DB, embedder=EMBEDDER) as workspace:
        for source, text in texts.items():
            done = remember(
                workspace, text, source=source, valid_at="2024-05-01", chat=Scripted(folder / SCRIPT)
            )
            acknowledge({"source": source, "artifact_id": done.artifact_id})


def label(folder: Path, acknowledge: Acknowledge) -> None:
    """Labels cases; acknowledges each. Cases that have a label are passed over, as a labeller would."""
    with Store.open(folder / DB) as store:
        dataset = store.ensure_dataset("main").dataset_id
        known = {one.case_id for one in store.labels.latest([dataset])}
        for case_id in (f"c{number:02}" for number in range(LABELS)):
            if case_id not in known:
                store.labels.add(
                    dataset, Label(case_id=case_id, labeller="Ada", verdict="wrong", question="Why?")
                )
                acknowledge(case_id)


def eval_(folder: Path, acknowledge: Acknowledge, first: int | None = None) -> None:
    """Evaluates the (first) labelled questions; acknowledges each that is scored."""
    add: Callable[[RunLog, Key, Entry], None] = RunLog.add

    def added(self: RunLog, key: Key, entry: Entry) -> None:
        add(self, key, entry)
        acknowledge(list(key))

    RunLog.add = added  # type: ignore[method-assign]
    chosen = profiles.load(PROFILE, RECIPE)
    with Workspace.open(folder / DB, embedder=EMBEDDER, create=False) as workspace:

        def ask(request: EvalRequest) -> Trace:
            case = request.case
            return workspace.ask(case.question, dataset=request.dataset, recipe="brain", profile=chosen)

        cases, _ = stored_cases(workspace, "meridian", "local")
        made_of = manifest.of_data(workspace, "meridian", "local") | manifest.of_pipeline(
            workspace, "brain", chosen
        )
        evaluate(cases[:first], ask, folder / OUT, manifest=made_of)


def record_(folder: Path, acknowledge: Acknowledge, first: int | None = None) -> None:
    """Records the (first) labelled questions as `assay record` does; acknowledges each that is kept."""
    put = Draft.put

    def kept(self: Draft, number: int, piece: Piece) -> None:
        put(self, number, piece)
        acknowledge(number)

    Draft.put = kept  # type: ignore[method-assign]
    out = folder / OUT
    refuse_other(out)
    with Workspace.open(folder / DB, embedder=EMBEDDER, create=False) as workspace:
        cases, _ = stored_cases(workspace, "meridian", "local")
        recording = record(
            workspace, cases[:first], recipe="brain", profile=profiles.load(PROFILE, RECIPE), out=out
        )
    save(recording, out)
    forget(out)


JOBS: dict[str, Callable[[Path, Acknowledge], None]] = {
    "import": import_,
    "remember": remember_,
    "record": record_,
    "eval": eval_,
    "label": label,
}
