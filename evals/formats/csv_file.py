"""Questions as comma-separated values (RFC 4180: commas, double quotes doubled inside quotes, UTF-8), under a header.

================ ======================================================================================================
column           what it holds; only ``question`` must be there
================ ======================================================================================================
question         the question
case_id          its name; default ``q`` and the line it begins at
answer           an answer in its own words, or ``answers``: a JSON list of texts
answerable       ``true``, ``false`` or ``unknown``; default true
why_unanswerable what is missing
source, quote    the document that answers and the words in it, for one piece of evidence; for several:
gold, citations  JSON lists of objects as in the native format (``[{"source": "d1", "turn": "t2", "relevance": 1}]``)
alternatives     JSON list of lists of places in ``citations``
hides            JSON list of sources; ``stale_answers`` is a JSON list of texts
as_of, known_at  a date or time; ``split`` a name
tag:NAME         the tag of that name, as many as wanted
================ ======================================================================================================

An empty cell is nothing. Another column, or a row of another length, is said and not read.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from core import clock
from core.bounded import lines, too_long
from core.errors import DataError
from core.ingest.items import CaseItem, Problem
from evals.cases import Case
from evals.formats import Row
from evals.formats.lines import parsed, words
from evals.formats.records import files_of

FILES = ("questions.csv", "cases.csv")
TAG = "tag:"
ANSWERABLE = {"true": True, "false": False, "unknown": None}
MAX_CELL = 16 * 1024 * 1024
"""Characters a cell may have."""


def load(path: Path) -> Iterator[Row]:
    """One labelled question for each row. Documents are brought in by `assay ingest`."""
    for file in files_of(path, FILES, "a CSV of questions"):
        for where, item in _rows(file):
            yield "", where, item


def _rows(file: Path) -> Iterator[tuple[str, CaseItem | Problem]]:
    csv.field_size_limit(MAX_CELL)
    header: list[str] = []
    names: dict[str, str] = {}
    for where, cells in _cells(file):
        if isinstance(cells, Problem):
            yield where, cells
        elif not header:
            header = _header(cells, where)
            yield from ((where, problem) for problem in _unknown(header, where))
        else:
            yield where, _row(where, header, cells, names)


def _cells(file: Path) -> Iterator[tuple[str, list[str] | Problem]]:
    """Each row by the line it begins at. What is no CSV is said, and the rows after it are read on."""
    numbered = enumerate(_decoded(file), start=1)
    begun, bad = 0, list[tuple[int, str]]()

    def numbered_lines() -> Iterator[str]:
        nonlocal begun
        for number, (line, wrong) in numbered:
            begun = begun or number
            if wrong:
                bad.append((number, wrong))
            yield line

    reader = csv.reader(numbered_lines(), strict=True)
    while True:
        begun, cells, fault = 0, list[str](), ""
        bad.clear()
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            fault = f"not CSV: {error}"
            reader = csv.reader(numbered_lines(), strict=True)
        where = f"{file}:{bad[0][0] if bad else begun}"
        if bad:
            fault = bad[0][1]
        if fault:
            yield where, Problem(where=where, what=fault)
        elif cells:
            yield where, cells


def _decoded(file: Path) -> Iterator[tuple[str, str]]:
    """Each line with its end, and what is wrong with it, if anything (then without what cannot be read)."""
    try:
        with file.open("rb") as opened:
            for number, line in enumerate(lines(opened)):
                if isinstance(line, int):
                    yield "\n", too_long(line)
                    continue
                try:
                    yield line.decode("utf-8-sig" if number == 0 else "utf-8"), ""
                except UnicodeDecodeError:
                    yield line.decode("utf-8", "replace"), "not UTF-8; save the file as UTF-8"
    except OSError as error:
        raise DataError(f"{file}: cannot be read: {error.strerror or error}") from error


def _header(cells: list[str], where: str) -> list[str]:
    """Raises DataError: nothing can be read without the column ``question``, or with a column twice."""
    header = [cell.strip() for cell in cells]
    if "question" not in header:
        raise DataError(f"{where}: expected a header with a column 'question', got {', '.join(header)[:200]}")
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise DataError(f"{where}: the column {twice[0]!r} stands there twice; name each once")
    return header


def _unknown(header: list[str], where: str) -> Iterator[Problem]:
    for name in header:
        if name not in COLUMNS and not (name.startswith(TAG) and name != TAG):
            what = f"column {name!r} is none of {', '.join(COLUMNS)} or {TAG}NAME"
            yield Problem(where=where, what=what, action="dropped")


def _row(where: str, header: list[str], cells: list[str], names: dict[str, str]) -> CaseItem | Problem:
    if len(cells) != len(header):
        return Problem(where=where, what=f"{len(cells)} cells under {len(header)} columns")
    given = {name: cell for name, cell in zip(header, cells, strict=True) if cell.strip()}
    try:
        body: dict[str, Any] = {"case_id": f"q{where.rpartition(':')[2]}"}
        for name, cell in given.items():
            if name in COLUMNS:
                body |= _read(name, cell)
        body["tags"] = {
            name[len(TAG) :]: cell for name, cell in given.items() if name.startswith(TAG) and name != TAG
        }
        if "question" not in body:
            raise ValueError("no question")
        words(json.dumps(body, ensure_ascii=False), "the row")
        case = Case.from_body(_evidence(body))
    except (ValueError, TypeError, DataError) as error:
        return Problem(where=where, what=str(error))
    if case.case_id in names:
        what = f"case {case.case_id!r} stands here again, first at {names[case.case_id]}; the first is kept"
        return Problem(where=where, what=what)
    names[case.case_id] = where
    return CaseItem(case_id=case.case_id, body=case.to_body())


def _read(name: str, cell: str) -> dict[str, Any]:
    try:
        return {FIELDS.get(name, name): COLUMNS[name](cell)}
    except json.JSONDecodeError as error:
        raise ValueError(f"{name}: expected JSON, got {cell[:60]!r}: {error.msg}") from None
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _evidence(body: dict[str, Any]) -> dict[str, Any]:
    """``source`` and ``quote`` as gold and citation. ValueError: they stand beside what says the same otherwise."""
    source, quote = body.pop("source", None), body.pop("quote", None)
    if quote is not None and source is None:
        raise ValueError("a quote needs its source")
    if source is not None:
        if "gold" in body or "citations" in body:
            raise ValueError("source and quote say what gold and citations say; give one or the other")
        body["gold"] = ({"source": source},)
        body["citations"] = () if quote is None else ({"source": source, "quote": quote},)
    return body


def _texts(cell: str) -> tuple[str, ...]:
    value = parsed(cell)
    if not isinstance(value, list):
        raise ValueError(f"expected a JSON list of texts, got {cell[:60]!r}")
    return tuple(words(one, "a text") for one in value)


def _objects(cell: str) -> tuple[Any, ...]:
    value = parsed(cell)
    if not isinstance(value, list):
        raise ValueError(f"expected a JSON list, got {cell[:60]!r}")
    return tuple(tuple(one) if isinstance(one, list) else one for one in value)


def _answerable(cell: str) -> bool | None:
    if cell.strip().lower() not in ANSWERABLE:
        raise ValueError(f"expected {', '.join(ANSWERABLE)}, got {cell[:60]!r}")
    return ANSWERABLE[cell.strip().lower()]


def _moment(cell: str) -> str:
    clock.parse(cell)  # said where it is wrong, kept as it was written
    return cell


def _text(cell: str) -> str:
    return words(cell, "the cell")


COLUMNS: dict[str, Callable[[str], Any]] = {
    "case_id": _text,
    "question": _text,
    "answer": lambda cell: (_text(cell),),
    "answers": _texts,
    "answerable": _answerable,
    "why_unanswerable": _text,
    "source": _text,
    "quote": _text,
    "gold": _objects,
    "citations": _objects,
    "alternatives": _objects,
    "hides": _texts,
    "stale_answers": _texts,
    "as_of": _moment,
    "known_at": _moment,
    "split": _text,
}
FIELDS = {"answer": "answers"}
"""Columns that are another field of a case."""
