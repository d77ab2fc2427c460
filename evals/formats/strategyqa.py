"""StrategyQA: yes/no questions that need several facts; each fact is a text of its own, and all of them are gold.

JSON Lines (``strategy.json``) or the released array. The paragraphs of ``evidence`` are not part of either.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from core.ingest.items import ArtifactItem, CaseItem, Problem
from evals.cases import Case, Gold
from evals.formats import Row
from evals.formats.lines import identifier, words
from evals.formats.records import Placed, Record, each, files_of, listed, records, split_of

FILES = ("strategy.json", "strategyqa_train.json")


def load(path: Path) -> Iterator[Row]:
    """Record by record: its facts, then its question."""
    for file in files_of(path, FILES, "StrategyQA"):
        split = split_of(file)
        rows = each(records(file), partial(_record, split=split), "a record")
        yield from (("", where, item) for where, item in rows)


def _record(where: str, row: Record, split: str | None) -> Iterator[Placed]:
    case_id, question = identifier(row["qid"], "qid"), words(row["question"], "question")
    answer = row.get("answer")
    if answer is not None and not isinstance(answer, bool):
        raise TypeError(f"answer must be true or false, got {answer!r}")
    term = words(row["term"], "term")
    facts = [words(fact, "a fact") for fact in listed(row.get("facts") or [], "facts")]
    for number, fact in enumerate(facts):
        yield where, ArtifactItem(source=f"{case_id}#{number}", text=fact, title=term, whole=True)
    if not facts:
        what = f"question {case_id}: no facts, so there is nothing to find or cite"
        yield where, Problem(where=where, what=what, action="kept")
    case = Case(
        case_id=case_id, question=question, answers=() if answer is None else ("yes" if answer else "no",),
        gold=tuple(Gold(source=f"{case_id}#{number}") for number in range(len(facts))),
        answerable=None if answer is None else True, split=split, tags={"answer": str(answer).lower()},
    )  # fmt: skip
    yield where, CaseItem(case_id=case_id, body=case.to_body())
