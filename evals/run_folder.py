"""Reading what `assay eval` wrote, strictly: a run that is cut off, damaged or mixed with another is refused."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import DataError
from core.ingest.items import Problem
from evals.aggregates import Row
from evals.formats.lines import json_lines
from evals.row_reading import (
    Case,
    CaseKey,
    case_of,
    checked_row,
    json_object,
    key_of,
    read_text,
    refuse_duplicates,
)

_SAME_DATA = ("datasets", "variant", "excluded")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A finished run, or the baseline kept of one. ``rows`` in the order they stand, ``failed`` the cases that broke
    (where they are repeated: at least once) and ``failures`` how often one did."""

    source: str
    manifest: Mapping[str, Any]
    rows: Sequence[Row]
    failed: frozenset[Case]
    failures: int

    @property
    def by_case(self) -> dict[CaseKey, Row]:
        """The rows by what they are matched by."""
        return {key_of(row): row for row in self.rows}


def load_run(folder: Path) -> Run:
    """The run in a folder of `assay eval --out`.

    Raises:
        DataError: it is no such folder, did not finish, or a file of it is damaged; the message says ``file:line``.
    """
    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder; give the --out of an `assay eval`")
    summary = _object(
        folder / "summary.json", "the run did not finish, or this is no run: run `assay eval` again"
    )
    rows, failures = list(_rows(folder / "rows.jsonl")), list(_failures(folder / "failures.jsonl"))
    run = Run(
        source=str(folder),
        manifest=manifest_of(summary, f"{folder / 'summary.json'}"),
        rows=rows,
        failed=frozenset(map(case_of, failures)),
        failures=len(failures),
    )
    _refuse_another_summary(run, summary)
    return run


def manifest_of(document: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    """What a summary or baseline says of how it was made.

    Raises:
        DataError: it lacks what two runs must share to be compared.
    """
    manifest = document.get("manifest")
    lacking = [name for name in _SAME_DATA if not isinstance(manifest, dict) or name not in manifest]
    if lacking or not isinstance(manifest, dict):
        raise DataError(f"{where}: the manifest lacks {', '.join(lacking)}; run `assay eval` again")
    return manifest


def refuse_other_data(before: Run, after: Run) -> None:
    """Raises DataError where the two runs asked other questions, or asked them of other data."""
    for name in _SAME_DATA:
        one, other = before.manifest[name], after.manifest[name]
        if one != other:
            raise DataError(
                f"{after.source} and {before.source} are runs of different data: {_apart(name, one, other)}; compare "
                "runs of the same data, or make the older one again"
            )


def _object(path: Path, otherwise: str) -> dict[str, Any]:
    return json_object(path, read_text(path, otherwise))


def _lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for where, row in json_lines(path):
        if isinstance(row, Problem):
            raise DataError(f"{row.where}: {row.what}")
        yield where, row


def _rows(path: Path) -> Iterator[Row]:
    return refuse_duplicates((where, checked_row(row, where)) for where, row in _lines(path))


def _failures(path: Path) -> Iterator[Mapping[str, Any]]:
    for where, row in _lines(path):
        if not isinstance(row.get("case_id"), str) or not isinstance(row.get("dataset"), str):
            raise DataError(f"{where}: a failure must name its case_id and dataset, got {row!r}")
        yield row


def _refuse_another_summary(run: Run, summary: Mapping[str, Any]) -> None:
    """The files of a folder are written one by one: those of two runs, or fewer lines than were written, do not fit."""
    cases = {"scored": len(run.rows), "failed": run.failures}
    if summary.get("cases") != cases:
        raise DataError(
            f"{run.source}: rows.jsonl and failures.jsonl hold {cases['scored']} and {cases['failed']} cases, "
            f"summary.json tells of {summary.get('cases')}: a file is cut off, or of another run; run `assay eval` again"
        )
    for name, figure in summary.items():
        values = [float(row[name]) for row in run.rows if isinstance(row.get(name), int | float)]
        if not values or not isinstance(figure, dict) or figure.get("n") != len(values):
            continue  # no mean of what the rows say under that name
        mean, told = math.fsum(values) / len(values), figure.get("value")
        if not isinstance(told, int | float) or not math.isclose(mean, told, abs_tol=1e-9):
            raise DataError(
                f"{run.source}: the mean {name} of rows.jsonl is {mean:.6f}, summary.json has {told!r}: the files are of "
                "two runs; run `assay eval` again"
            )
    repeated = any("repeat" in row for row in run.rows)  # of which some may break and some not
    twice = set(map(case_of, run.rows)) & run.failed
    if twice and not repeated:
        raise DataError(f"{run.source}: case {min(twice)[1]!r} is in rows.jsonl and in failures.jsonl")


def _apart(name: str, one: Any, other: Any) -> str:
    if name != "datasets" or not isinstance(one, dict) or not isinstance(other, dict):
        return f"{name} {other!r} against {one!r}"
    changed = sorted(key for key in one.keys() | other.keys() if one.get(key) != other.get(key))
    first = changed[0]
    return f"{first!r} has content {_short(other.get(first))} against {_short(one.get(first))}"


def _short(content: Any) -> str:
    return "none" if content is None else str(content)[:12]
