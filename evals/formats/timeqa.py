"""TimeQA as people annotated it: articles in paragraphs, questions about a span of time, gold at the level of paragraphs.

Each paragraph is a turn (``p5``) of its article. An answer is a stretch of a paragraph; several annotations are
alternatives. ``{"para": 0, "from": 0, "end": 0, "answer": ""}`` says that the article does not answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.ingest.items import CaseItem, NodeItem, Problem
from evals.cases import Case, Gold
from evals.formats import Row
from evals.formats.lines import identifier, words
from evals.formats.records import FAULTS, Placed, Record, each, files_of, listed, records, split_of

FILES = ("human_annotated_test.json", "human_annotated_dev.json", "human_annotated_train.json")
NO_ANSWER = {"para": 0, "from": 0, "end": 0, "answer": ""}


def load(path: Path) -> Iterator[Row]:
    """Article by article: its paragraphs, then its questions."""
    articles: dict[str, list[str]] = {}
    for file in files_of(path, FILES, "TimeQA"):
        reading = _Reading(articles, split_of(file))
        rows = each(records(file), reading.article, "an article of TimeQA")
        yield from (("", where, item) for where, item in rows)


class _Reading:
    def __init__(self, articles: dict[str, list[str]], split: str | None) -> None:
        self.articles = articles
        self.split = split
        self.asked: dict[str, str] = {}

    def article(self, where: str, row: Record) -> Iterator[Placed]:
        """The article's paragraphs where it is new, and its questions, each on its own."""
        index, link = identifier(row["index"], "index"), words(row["link"], "link")
        tags = {"type": words(row["type"], "type")} if row.get("type") is not None else {}
        paragraphs = [
            one if one == "" else words(one, "a paragraph") for one in listed(row["paras"], "paras")
        ]
        questions = listed(row["questions"], "questions")
        known = self.articles.get(link)
        if known is not None and known != paragraphs:
            raise ValueError(f"the article {link} came before with other paragraphs")
        if known is None:
            self.articles[link] = paragraphs
            title = paragraphs[0] if paragraphs else ""
            yield from ((where, node) for node in _nodes(link, title, paragraphs))
        for number, question in enumerate(questions):
            try:
                case = self._case(f"{index}#{number}", link, paragraphs, question, tags)
            except FAULTS as error:
                what = f"question {number} of {index}: {type(error).__name__} {error}"
                yield where, Problem(where=where, what=what)
                continue
            if case.question in self.asked:
                what = f"{case.case_id} was asked at {self.asked[case.question]} already"
                yield where, Problem(where=where, what=what, action="kept")
            self.asked.setdefault(case.question, where)
            yield where, CaseItem(case_id=case.case_id, body=case.to_body())

    def _case(
        self, case_id: str, link: str, paragraphs: list[str], question: Any, tags: dict[str, str]
    ) -> Case:
        text, annotations = listed(question, "a question")
        found = [one for one in listed(annotations, "annotations") if one != NO_ANSWER]
        if not annotations:
            raise ValueError("no annotation: neither an answer nor the mark of none")
        cited = list(dict.fromkeys(_answer(link, paragraphs, one) for one in found))
        gold = dict.fromkeys(Gold(source=one.source, turn=one.turn) for one in cited)
        return Case(
            case_id=case_id, question=words(text, "question"),
            answers=tuple(dict.fromkeys(one.quote for one in cited if one.quote)), gold=tuple(gold),
            citations=tuple(cited), answerable=bool(cited),
            alternatives=tuple((place,) for place in range(len(cited))) if len(cited) > 1 else (),
            why_unanswerable=None if cited else "not-in-article", hides=() if cited else (link,),
            split=self.split, tags=tags,
        )  # fmt: skip


def _nodes(link: str, title: str, paragraphs: list[str]) -> Iterator[NodeItem]:
    for number, text in enumerate(paragraphs):
        if text:
            yield NodeItem(
                level="L0", text=text, source=link, turn=f"p{number}", session=link, position=number,
                title=title if number else "",
            )  # fmt: skip


def _answer(link: str, paragraphs: list[str], annotation: Any) -> Gold:
    """The stretch of a paragraph that answers. ValueError: it is not where it is said to be."""
    place, start, end = (_whole(annotation[key], key) for key in ("para", "from", "end"))
    answer = words(annotation["answer"], "answer")
    if place >= len(paragraphs):
        raise ValueError(f"paragraph {place} of {len(paragraphs)}")
    if paragraphs[place][start:end] != answer:
        raise ValueError(f"paragraph {place}[{start}:{end}] is not the answer {answer[:60]!r}")
    return Gold(source=link, turn=f"p{place}", start=start, end=end, quote=answer)


def _whole(value: object, what: str) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{what} must be a whole number from 0, got {value!r}")
    return value
