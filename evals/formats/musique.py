"""MuSiQue: JSON Lines; supporting paragraphs are the gold evidence.

The full release has for each question a variant that its paragraphs do not answer, under the same id. Those become a
dataset of their own (``/unanswerable``): stored beside each other, one variant's passages would answer the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from core.ingest.items import CaseItem, Problem
from evals.cases import Case, Gold
from evals.formats import Row
from evals.formats.lines import identifier, words
from evals.formats.passages import Passages
from evals.formats.records import (
    Placed,
    Record,
    dropped,
    each,
    files_of,
    left_over,
    listed,
    records,
    split_of,
)

FILES = (
    "musique.json",
    "musique_ans_v1.0_train.jsonl",
    "musique_ans_v1.0_dev.jsonl",
    "musique_full_v1.0_train.jsonl",
    "musique_full_v1.0_dev.jsonl",
)
FIELDS = frozenset("id paragraphs question question_decomposition answer answer_aliases answerable".split())
UNANSWERABLE = "/unanswerable"


def load(path: Path) -> Iterator[Row]:
    """Record by record: its paragraphs, then its question; first what can be answered."""
    pools = {"": Passages(), UNANSWERABLE: Passages()}
    kept: list[Row] = []
    for file in files_of(path, FILES, "MuSiQue"):
        extra: Counter[str] = Counter()
        split = split_of(file)
        for where, row in left_over(records(file), FIELDS, extra):
            answerable = not isinstance(row, dict) or row.get("answerable") is not False
            suffix = "" if answerable else UNANSWERABLE
            make = partial(_record, passages=pools[suffix], split=split)
            rows = each([(where, row)], make, "a record")
            made = [(suffix, place, item) for place, item in rows]
            if answerable:
                yield from made
            else:
                kept += made
        yield from (("", problem.where, problem) for problem in dropped(file, extra))
    yield from kept


def _record(where: str, row: Record, passages: Passages, split: str | None) -> Iterator[Placed]:
    case_id, question = identifier(row["id"], "id"), words(row["question"], "question")
    answer = row.get("answer")
    given = () if answer is None else (answer, *listed(row.get("answer_aliases") or [], "answer_aliases"))
    answers = tuple(dict.fromkeys(words(one, "answer") for one in given))
    answerable = row.get("answerable", True)
    if not isinstance(answerable, bool):
        raise TypeError(f"answerable must be true or false, got {answerable!r}")
    paragraphs = [_paragraph(one) for one in listed(row["paragraphs"], "paragraphs")]
    gold = []
    for title, text, supporting in paragraphs:
        source, item = passages.take(title, text)
        if item:
            yield where, item
        if supporting:
            gold.append(Gold(source=source))
    if answers and answerable and not gold:
        what = f"question {case_id}: no paragraph is marked as supporting"
        yield where, Problem(where=where, what=what, action="kept")
    hops = case_id.partition("hop")[0]
    case = Case(
        case_id=case_id, question=question, answers=answers if answerable else (), gold=tuple(dict.fromkeys(gold)),
        answerable=answerable if answers else None,
        why_unanswerable=None if answerable else "supporting-paragraph-removed",
        split=split, tags={"hops": hops} if hops.isdecimal() else {},
    )  # fmt: skip
    yield where, CaseItem(case_id=case_id, body=case.to_body())


def _paragraph(value: object) -> tuple[str, str, bool]:
    if not isinstance(value, dict):
        raise TypeError(f"a paragraph must be an object, got {type(value).__name__}")
    supporting = value.get("is_supporting", False)
    if not isinstance(supporting, bool):
        raise TypeError(f"is_supporting must be true or false, got {supporting!r}")
    return words(value["title"], "title"), words(value["paragraph_text"], "paragraph_text"), supporting
