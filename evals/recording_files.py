"""Writing and reading recordings: a folder that appears whole, with a checksum of every file."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import fields
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import AssayError, RecordingError, UsageError
from core.records import Chunk, Entity, Fact, Node, NodeLink
from evals.cases import Case
from evals.drafts import draft_of, replace_folder, settle
from evals.recording import FORMAT, ArtifactSource, Header, RecordedCase, Recording

HEADER, CASES, ROWS = "header.json", "cases.jsonl", "rows.jsonl"
TABLES = {
    "node": Node,
    "link": NodeLink,
    "entity": Entity,
    "fact": Fact,
    "chunk": Chunk,
    "artifact": ArtifactSource,
}
"""Table of ``rows`` → record."""


def save(recording: Recording, folder: Path) -> None:
    """Writes the recording as ``folder``; an older recording there is replaced, anything else is not.

    Raises:
        UsageError: ``folder`` holds something else, or cannot be written; what was there is still there then.
    """
    refuse_other(folder)
    draft = draft_of(folder)
    try:
        draft.mkdir(parents=True)
        _write(recording, draft)
        replace_folder(draft, folder)
    except OSError as error:
        raise UsageError(f"{folder}: cannot be written: {error.strerror}; choose another --out") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def refuse_other(folder: Path) -> None:
    """Raises UsageError for a folder (or file) that is there and is no recording; what a kill left of it is cleared."""
    settle(folder)
    if (
        folder.exists()
        and not (folder / HEADER).is_file()
        and not (folder.is_dir() and not any(folder.iterdir()))
    ):
        raise UsageError(f"{folder} exists and is no recording; choose another --out")


def load(folder: Path) -> Recording:
    """The recording in ``folder``; its arrays are mapped into memory, not read.

    Raises:
        RecordingError: no recording, one of another version, or a damaged one; the message says which file.
    """
    if not (folder / HEADER).is_file():
        raise RecordingError(f"{folder} is no recording: it has no {HEADER}; make one with `assay record`")
    try:
        body = json.loads((folder / HEADER).read_text(encoding="utf-8"))
        if not isinstance(body, dict):
            raise ValueError(f"{HEADER} holds no JSON object")
        if (stored := body.get("format")) != FORMAT:
            newer = isinstance(stored, int) and stored > FORMAT
            remedy = "update assay, or record again" if newer else "record again"
            raise RecordingError(
                f"{folder} is a recording of format {stored}, this version of assay reads {FORMAT}; {remedy}"
            )
        files = body.pop("files")
        for name, digest in files.items():
            if _digest(folder / name) != digest:
                raise RecordingError(f"{folder / name} is damaged; record again")
        header = Header(**{**body, "levels": _tuple(body["levels"]), "failures": tuple(body["failures"])})
        cases = tuple(_case(json.loads(line)) for line in _lines(folder / CASES))
        rows: dict[str, list[Any]] = {table: [] for table in TABLES}
        for line in _lines(folder / ROWS):
            table, values = json.loads(line)
            rows[table].append(TABLES[table](**values))
        names = [name for name in files if name.endswith(".npy")]
        arrays = {
            name.removesuffix(".npy"): np.load(folder / name, mmap_mode="r", allow_pickle=False)
            for name in names
        }
    except AssayError:
        raise
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise RecordingError(
            f"{folder} is no recording that can be read ({type(error).__name__}: {error}); record again"
        ) from error
    return Recording(header=header, cases=cases, arrays=arrays, rows=rows)


def _write(recording: Recording, folder: Path) -> None:
    _write_lines(folder / CASES, (_case_body(case) for case in recording.cases))
    _write_lines(
        folder / ROWS,
        ((table, _fields(record)) for table, records in recording.rows.items() for record in records),
    )
    for name, array in recording.arrays.items():
        np.save(folder / f"{name}.npy", array, allow_pickle=False)
    files = {file.name: _digest(file) for file in sorted(folder.iterdir())}
    body = _fields(recording.header) | {"files": files}
    text = json.dumps(body, ensure_ascii=True, indent=1, allow_nan=False)
    (folder / HEADER).write_text(text, encoding="utf-8")


def _fields(record: Any) -> dict[str, Any]:
    return {one.name: getattr(record, one.name) for one in fields(record)}


def _case_body(case: RecordedCase) -> dict[str, Any]:
    return {**_fields(case), "case": case.case.to_body(), "hide_sources": sorted(case.hide_sources)}


def _case(body: Mapping[str, Any]) -> RecordedCase:
    case, hidden = Case.from_body(body["case"]), frozenset(body["hide_sources"])
    names = tuple(body["datasets"])
    return RecordedCase(**{**body, "case": case, "hide_sources": hidden, "datasets": names})


def _write_lines(file: Path, bodies: Iterable[Any]) -> None:
    with file.open("w", encoding="utf-8", newline="\n") as lines:
        lines.writelines(json.dumps(body, ensure_ascii=True, allow_nan=False) + "\n" for body in bodies)


def _lines(file: Path) -> Iterable[str]:
    with file.open(encoding="utf-8") as lines:
        yield from lines


def _tuple(values: Any) -> tuple[Any, ...] | None:
    return None if values is None else tuple(values)


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        digest = sha256()
        while block := content.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
