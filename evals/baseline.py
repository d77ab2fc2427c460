"""A baseline: what a run must be remembered by for later ones to be held against it, as one committed file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.errors import DataError
from evals.aggregates import Row
from evals.row_reading import checked_row, json_object, read_text, refuse_duplicates
from evals.run_files import written
from evals.run_folder import Run, load_run, manifest_of

FORMAT = "assay-baseline/1"
_MANIFEST = ("dataset", "datasets", "recipe", "profile", "fingerprint", "values", "embedder", "spaces", "variant",
             "excluded", "levels")  # fmt: skip
_KEPT = ("case_id", "dataset", "cluster", "tags")


def baseline_text(run: Run) -> str:
    """The file: equal for equal runs, byte for byte, one case a line so that a change of it can be read.

    Rankings, citations and traces are left out: they are compared between two run folders.
    """
    head = {name: run.manifest[name] for name in _MANIFEST if name in run.manifest}
    rows = sorted(run.by_case.items())
    lines = ",\n".join(_line(_compact(row)) for _, row in rows)
    failed = _line([list(case) for case in sorted(run.failed)])
    return f'{{"format": {_line(FORMAT)},\n"manifest": {_line(head)},\n"failed": {failed},\n"rows": [\n{lines}\n]}}\n'


def update(run: Run, path: Path, *, allow_failures: bool = False) -> None:
    """Writes the baseline of a run.

    Raises:
        DataError: cases of the run failed, or it has none. UsageError: the file cannot be written.
    """
    if run.failed and not allow_failures:
        first = min(run.failed)
        raise DataError(
            f"{run.source}: {len(run.failed)} cases failed, the first is {first[1]!r} of {first[0]!r}: a baseline of the "
            "rest would never ask for them; mend them, or say --allow-failures"
        )
    if not run.rows:
        raise DataError(f"{run.source}: no case was scored, there is nothing to hold later runs to")
    path.parent.mkdir(parents=True, exist_ok=True)
    with written(path) as file:
        file.write(baseline_text(run))


def load_baseline(path: Path) -> Run:
    """The run a baseline was made of, without its rankings.

    Raises:
        DataError: no such file, another format, or damaged; the message says where.
    """
    text = read_text(path, "make it with `assay baseline update RUN --out FILE`")
    document = json_object(path, text)
    if document.get("format") != FORMAT:
        raise DataError(f"{path}: format {document.get('format')!r} is no baseline; expected {FORMAT!r}")
    rows, failed = document.get("rows"), document.get("failed")
    if not isinstance(rows, list) or not rows or not isinstance(failed, list):
        raise DataError(f"{path}: a baseline needs `rows` with at least one case, and `failed`")
    placed = ((f"{path}: row {number}", row) for number, row in enumerate(rows, 1))
    checked = refuse_duplicates((where, checked_row(_object(row, where), where)) for where, row in placed)
    return Run(
        source=str(path),
        manifest=manifest_of(document, str(path)),
        rows=list(checked),
        failed=frozenset(_pair(pair, path) for pair in failed),
        failures=len(failed),
    )


def load(path: Path) -> Run:
    """A run folder or a baseline file, whichever is there. DataError as either."""
    if not path.exists():
        raise DataError(f"{path}: no such folder of a run, and no such baseline file")
    return load_run(path) if path.is_dir() else load_baseline(path)


def _compact(row: Row) -> dict[str, Any]:
    """What pairing and figures need: identity, flags and numbers; null where a flag is unknown. Of gold answers, whether
    there are any."""
    flags = {
        name: row[name] for name in ("answerable", "abstained", "confidence", "correct", "would_be_right")
    }
    numbers = {name: value for name, value in row.items() if isinstance(value, int | float)}
    text = {"gold_answers": bool(row["gold_answers"])} if "gold_answers" in row else {}
    writer = {"writer": row["writer"]} if "writer" in row else {}
    return {**{name: row[name] for name in _KEPT}, **flags, **numbers, **text, **writer}


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False)


def _object(row: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(row, dict):
        raise DataError(f"{where}: expected a JSON object, got {type(row).__name__}")
    return row


def _pair(pair: Any, path: Path) -> tuple[str, str]:
    if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(part, str) for part in pair):
        raise DataError(f"{path}: `failed` lists [dataset, case_id], got {pair!r}")
    return pair[0], pair[1]
