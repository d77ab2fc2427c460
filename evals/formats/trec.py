"""TREC's test collections: a folder with documents, ``topics*``, ``qrels*`` and, to be checked only, ``run*`` files.

Documents: ``docs*`` (or files in ``docs/``), ``<DOC>`` with ``<DOCNO>``, a title (``<TITLE>``, ``<HEADLINE>``, ``<TI>``)
and text, or ``.tsv`` lines ``docno  text``. Topics: ``<top>`` with ``<num>`` and ``<title>``, ``<topic number="1">`` with
``<query>``, or ``.tsv`` lines ``number  query``. Qrels: ``topic iteration docno relevance``; below 0 becomes 0. Any file
may be gzipped. Without documents the judgements stand unchecked: they are brought in by another import.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

from core.errors import DataError
from core.ingest.items import ArtifactItem, CaseItem, Problem
from evals.cases import Case, Gold
from evals.formats import Row
from evals.formats.lines import text_lines, words
from evals.formats.qrels import judgements, whole_score
from evals.formats.records import split_of
from evals.formats.trec_run import read_run

_FIELD = r"<{0}\b[^>]*>(.*?)(?=</{0}>|<(?:num|title|desc|narr|query|question|narrative)\b|$)"
_LABEL = re.compile(r"^\s*(?:Number|Topic|Description|Narrative):\s*", re.IGNORECASE)
_TITLES = ("TITLE", "HEADLINE", "TI", "HL")
_TEXTS = ("TEXT", "BODY", "ABSTRACT")


def load(path: Path) -> Iterator[Row]:
    """Documents, then topics with their judgements, then what is wrong with runs."""
    if not path.is_dir():
        raise DataError(f"{path}: no such folder; a TREC folder holds topics*, qrels* and docs*")
    topic_files, qrel_files = _files(path, "topics"), _files(path, "qrels")
    if not topic_files or not qrel_files:
        raise DataError(f"{path}: expected files topics* and qrels*")
    documents: dict[str, bool] = {}
    doc_files = _files(path, "docs")
    for file in doc_files:
        for where, item in _documents(file, documents):
            yield "", where, item
    topics: dict[str, tuple[str, str]] = {}
    for file in topic_files:
        for problem in _topics(file, topics):
            yield "", problem.where, problem
    judged: set[str] = set()
    for file in qrel_files:
        yield from _cases(file, topics, documents if doc_files else None, judged, several=len(qrel_files) > 1)
    for number, (where, _) in topics.items():
        if number not in judged:
            what = f"topic {number!r} has no usable judgement; no question is made of it"
            yield "", where, Problem(where=where, what=what)
    for file in _files(path, "run"):
        _, problems = read_run(file, set(topics), set(documents) if doc_files else None)
        yield from (("", problem.where, problem) for problem in problems)


def _files(folder: Path, name: str) -> list[Path]:
    inside = sorted((folder / name).rglob("*")) if (folder / name).is_dir() else []
    return [file for file in [*sorted(folder.glob(f"{name}*")), *inside] if file.is_file()]


def _tabbed(file: Path) -> bool:
    return ".tsv" in file.suffixes


def _documents(file: Path, documents: dict[str, bool]) -> Iterator[tuple[str, ArtifactItem | Problem]]:
    parts = _pairs(file) if _tabbed(file) else _blocks(file, "DOC")
    for where, body in parts:
        if isinstance(body, Problem):
            yield where, body
            continue
        doc_id, title, text = (body[0], "", body[1]) if isinstance(body, tuple) else _document(body)
        if fault := _taken(doc_id, documents, "document"):
            yield where, Problem(where=where, what=fault)
            continue
        documents[doc_id] = bool(text)
        if not text:
            what = f"document {doc_id!r} is empty: there is nothing to find or cite"
            yield where, Problem(where=where, what=what)
            continue
        yield where, ArtifactItem(source=doc_id, text=text, title=title, whole=True)


def _document(body: str) -> tuple[str, str, str]:
    """Number, title and text of one ``<DOC>``; what is in no known element is text too, where no ``<TEXT>`` is."""
    number = _element(body, "DOCNO")
    title = next((found for name in _TITLES if (found := _element(body, name))), "")
    text = "\n".join(found for name in _TEXTS if (found := _element(body, name)))
    if not text:
        bare = re.sub(r"(?is)<(DOCNO|DOCID|DOCHDR|TITLE|HEADLINE|TI|HL)\b[^>]*>.*?</\1>", " ", body)
        text = _plain(bare)
    return number, title, text


def _element(body: str, name: str) -> str:
    found = re.findall(rf"(?is)<{name}\b[^>]*>(.*?)</{name}>", body)
    return "\n".join(filter(None, map(_plain, found)))


def _plain(markup: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", " ", markup)).strip()


def _topics(file: Path, topics: dict[str, tuple[str, str]]) -> Iterator[Problem]:
    parts = _pairs(file) if _tabbed(file) else _blocks(file, "top", "topic")
    for where, body in parts:
        if isinstance(body, Problem):
            yield body
            continue
        number, query = body if isinstance(body, tuple) else _topic(body)
        if fault := _taken(number, topics, "topic"):
            yield Problem(where=where, what=fault)
            continue
        try:
            topics[number] = where, words(query, f"topic {number!r}: the query")
        except ValueError as error:
            yield Problem(where=where, what=str(error))


def _topic(body: str) -> tuple[str, str]:
    given = re.match(r"""<topic\b[^>]*\bnumber=["']([^"']+)["']""", body, re.IGNORECASE)
    number = given.group(1).strip() if given else _value(body, "num")
    return number, _value(body, "title") or _value(body, "query") or _value(body, "question")


def _value(body: str, name: str) -> str:
    found = re.search(_FIELD.format(name), body, re.IGNORECASE | re.DOTALL)
    return " ".join(_LABEL.sub("", _plain(found.group(1))).split()) if found else ""


def _taken(name: str, known: dict[str, bool] | dict[str, tuple[str, str]], what: str) -> str | None:
    if not name:
        return f"a {what} without a number"
    if any(mark.isspace() for mark in name):
        return f"the number of a {what} has no blanks, got {name[:60]!r}"
    return f"{what} {name!r} stands here again; the first is kept" if name in known else None


def _pairs(file: Path) -> Iterator[tuple[str, tuple[str, str] | Problem]]:
    for where, line in text_lines(file):
        if isinstance(line, Problem):
            yield where, line
        elif line:
            name, tab, text = line.partition("\t")
            fault = None if tab else "expected two columns with a tab between them"
            yield where, Problem(where=where, what=fault) if fault else (name.strip(), text.strip())


def _blocks(file: Path, *names: str) -> Iterator[tuple[str, str | Problem]]:
    """Elements by the line they begin at; one that does not end before the next begins is cut off."""
    begin = re.compile(rf"<(?:{'|'.join(names)})\b(?![^>]*/>)", re.IGNORECASE)
    end = re.compile(rf"</(?:{'|'.join(names)})>", re.IGNORECASE)
    start, lines = "", list[str]()
    for where, line in text_lines(file):
        if isinstance(line, Problem):
            yield where, line
            continue
        rest = line
        while rest:
            edge = (end if start else begin).search(rest)
            again = begin.search(rest) if start else None
            if again and (edge is None or again.start() < edge.start()):
                yield start, Problem(where=start, what=f"<{names[0]}> is cut off: another begins at {where}")
                start, lines, rest = where, [rest[again.start() : again.end()]], rest[again.end() :]
            elif edge is None:
                if start:
                    lines.append(rest)
                elif rest.strip() and not rest.lstrip().startswith("<"):
                    yield where, Problem(where=where, what=f"stands outside of any <{names[0]}>")
                break
            elif start:
                yield start, "\n".join([*lines, rest[: edge.start()]])
                start, lines, rest = "", [], rest[edge.end() :]
            else:
                start, lines, rest = where, [rest[edge.start() : edge.end()]], rest[edge.end() :]
    if start:
        yield start, Problem(where=start, what=f"<{names[0]}> is cut off: the file ends before it does")


def _cases(
    file: Path,
    topics: dict[str, tuple[str, str]],
    documents: dict[str, bool] | None,
    judged: set[str],
    *,
    several: bool,
) -> Iterator[Row]:
    def document_fault(doc_id: str) -> str | None:
        if documents is None or documents.get(doc_id):
            return None
        return f"the empty document {doc_id!r}" if doc_id in documents else f"the unknown document {doc_id!r}"

    relevance, problems = judgements(
        file,
        lambda number: None if number in topics else f"the unknown topic {number!r}",
        document_fault,
        _layout,
    )
    yield from (("", problem.where, problem) for problem in problems)
    split = split_of(file)
    for number, scores in relevance.items():
        where, query = topics[number]
        judged.add(number)
        case = Case(
            case_id=f"{number}@{split or file.name}" if several else number,
            question=query,
            gold=tuple(Gold(source=doc_id, relevance=score) for doc_id, score in scores.items()),
            split=split,
        )
        yield "", where, CaseItem(case_id=case.case_id, body=case.to_body())


def _layout(line: str) -> tuple[str, str, int]:
    cells = line.split()
    if len(cells) != 4:
        raise ValueError(f"expected topic, iteration, docno and relevance, got {len(cells)} columns")
    return cells[0], cells[2], whole_score(cells[3])
