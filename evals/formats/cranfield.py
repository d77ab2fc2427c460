"""Cranfield in SMART's format: ``cran.all.1400``, ``cran.qry`` and ``cranqrel``.

``cranqrel`` numbers the queries by position, not by their ``.I``; so do the case ids here. Codes run from 1 (a complete
answer) to 4 (minimum interest) and become relevance 4 to 1; code -1 is no judgement of the scale and is left out. ``.W``
repeats the title, which is taken off it; author and reference (``.A``, ``.B``) are not read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from core.errors import DataError
from core.ingest.items import ArtifactItem, CaseItem, Problem
from evals.cases import Case, Gold
from evals.formats import Row
from evals.formats.lines import found, text_lines, words
from evals.formats.qrels import judgements

DOCUMENTS, QUERIES, JUDGEMENTS = "cran.all.1400", "cran.qry", "cranqrel"
SECTIONS = (".T", ".A", ".B", ".W")


@dataclass(slots=True)
class _Record:
    where: str
    name: str
    sections: dict[str, list[str]] = field(default_factory=dict)
    repeated: list[str] = field(default_factory=list)

    def text(self, section: str) -> str:
        """The lines of a section as one text, "" where there is none."""
        return " ".join(" ".join(self.sections.get(section, ())).split())


def load(path: Path) -> Iterator[Row]:
    """Documents, then queries with their judgements."""
    if not path.is_dir():
        raise DataError(f"{path}: no such folder; Cranfield holds {DOCUMENTS}, {QUERIES} and {JUDGEMENTS}")
    files = [found(path, name, f"{name}.gz") for name in (DOCUMENTS, QUERIES, JUDGEMENTS)]
    documents: dict[str, bool] = {}
    for row in _smart(files[0]):
        if isinstance(row, Problem):
            yield "", row.where, row
        else:
            yield from (("", row.where, item) for item in _document(row, documents))
    yield from _questions(files[1], files[2], documents)


def _smart(file: Path) -> Iterator[_Record | Problem]:
    """The records of a file, each begun by ``.I``."""
    record: _Record | None = None
    section = ""
    for where, line in text_lines(file):
        if isinstance(line, Problem):
            yield line
        elif line.startswith(".I"):
            if record:
                yield record
            record, section = _Record(where=where, name=line[2:].strip()), ""
        elif record is None:
            if line.strip():
                yield Problem(where=where, what="stands before the first .I")
        elif line.strip() in SECTIONS:
            section = line.strip()
            if section in record.sections:
                record.repeated.append(section)
            record.sections.setdefault(section, [])
        elif section:
            record.sections[section].append(line)
        elif line.strip():
            yield Problem(where=where, what=f"record {record.name!r}: stands before its first section")
    if record:
        yield record


def _document(record: _Record, documents: dict[str, bool]) -> Iterator[ArtifactItem | Problem]:
    name, title, text = record.name, record.text(".T"), record.text(".W")
    if not name or name in documents:
        what = (
            f"document {name!r} stands here again; the first is kept"
            if name
            else "a document without a number"
        )
        yield Problem(where=record.where, what=what)
        return
    documents[name] = bool(text)
    if not text:
        yield Problem(
            where=record.where, what=f"document {name!r} is empty: there is nothing to find or cite"
        )
        return
    if record.repeated:
        what = (
            f"document {name!r} has several sections {', '.join(record.repeated)}; all of them are its text"
        )
        yield Problem(where=record.where, what=what, action="kept")
    bare = text
    while title and bare.startswith(title):  # once, and in one document twice
        bare = bare.removeprefix(title).strip()
    if title and bare == text:
        what = f"document {name!r}: .W does not begin with the title"
        yield Problem(where=record.where, what=what, action="kept")
    try:
        yield ArtifactItem(source=name, text=words(bare or text, ".W"), title=title, whole=True)
    except ValueError as error:
        yield Problem(where=record.where, what=str(error))


def _questions(asked: Path, judged: Path, documents: dict[str, bool]) -> Iterator[Row]:
    queries: dict[str, _Record] = {}
    for row in _smart(asked):
        if isinstance(row, Problem):
            yield "", row.where, row
        else:
            queries[str(len(queries) + 1)] = row

    def document_fault(doc_id: str) -> str | None:
        if doc_id not in documents:
            return f"the unknown document {doc_id!r}"
        return None if documents[doc_id] else f"the empty document {doc_id!r}"

    relevance, problems = judgements(
        judged,
        lambda number: None if number in queries else f"query {number} of {len(queries)}",
        document_fault,
        _coded,
    )
    yield from (("", problem.where, problem) for problem in problems)
    for number, record in queries.items():
        yield "", record.where, _case(number, record, relevance.get(number, {}))


def _coded(line: str) -> tuple[str, str, int]:
    """Query by position, document, and the code turned into relevance."""
    cells = line.split()
    if len(cells) != 3:
        raise ValueError(f"expected query, document and code, got {len(cells)} columns")
    if cells[2] == "-1":
        raise ValueError(f"query {cells[0]}, document {cells[1]}: code -1 is none of the scale's")
    if cells[2] not in ("1", "2", "3", "4", "5"):
        raise ValueError(f"code must be 1 to 5 or -1, got {cells[2]!r}")
    return cells[0], cells[1], 5 - int(cells[2])


def _case(number: str, record: _Record, judged: dict[str, int]) -> CaseItem | Problem:
    if not judged:
        return Problem(
            where=record.where, what=f"query {number} has no usable judgement; no question is made"
        )
    try:
        case = Case(
            case_id=number,
            question=words(record.text(".W"), f"query {number}: .W"),
            gold=tuple(Gold(source=doc_id, relevance=score) for doc_id, score in judged.items()),
            tags={"smart_id": record.name},
        )
    except ValueError as error:
        return Problem(where=record.where, what=str(error))
    return CaseItem(case_id=case.case_id, body=case.to_body())
