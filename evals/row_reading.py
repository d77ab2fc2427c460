"""Reading rows strictly: each a case with finite figures, none twice, every fault by file and line."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from core.bounded import read_whole
from core.errors import DataError
from evals.aggregates import Row
from evals.formats.lines import parsed

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


def key_of(row: Mapping[str, Any]) -> CaseKey:
    """What a row is matched by."""
    return str(row["dataset"]), str(row["case_id"]), int(row.get("repeat", 0))


def case_of(row: Mapping[str, Any]) -> Case:
    """The case of a row or a failure."""
    return str(row["dataset"]), str(row["case_id"])


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
        return read_whole(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 at byte {error.start + 1}") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}; {otherwise}") from None


def _line_of_constant(text: str) -> int:
    """The line of the first ``NaN`` or ``Infinity`` that stands outside a text, else 1."""
    found = (match for match in _STRING_OR_CONSTANT.finditer(text) if not match.group().startswith('"'))
    return text.count("\n", 0, next((match.start() for match in found), 0)) + 1
