"""SciFact: ``corpus.jsonl[.gz]``, ``claims_SPLIT.jsonl`` and, for retrieval, ``qrels/SPLIT.tsv``.

A claim without evidence still has a cited document: it is judged for retrieval and should be abstained from. The test
claims' labels are hidden: they are neither answerable nor unanswerable.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.errors import DataError
from core.ingest.items import ArtifactItem, CaseItem, Problem
from evals.cases import Case, Gold
from evals.formats import Row
from evals.formats.lines import found, json_lines, text_lines

SPLITS = ("train", "dev", "test")
HIDDEN = "test"


def load(path: Path) -> Iterator[Row]:
    """Abstracts, then claims by split."""
    if not path.is_dir():
        raise DataError(f"{path}: no such folder; SciFact holds corpus.jsonl and claims_train/dev/test.jsonl")
    sentences: dict[str, list[str]] = {}
    for where, row in json_lines(found(path, "corpus.jsonl", "corpus.jsonl.gz")):
        yield "", where, row if isinstance(row, Problem) else _abstract(where, row, sentences)
    files = [(split, path / f"claims_{split}.jsonl") for split in SPLITS]
    if not any(file.is_file() for _, file in files):
        raise DataError(f"{path}: expected claims_train.jsonl, claims_dev.jsonl or claims_test.jsonl")
    for split, file in files:
        if file.is_file():
            qrels: dict[str, list[str]] = {}
            yield from _qrels(path / "qrels" / f"{split}.tsv", qrels)
            for where, row in json_lines(file):
                yield (
                    "",
                    where,
                    row if isinstance(row, Problem) else _claim(where, row, split, sentences, qrels),
                )


def _abstract(where: str, row: dict[str, Any], sentences: dict[str, list[str]]) -> ArtifactItem | Problem:
    try:
        doc_id, title, abstract = (
            str(row["doc_id"]),
            str(row["title"]),
            [str(part).strip() for part in row["abstract"]],
        )
    except (KeyError, TypeError) as error:
        return Problem(where=where, what=f"an abstract needs doc_id, title and abstract: {error}")
    if doc_id in sentences:
        return Problem(where=where, what=f"document {doc_id!r} stands here again; the first is kept")
    text = " ".join(abstract)
    if not text.strip():
        return Problem(where=where, what=f"document {doc_id!r} is empty: there is nothing to find or cite")
    sentences[doc_id] = abstract
    return ArtifactItem(source=doc_id, text=text, title=title, whole=True)


def _claim(
    where: str, row: dict[str, Any], split: str, sentences: dict[str, list[str]], qrels: dict[str, list[str]]
) -> CaseItem | Problem:
    try:
        claim_id, claim, evidence = str(row["id"]), str(row["claim"]), dict(row.get("evidence") or {})
        cited = [str(doc_id) for doc_id in row.get("cited_doc_ids") or []]
        citations = tuple(_evidence(evidence, sentences))
    except (KeyError, TypeError, ValueError, IndexError) as error:
        return Problem(where=where, what=f"claim {row.get('id')!r}: {type(error).__name__}: {error}")
    relevant = qrels.get(claim_id, [doc_id for doc_id in cited if doc_id in sentences])
    labels = {str(part["label"]) for parts in evidence.values() for part in parts}
    hidden = split == HIDDEN
    case = Case(
        case_id=claim_id,
        question=claim,
        gold=tuple(Gold(source=doc_id) for doc_id in relevant),
        citations=citations,
        answerable=None if hidden else bool(evidence),
        why_unanswerable=None if hidden or evidence else "no-evidence",
        hides=() if hidden or evidence else tuple(cited),
        split=split,
        tags={"label": "hidden" if hidden else ",".join(sorted(labels)) or "NO_EVIDENCE"},
    )
    return CaseItem(case_id=case.case_id, body=case.to_body())


def _evidence(evidence: dict[str, Any], sentences: dict[str, list[str]]) -> Iterator[Gold]:
    seen = set()
    for doc_id, parts in evidence.items():
        for index in (int(index) for part in parts for index in part["sentences"]):
            if (doc_id, index) not in seen:
                seen.add((doc_id, index))
                start = sum(len(sentence) + 1 for sentence in sentences[doc_id][:index])
                quote = sentences[doc_id][index]
                yield Gold(source=doc_id, start=start, end=start + len(quote), quote=quote)


def _qrels(file: Path, qrels: dict[str, list[str]]) -> Iterator[Row]:
    if not file.is_file():
        return
    for number, (where, line) in enumerate(text_lines(file)):
        cells = [] if isinstance(line, Problem) else line.split("\t")
        if len(cells) != 3:
            yield "", where, Problem(where=where, what="expected query-id, corpus-id and score")
        elif number and int(cells[2]) > 0:
            qrels.setdefault(cells[0], []).append(cells[1])
