"""SciFact: ``corpus.jsonl[.gz]``, ``claims_SPLIT.jsonl`` and, for retrieval, ``qrels/SPLIT.tsv``.

A claim without evidence still has a cited document: it is judged for retrieval and should be abstained from. The test
claims' labels are hidden: they are neither answerable nor unanswerable.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from core.errors import DataError
from core.ingest.items import ArtifactItem, CaseItem, Problem
from evals.cases import Case, Gold
from evals.formats import Row
from evals.formats.lines import found, identifier, json_lines, title_of, words
from evals.formats.qrels import judgements

SPLITS = ("train", "dev", "test")
HIDDEN = "test"
_Kind = TypeVar("_Kind", dict[str, Any], list[Any])


def load(path: Path) -> Iterator[Row]:
    """Abstracts, then claims by split."""
    if not path.is_dir():
        raise DataError(f"{path}: no such folder; SciFact holds corpus.jsonl and claims_train/dev/test.jsonl")
    corpus = found(path, "corpus.jsonl", "corpus.jsonl.gz")
    files = [(split, path / f"claims_{split}.jsonl") for split in SPLITS]
    if not any(file.is_file() for _, file in files):
        raise DataError(f"{path}: expected claims_train.jsonl, claims_dev.jsonl or claims_test.jsonl")
    sentences: dict[str, list[str]] = {}
    for where, row in json_lines(corpus):
        yield "", where, row if isinstance(row, Problem) else _abstract(where, row, sentences)
    for split, file in files:
        if file.is_file():
            yield from _claims(file, path / "qrels" / f"{split}.tsv", split, sentences)


def _claims(file: Path, qrels: Path, split: str, sentences: dict[str, list[str]]) -> Iterator[Row]:
    rows = list(json_lines(file))
    claims = {str(row.get("id")) for _, row in rows if not isinstance(row, Problem)}
    relevant: dict[str, dict[str, int]] = {}
    if qrels.is_file():
        relevant, problems = judgements(
            qrels,
            lambda claim_id: None if claim_id in claims else f"the unknown claim {claim_id!r}",
            lambda doc_id: None if doc_id in sentences else f"the unknown document {doc_id!r}",
        )
        yield from (("", problem.where, problem) for problem in problems)
    for where, row in rows:
        yield "", where, row if isinstance(row, Problem) else _claim(where, row, split, sentences, relevant)


def _abstract(where: str, row: dict[str, Any], sentences: dict[str, list[str]]) -> ArtifactItem | Problem:
    parts = row.get("abstract")
    if row.get("doc_id") is None or not isinstance(parts, list):
        return Problem(where=where, what="expected doc_id, title and abstract, a list of sentences")
    try:
        doc_id, title = identifier(row["doc_id"], "doc_id"), title_of(row)
        abstract = [_sentence(part) for part in parts]
    except ValueError as error:
        return Problem(where=where, what=str(error))
    if doc_id in sentences:
        return Problem(where=where, what=f"document {doc_id!r} stands here again; the first is kept")
    if not any(abstract):
        return Problem(where=where, what=f"document {doc_id!r} is empty: there is nothing to find or cite")
    sentences[doc_id] = abstract
    return ArtifactItem(source=doc_id, text=" ".join(abstract), title=title, whole=True)


def _sentence(part: object) -> str:
    """A sentence without the space around it; a blank one keeps its place, since evidence counts sentences."""
    blank = isinstance(part, str) and not part.strip()
    return "" if blank else words(part, "a sentence of the abstract").strip()


def _claim(
    where: str,
    row: dict[str, Any],
    split: str,
    sentences: dict[str, list[str]],
    qrels: dict[str, dict[str, int]],
) -> CaseItem | Problem:
    try:
        claim_id, claim = identifier(row["id"], "id"), words(row["claim"], "claim")
        evidence = _object(row, "evidence", dict)
        cited = [identifier(doc_id, "cited_doc_ids") for doc_id in _object(row, "cited_doc_ids", list)]
        citations = tuple(_evidence(evidence, sentences))
        labels = {words(part["label"], "label") for parts in evidence.values() for part in parts}
    except (KeyError, TypeError, ValueError) as error:
        return Problem(where=where, what=f"claim {row.get('id')!r}: {type(error).__name__}: {error}")
    relevant = qrels.get(claim_id) or {doc_id: 1 for doc_id in cited if doc_id in sentences}
    hidden = split == HIDDEN
    case = Case(
        case_id=claim_id,
        question=claim,
        gold=tuple(Gold(source=doc_id, relevance=score) for doc_id, score in relevant.items()),
        citations=citations,
        answerable=None if hidden else bool(evidence),
        why_unanswerable=None if hidden or evidence else "no-evidence",
        hides=() if hidden or evidence else tuple(cited),
        split=split,
        tags={"label": "hidden" if hidden else ",".join(sorted(labels)) or "NO_EVIDENCE"},
    )
    return CaseItem(case_id=case.case_id, body=case.to_body())


def _object(row: dict[str, Any], key: str, kind: type[_Kind]) -> _Kind:
    """The object or list under ``key``, empty where there is none."""
    value = row.get(key)
    if value is not None and not isinstance(value, kind):
        raise TypeError(f"{key} must be a {kind.__name__}, got {type(value).__name__}")
    return kind() if value is None else value


def _evidence(evidence: dict[str, Any], sentences: dict[str, list[str]]) -> Iterator[Gold]:
    seen = set()
    for doc_id, parts in evidence.items():
        indices = [index for part in parts for index in part["sentences"]]
        if not indices:
            raise ValueError(f"evidence of document {doc_id!r} names no sentence")
        for index in indices:
            if type(index) is not int or not 0 <= index < len(sentences.get(doc_id, ())):
                raise ValueError(
                    f"evidence is sentence {index} of document {doc_id!r}, which is not in the corpus"
                )
            if (doc_id, index) not in seen:
                seen.add((doc_id, index))
                start = sum(len(sentence) + 1 for sentence in sentences[doc_id][:index])
                quote = sentences[doc_id][index]
                yield Gold(source=doc_id, start=start, end=start + len(quote), quote=quote)
