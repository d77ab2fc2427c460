"""What a killed job may leave, and what must be there: for each job a check of the folder and its final state."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

from core.errors import DataError, RecordingError
from core.store import Store
from evals.recording_files import load
from evals.run_files import LOG, line
from evals.run_folder import load_run
from tests.faults.jobs import DB, LABELS, OLD, OUT, row_count

Rows = dict[str, list[tuple[object, ...]]]
CHANCE = {"created_at", "updated_at", "uid", "revision"}
"""Columns that are of the moment or random."""
CALLS = {"trajectory", "trajectory_step", "inference", "event"}
RUN_FILES = ("rows.jsonl", "failures.jsonl", "summary.json")


def rows_of(db: Path) -> Rows:
    """Every row of every table with its numbers; the database is checked to be whole."""
    tables: Rows = {}
    with closing(sqlite3.connect(db)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            if table in CALLS:
                continue
            names = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            kept = [name for name in names if name not in CHANCE]
            if table == "fact":  # its hash holds the moment it was told
                kept = [
                    name if name != "expired_at" else "expired_at IS NULL"
                    for name in kept
                    if name != "content_hash"
                ]
            rows = connection.execute(f"SELECT {', '.join(kept)} FROM {table}")  # noqa: S608
            tables[table] = sorted(rows, key=repr)
    return tables


def nothing_half_written(db: Path, whole: Rows, *, growing: Sequence[str]) -> None:
    """Every row of the ``growing`` tables is one of an undisturbed run, and an artifact has all its chunks and nodes."""
    if not db.exists():
        return
    there = rows_of(db)
    for table in growing:
        strange = Counter(there.get(table, ())) - Counter(whole[table])
        assert not strange, f"{table}: {list(strange)[:3]}"
    if "artifact" in there:
        artifacts = {row[0] for row in there["artifact"]}
        for table in ("chunk", "node"):
            owned = [row for row in whole[table] if _artifact_of(table, row) in artifacts]
            missing = Counter(owned) - Counter(there[table])
            assert not missing, f"{table}: {list(missing)[:3]} of artifacts that are there"


def _artifact_of(table: str, row: tuple[object, ...]) -> object:
    return row[2] if table == "chunk" else row[3]


def imported(folder: Path, acknowledged: Sequence[Any], whole: Any) -> None:
    """No fewer rows than were acknowledged; each as an undisturbed run has it."""
    growing = ("artifact", "chunk", "fact", "node", "node_link", "labelled_case", "embedding")
    nothing_half_written(folder / DB, whole, growing=growing)
    if acknowledged:
        with Store.open(folder / DB, create=False) as store:
            assert row_count(store) >= acknowledged[-1]


def remembered(folder: Path, acknowledged: Sequence[Any], whole: Any) -> None:
    """Every acknowledged text is there under its number, with its facts."""
    growing = ("artifact", "chunk", "node", "embedding")
    nothing_half_written(folder / DB, whole, growing=growing)
    if not (folder / DB).exists():
        return
    with Store.open(folder / DB, create=False) as store:
        artifacts = dict(store.database.rows("SELECT source, artifact_id FROM artifact"))
        facts = Counter(number for (number,) in store.database.rows("SELECT artifact_id FROM fact"))
    assert set(artifacts.values()) == set(facts), "a text without its facts, or facts without their text"
    for said in acknowledged:
        assert artifacts.get(said["source"]) == said["artifact_id"]


def labelled(folder: Path, acknowledged: Sequence[Any], whole: Any) -> None:
    """Every acknowledged label is there, whole."""
    nothing_half_written(folder / DB, whole, growing=("label",))
    if acknowledged:
        with Store.open(folder / DB, create=False) as store:
            found = store.labels.latest([store.dataset("main").dataset_id])
        assert set(acknowledged) <= {one.case_id for one in found} <= {f"c{n:02}" for n in range(LABELS)}


def evaluated(folder: Path, acknowledged: Sequence[Any], whole: Any) -> None:
    """The log holds every acknowledged case until the run is whole; a run that can be read is a whole one, this or the
    older one."""
    out = folder / OUT
    texts = {whole["rows.jsonl"].decode()}
    if (folder / OLD).exists():
        texts.add((folder / OLD / "rows.jsonl").read_text())
    try:
        rows = "".join(map(line, load_run(out).rows))
    except DataError:
        rows = ""
    assert not rows or rows in texts
    if rows != whole["rows.jsonl"].decode():
        text = (out / LOG).read_text() if (out / LOG).exists() else ""
        logged = [json.loads(one)["key"] for one in text.splitlines(keepends=True)[1:] if one.endswith("\n")]
        assert not (lost := [key for key in acknowledged if key not in logged]), lost


def recorded(folder: Path, acknowledged: Sequence[Any], whole: Any) -> None:
    """Every acknowledged case has its piece until the recording is whole; a recording that can be read is a whole one,
    this or the older one."""
    out = folder / OUT
    try:
        found = recording_of(out)
    except RecordingError:
        assert not out.exists(), "a recording that cannot be read stands in the place of a whole one"
        found = {}
    if found != whole:
        assert not found or found == recording_of(folder / OLD)
        with_pieces = {int(file.stem) for file in folder.glob(f".{OUT}.draft-*/*.npz")}
        assert set(acknowledged) <= with_pieces


def recording_of(out: Path) -> Mapping[str, Any]:
    """All that a recording holds, without when it was made."""
    found = load(out)
    arrays = {name: (array.dtype.str, array.shape, array.tobytes()) for name, array in found.arrays.items()}
    header = {name: value for name, value in asdict(found.header).items() if name != "recorded_at"}
    return {"header": header, "cases": found.cases, "rows": found.rows, "arrays": arrays}


def run_of(out: Path) -> Mapping[str, bytes]:
    """The files of a run that are equal for equal inputs; a log that was gone on with is gone."""
    assert not (out / LOG).exists()
    return {name: (out / name).read_bytes() for name in RUN_FILES}
