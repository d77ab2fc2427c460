"""SQuAD 1.1 and 2.0: one JSON object, articles in paragraphs with their questions.

Each paragraph is a turn (``p0``) of its article. Answers are stretches of the paragraph; those of several annotators are
alternatives. ``is_impossible`` questions are unanswerable; their ``plausible_answers`` are wrong and not read.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.errors import DataError
from core.ingest.items import CaseItem, NodeItem, Problem
from evals.cases import Case, Gold
from evals.formats import Row
from evals.formats.lines import identifier, words
from evals.formats.records import FAULTS, Placed, document, files_of, listed, split_of

FILES = ("train-v2.0.json", "dev-v2.0.json", "train-v1.1.json", "dev-v1.1.json")


def load(path: Path) -> Iterator[Row]:
    """Paragraph by paragraph, each before its questions."""
    ids: set[str] = set()
    for file in files_of(path, FILES, "SQuAD"):
        body = document(file, "a SQuAD object with 'data'")
        if not isinstance(body, dict) or not isinstance(body.get("data"), list):
            raise DataError(f"{file}:1: expected a SQuAD object with 'data', a list of articles")
        reading = _Reading(ids, split_of(file))
        for number, article in enumerate(body["data"]):
            where = f"{file}:1:data[{number}]"
            yield from (("", place, item) for place, item in _whole(reading.article(where, article), where))


class _Reading:
    def __init__(self, ids: set[str], split: str | None) -> None:
        self.ids = ids
        self.split = split
        self.positions: dict[str, int] = {}

    def article(self, where: str, article: Any) -> Iterator[Placed]:
        """The paragraphs of an article; one of a known title goes on with it."""
        title = words(article["title"], "title")
        for number, paragraph in enumerate(listed(article["paragraphs"], "paragraphs")):
            place = f"{where}.paragraphs[{number}]"
            yield from _whole(self._paragraph(place, title, paragraph), place)

    def _paragraph(self, where: str, title: str, paragraph: Any) -> Iterator[Placed]:
        context, questions = words(paragraph["context"], "context"), listed(paragraph["qas"], "qas")
        position = self.positions.get(title, 0)
        self.positions[title] = position + 1
        yield where, NodeItem(
            level="L0", text=context, source=title, turn=f"p{position}", session=title, position=position,
            title=title.replace("_", " "),
        )  # fmt: skip
        for number, question in enumerate(questions):
            place = f"{where}.qas[{number}]"
            yield from _whole(self._question(place, title, f"p{position}", context, question), place)

    def _question(self, where: str, title: str, turn: str, context: str, question: Any) -> Iterator[Placed]:
        case_id, text = identifier(question["id"], "id"), words(question["question"], "question")
        impossible = question.get("is_impossible", False)
        if not isinstance(impossible, bool):
            raise TypeError(f"is_impossible must be true or false, got {impossible!r}")
        given = [_answer(one) for one in listed(question["answers"], "answers")]
        if not given and not impossible:
            raise ValueError("no answer, and not marked as impossible")
        if case_id in self.ids:
            raise ValueError(f"question {case_id} stands here again; the first is kept")
        cited, faults = _spans(title, turn, context, given)
        for fault in faults:
            yield where, Problem(where=where, what=f"question {case_id}: {fault}")
        if impossible and given:
            what = f"question {case_id} is marked as impossible and has answers; they are not read"
            yield where, Problem(where=where, what=what, action="dropped")
        self.ids.add(case_id)
        yield where, _case(case_id, text, self.split, title, turn, [] if impossible else given, cited)


def _case(
    case_id: str,
    text: str,
    split: str | None,
    title: str,
    turn: str,
    given: list[tuple[str, int]],
    cited: list[Gold],
) -> CaseItem:
    case = Case(
        case_id=case_id, question=text, answers=tuple(dict.fromkeys(answer for answer, _ in given)),
        gold=(Gold(source=title, turn=turn),) if given else (), citations=tuple(cited) if given else (),
        alternatives=tuple((place,) for place in range(len(cited))) if given and len(cited) > 1 else (),
        answerable=bool(given), why_unanswerable=None if given else "not-in-paragraph",
        hides=() if given else (title,), split=split, tags={"title": title},
    )  # fmt: skip
    return CaseItem(case_id=case_id, body=case.to_body())


def _answer(value: Any) -> tuple[str, int]:
    start = value["answer_start"]
    if type(start) is not int:
        raise TypeError(f"answer_start must be a whole number, got {start!r}")
    return words(value["text"], "an answer"), start


def _spans(title: str, turn: str, context: str, given: list[tuple[str, int]]) -> tuple[list[Gold], list[str]]:
    """The answers as stretches of the paragraph, each once, and what does not stand where it is said to."""
    cited: dict[Gold, None] = {}
    faults = []
    for answer, start in given:
        if start >= 0 and context.startswith(answer, start):
            cited[Gold(source=title, turn=turn, start=start, end=start + len(answer), quote=answer)] = None
        else:
            faults.append(f"the answer {answer[:60]!r} does not stand at {start}")
    return list(cited), faults


def _whole(rows: Iterator[Placed], where: str) -> Iterator[Placed]:
    """The rows of one part; a malformed part is a problem of its own and takes nothing else down."""
    try:
        yield from list(rows)
    except FAULTS as error:
        yield where, Problem(where=where, what=f"not SQuAD: {type(error).__name__} {error}")
