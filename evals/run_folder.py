"""Reading what `assay eval` wrote, strictly: a run that is cut off, damaged or mixed with another is refused."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import DataError
from core.ingest.items import Problem
from evals.aggregates import Row
from evals.formats.lines import json_lines, parsed

CaseKey = tuple[str, str, int]
"""Dataset, case_id and repeat (0 unless cases were asked several times): what rows of two runs are matched by."""
Case = tuple[str, str]
"""Dataset and case_id."""
_KINDS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "case_id": ((str,), "a text"),
    "dataset": ((str,), "a text"),
    "cluster": ((str,), "a text"),
    "tags": ((dict,), "an object"),
    "abstained": ((bool,), "true or false"),
    "answerable": ((bool, type(None)), "true, false or null"),
    "correct": ((bool, type(None)), "true, false or null"),
    "would_be_right": ((bool, type(None)), "true, false or null"),
    "confidence": ((int, float, type(None)), "a number or null"),
}
_STRING_OR_CONSTANT = re.compile(r'"(?:\\.|[^"\\])*"|-?Infinity|NaN')
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


def key_of(row: Mapping[str, Any]) -> CaseKey:
    """What a row is matched by."""
    return str(row["dataset"]), str(row["case_id"]), int(row.get("repeat", 0))


def case_of(row: Mapping[str, Any]) -> Case:
    """The case of a row or a failure."""
    return str(row["dataset"]), str(row["case_id"])


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


def checked_row(row: Mapping[str, Any], where: str) -> Row:
    """The row, where every figure in it is a finite number, a flag or null.

    Raises:
        DataError: ``where`` a field is missing or of another type, and what it is.
    """
    for name, (types, wanted) in _KINDS.items():
        if name not in row:
            raise DataError(f"{where}: a row without {name!r}; the file is damaged, run `assay eval` again")
        value = row[name]
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            raise DataError(f"{where}: {name} must be {wanted}, got {value!r}")
    for name, value in row.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise DataError(f"{where}: {name} is {value}, which is no figure")
    if not all(isinstance(value, str) for value in row["tags"].values()):
        raise DataError(f"{where}: tags must have texts as values, got {row['tags']!r}")
    if type(row.get("repeat", 0)) is not int:
        raise DataError(f"{where}: repeat must be a whole number, got {row['repeat']!r}")
    ranking = row.get("ranking", [])
    if not isinstance(ranking, list) or not all(isinstance(key, str) for key in ranking):
        raise DataError(f"{where}: ranking must be a list of texts, got {ranking!r}")
    return row


def refuse_duplicates(keyed: Iterator[tuple[str, Mapping[str, Any]]]) -> Iterator[Mapping[str, Any]]:
    """The rows of ``(where, row)``; DataError at the second of a case."""
    seen: dict[CaseKey, str] = {}
    for where, row in keyed:
        key = key_of(row)
        if key in seen:
            raise DataError(f"{where}: case {key[1]!r} of {key[0]!r} is there twice, first at {seen[key]}")
        seen[key] = where
        yield row


def json_object(path: Path, text: str) -> dict[str, Any]:
    """The JSON object of a whole file; DataError with ``file:line`` where it is none."""
    try:
        document = parsed(text)
    except json.JSONDecodeError as error:
        raise DataError(f"{path}:{error.lineno}: not JSON, cut off or malformed: {error.msg}") from None
    except ValueError as error:
        raise DataError(f"{path}:{_line_of_constant(text)}: {error}") from None
    if not isinstance(document, dict):
        raise DataError(f"{path}: expected a JSON object, got {type(document).__name__}")
    return document


def read_text(path: Path, otherwise: str) -> str:
    """The text of a file; DataError with ``otherwise`` (what to do) where there is none or it is not UTF-8."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 at byte {error.start + 1}") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}; {otherwise}") from None


def _line_of_constant(text: str) -> int:
    """The line of the first ``NaN`` or ``Infinity`` that stands outside a text, else 1."""
    found = (match for match in _STRING_OR_CONSTANT.finditer(text) if not match.group().startswith('"'))
    return text.count("\n", 0, next((match.start() for match in found), 0)) + 1


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
