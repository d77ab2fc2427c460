"""BEIR folders: ``corpus.jsonl``, ``queries.jsonl`` (either may end in ``.gz``) and ``qrels/SPLIT.tsv``.

A repeated document of the same text is taken once; judgements that contradict each other are left out, all of them;
an equal judgement counts once; documents and queries whose ids coincide are two things and both stay.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.errors import DataError
from core.ingest.items import ArtifactItem, CaseItem, Problem
from evals.cases import Case, Gold
from evals.formats import Row
from evals.formats.lines import found, json_lines, text_lines


@dataclass(slots=True)
class _Query:
    text: str
    where: str
    gold: dict[str, dict[str, int]] = field(default_factory=dict)  # split → document → relevance


def load(path: Path) -> Iterator[Row]:
    """Documents, then one labelled question for each query and split it is judged in."""
    if not path.is_dir():
        raise DataError(f"{path}: no such folder; a BEIR folder holds corpus.jsonl, queries.jsonl and qrels/")
    documents: dict[str, str] = {}
    yield from _documents(found(path, "corpus.jsonl", "corpus.jsonl.gz"), documents)
    queries: dict[str, _Query] = {}
    yield from _queries(found(path, "queries.jsonl", "queries.jsonl.gz"), queries)
    for file in sorted((path / "qrels").glob("*.tsv")):
        yield from _judgements(file, documents, queries)
    for query_id, query in queries.items():
        yield from _cases(query_id, query)


def _documents(file: Path, documents: dict[str, str]) -> Iterator[Row]:
    for where, row in json_lines(file):
        item = _document(where, row, documents)
        yield "", where, item


def _document(where: str, row: dict[str, Any] | Problem, documents: dict[str, str]) -> ArtifactItem | Problem:
    if isinstance(row, Problem):
        return row
    doc_id, text, title = _id(row.get("_id")), row.get("text"), row.get("title") or ""
    if doc_id is None:
        return Problem(where=where, what=f"_id must be a name or a whole number, got {row.get('_id')!r}")
    if not isinstance(text, str) or not isinstance(title, str):
        return Problem(where=where, what=f"document {doc_id!r}: text and title must be texts")
    if doc_id in documents:
        same = documents[doc_id] == f"{title}\n{text}"
        said = (
            "again with the same text; taken once" if same else "again with another text; the first is kept"
        )
        return Problem(where=where, what=f"document {doc_id!r} stands here {said}")
    if not text.strip():
        return Problem(where=where, what=f"document {doc_id!r} is empty: there is nothing to find or cite")
    documents[doc_id] = f"{title}\n{text}"
    return ArtifactItem(source=doc_id, text=text, title=title.strip(), whole=True)


def _queries(file: Path, queries: dict[str, _Query]) -> Iterator[Row]:
    for where, row in json_lines(file):
        if isinstance(row, Problem):
            yield "", where, row
            continue
        query_id, text = _id(row.get("_id")), row.get("text")
        if query_id is None or not isinstance(text, str) or not text.strip():
            yield "", where, Problem(where=where, what=f"query {row.get('_id')!r} has no text")
        elif query_id in queries:
            yield (
                "",
                where,
                Problem(where=where, what=f"query {query_id!r} stands here again; the first is kept"),
            )
        else:
            queries[query_id] = _Query(text=text, where=where)


def _judgements(file: Path, documents: dict[str, str], queries: dict[str, _Query]) -> Iterator[Row]:
    split = file.stem
    judged: dict[tuple[str, str], int] = {}
    contradicted: set[tuple[str, str]] = set()
    for number, (where, line) in enumerate(text_lines(file)):
        if isinstance(line, Problem):
            yield "", where, line
            continue
        cells = line.split("\t")
        if not line.strip() or (number == 0 and cells[0] == "query-id"):
            continue
        problem = _fault(where, cells, documents, queries)
        if problem:
            yield "", where, problem
            continue
        pair, score = (cells[0], cells[1]), int(cells[2])
        if pair in judged:
            same = judged[pair] == score
            contradicted |= set() if same else {pair}
            what = "judged again alike; counted once" if same else "judged otherwise before; neither is used"
            yield "", where, Problem(where=where, what=f"{pair[0]!r} and {pair[1]!r}: {what}")
        else:
            judged[pair] = score
    for (query_id, doc_id), score in judged.items():
        if (query_id, doc_id) not in contradicted:
            queries[query_id].gold.setdefault(split, {})[doc_id] = score


def _fault(
    where: str, cells: list[str], documents: dict[str, str], queries: dict[str, _Query]
) -> Problem | None:
    if len(cells) != 3:
        return Problem(where=where, what=f"expected query-id, corpus-id and score, got {len(cells)} columns")
    try:
        int(cells[2])
    except ValueError:
        return Problem(where=where, what=f"score must be a whole number, got {cells[2]!r}")
    if cells[0] not in queries:
        return Problem(where=where, what=f"judgement of the unknown query {cells[0]!r}")
    if cells[1] not in documents:
        return Problem(where=where, what=f"judgement of the unknown document {cells[1]!r}")
    return None


def _cases(query_id: str, query: _Query) -> Iterator[Row]:
    if not query.gold:
        what = f"query {query_id!r} has no usable judgement; no question is made of it"
        yield "", query.where, Problem(where=query.where, what=what)
    for split, judged in query.gold.items():
        case = Case(
            case_id=query_id if len(query.gold) == 1 else f"{query_id}@{split}",
            question=query.text,
            gold=tuple(Gold(source=doc_id, relevance=max(0, score)) for doc_id, score in judged.items()),
            split=split,
            tags={"split": split},
        )
        yield "", query.where, CaseItem(case_id=case.case_id, body=case.to_body())


def _id(value: object) -> str | None:
    """Numbers are the id their digits spell."""
    if isinstance(value, str) and value.strip():
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None
