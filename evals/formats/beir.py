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
from core.records import text_hash
from evals.cases import Case, Gold
from evals.formats import Row
from evals.formats.lines import found, identifier, json_lines, title_of, words
from evals.formats.qrels import judgements


@dataclass(slots=True)
class _Query:
    text: str
    where: str
    gold: dict[str, dict[str, int]] = field(default_factory=dict)  # split → document → relevance


def load(path: Path) -> Iterator[Row]:
    """Documents, then one labelled question for each query and split it is judged in."""
    if not path.is_dir():
        raise DataError(f"{path}: no such folder; a BEIR folder holds corpus.jsonl, queries.jsonl and qrels/")
    corpus = found(path, "corpus.jsonl", "corpus.jsonl.gz")
    asked = found(path, "queries.jsonl", "queries.jsonl.gz")
    documents: dict[str, str | None] = {}  # hash of title and text by id, None where empty
    yield from _documents(corpus, documents)
    queries: dict[str, _Query] = {}
    yield from _queries(asked, queries)
    for file in sorted((path / "qrels").glob("*.tsv")):
        yield from _judgements(file, documents, queries)
    for query_id, query in queries.items():
        yield from _cases(query_id, query)


def _documents(file: Path, documents: dict[str, str | None]) -> Iterator[Row]:
    for where, row in json_lines(file):
        item = _document(where, row, documents)
        yield "", where, item


def _document(
    where: str, row: dict[str, Any] | Problem, documents: dict[str, str | None]
) -> ArtifactItem | Problem:
    if isinstance(row, Problem):
        return row
    try:
        doc_id, text, title = identifier(row.get("_id"), "_id"), row.get("text"), title_of(row)
        if isinstance(text, str) and not text.strip():
            documents.setdefault(doc_id, None)
            return Problem(
                where=where, what=f"document {doc_id!r} is empty: there is nothing to find or cite"
            )
        text = words(text, f"document {doc_id!r}: text")
    except ValueError as error:
        return Problem(where=where, what=str(error))
    digest = text_hash(f"{title}\n{text}")
    if (known := documents.get(doc_id)) is not None:
        said = "with the same text; taken once" if known == digest else "with another text; the first is kept"
        return Problem(where=where, what=f"document {doc_id!r} stands here again {said}")
    documents[doc_id] = digest
    return ArtifactItem(source=doc_id, text=text, title=title.strip(), whole=True)


def _queries(file: Path, queries: dict[str, _Query]) -> Iterator[Row]:
    for where, row in json_lines(file):
        problem = row if isinstance(row, Problem) else _query(where, row, queries)
        if problem:
            yield "", where, problem


def _query(where: str, row: dict[str, Any], queries: dict[str, _Query]) -> Problem | None:
    try:
        query_id = identifier(row.get("_id"), "_id")
        if row.get("text") is None or row["text"] == "":
            return Problem(where=where, what=f"query {query_id!r} has no text")
        text = words(row["text"], f"query {query_id!r}: text")
    except ValueError as error:
        return Problem(where=where, what=str(error))
    if query_id in queries:
        return Problem(where=where, what=f"query {query_id!r} stands here again; the first is kept")
    queries[query_id] = _Query(text=text, where=where)
    return None


def _judgements(file: Path, documents: dict[str, str | None], queries: dict[str, _Query]) -> Iterator[Row]:
    def document_fault(doc_id: str) -> str | None:
        if doc_id not in documents:
            return f"the unknown document {doc_id!r}"
        return f"the empty document {doc_id!r}" if documents[doc_id] is None else None

    judged, problems = judgements(
        file,
        lambda query_id: None if query_id in queries else f"the unknown query {query_id!r}",
        document_fault,
    )
    yield from (("", problem.where, problem) for problem in problems)
    for query_id, relevance in judged.items():
        queries[query_id].gold[file.stem] = relevance


def _cases(query_id: str, query: _Query) -> Iterator[Row]:
    if not query.gold:
        what = f"query {query_id!r} has no usable judgement; no question is made of it"
        yield "", query.where, Problem(where=query.where, what=what)
    for split, judged in query.gold.items():
        case = Case(
            case_id=query_id if len(query.gold) == 1 else f"{query_id}@{split}",
            question=query.text,
            gold=tuple(Gold(source=doc_id, relevance=score) for doc_id, score in judged.items()),
            split=split,
            tags={"split": split},
        )
        yield "", query.where, CaseItem(case_id=case.case_id, body=case.to_body())
