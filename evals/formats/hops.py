"""Records of HotpotQA's shape: a question over several passages, its supporting sentences, and for some its triples.

``context`` is ``[[title, [sentence, …]], …]`` and ``supporting_facts`` ``[[title, sentence number], …]``; both also
come as columns (``{"title": […], "sentences": [[…], …]}``, ``{"title": […], "sent_id": […]}``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.ingest.items import CaseItem, FactItem, Item, Problem
from evals.cases import Case, Gold
from evals.formats.lines import identifier, words
from evals.formats.passages import Passages, Span, joined, quoted
from evals.formats.records import Placed, Record, dropped, each, left_over, listed, records, split_of

FIELDS = frozenset(
    "_id id question answer supporting_facts context type level evidences evidences_id entity_ids answer_id".split()
)


class Hops:
    """Reads files of one set; passages and triples are stored once, whichever record brings them."""

    def __init__(self) -> None:
        self.passages = Passages()
        self.triples: dict[tuple[str, ...], str] = {}

    def rows(self, file: Path) -> Iterator[Placed]:
        """Passages and facts of a record before its question, then what was dropped."""
        extra: Counter[str] = Counter()
        rows = left_over(records(file), FIELDS, extra)
        split = split_of(file)
        yield from each(rows, lambda where, row: self._record(where, row, split), "a record")
        yield from ((problem.where, problem) for problem in dropped(file, extra))

    def _record(self, where: str, row: Record, split: str | None) -> Iterator[Placed]:
        case_id = identifier(row.get("_id", row.get("id")), "_id")
        question = words(row["question"], "question")
        answer = row.get("answer")
        answers = () if answer is None else (words(answer, "answer"),)
        supporting = list(_pairs(row.get("supporting_facts"), "sent_id"))
        context = _Context(list(_pairs(row.get("context"), "sentences", "content")))
        tags = {key: words(row[key], key) for key in ("type", "level") if row.get(key) is not None}
        facts = [
            tuple(words(part, "a triple") for part in _triple(one)) for one in row.get("evidences") or []
        ]
        if context.blank:
            what = f"question {case_id}: no context, so nothing can be found or cited for it"
            yield where, Problem(where=where, what=what, action="kept")
        for title in context.repeated:
            what = f"question {case_id}: the passage {title!r} stands twice in its context"
            yield where, Problem(where=where, what=what, action="kept once")
        yield from ((where, item) for item in context.store(self.passages))
        yield from self._facts(where, facts, context)
        gold, citations, faults = context.evidence(supporting if not context.blank else [])
        for fault in faults:
            yield where, Problem(where=where, what=f"question {case_id}: {fault}")
        case = Case(
            case_id=case_id, question=question, answers=answers, gold=gold, citations=citations,
            answerable=True if answers else None, split=split, tags=tags,
        )  # fmt: skip
        yield where, CaseItem(case_id=case_id, body=case.to_body())

    def _facts(self, where: str, facts: list[tuple[str, ...]], context: _Context) -> Iterator[Placed]:
        for subject, relation, target in facts:
            artifact = context.source_of(subject)
            key = (subject, relation, target, artifact or "")
            if key in self.triples:
                what = f"the triple {key[:3]} stood at {self.triples[key]} already"
                yield where, Problem(where=where, what=what, action="kept once")
                continue
            self.triples[key] = where
            yield where, FactItem(subject=subject, relation=relation, object=target, artifact=artifact)


class _Context:
    """The passages of one record."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        self.texts: dict[str, tuple[str, list[Span | None]]] = {}
        self.repeated: list[str] = []
        self.sources: dict[str, str] = {}
        self.blank = not pairs
        for named, sentences in pairs:
            text, spans = joined(listed(sentences, "sentences"))
            if named in self.texts:
                if self.texts[named][0] != text:
                    raise ValueError(f"two passages of one title {named!r}: evidence names passages by title")
                self.repeated.append(named)
            elif not text:
                raise ValueError(f"the passage {named!r} is empty")
            self.texts[named] = (text, spans)

    def store(self, passages: Passages) -> Iterator[Item]:
        """What is not stored yet."""
        for title, (text, _) in self.texts.items():
            self.sources[title], item = passages.take(title, text)
            if item:
                yield item

    def source_of(self, title: str) -> str | None:
        return self.sources.get(title)

    def evidence(
        self, supporting: list[tuple[str, Any]]
    ) -> tuple[tuple[Gold, ...], tuple[Gold, ...], list[str]]:
        """Passages, sentences, and what is wrong with the rest."""
        gold: dict[str, Gold] = {}
        cited: dict[tuple[str, int], Gold] = {}
        faults = []
        for title, number in supporting:
            if title not in self.texts:
                faults.append(f"the supporting passage {title!r} is not in its context")
                continue
            text, spans = self.texts[title]
            source = self.sources[title]
            gold[source] = Gold(source=source)
            span = spans[number] if type(number) is int and 0 <= number < len(spans) else None
            if span is None:
                faults.append(f"the passage {title!r} has no sentence {number!r}")
            else:
                cited[source, number] = quoted(source, text, span)
        return tuple(gold.values()), tuple(cited.values()), faults


def _pairs(value: object, *names: str) -> Iterator[tuple[str, Any]]:
    """``[[title, x], …]``, or the same as columns ``{"title": […], name: […]}``."""
    if value is None:
        return
    if isinstance(value, dict):
        column = next((value[name] for name in names if name in value), None)
        titles = listed(value.get("title"), "title")
        value = list(map(list, zip(titles, listed(column, names[0]), strict=True)))
    for pair in listed(value, names[0]):
        title, other = listed(pair, "a pair")
        yield words(title, "title"), other


def _triple(value: object) -> list[Any]:
    parts = listed(value, "a triple")
    if len(parts) != 3:
        raise ValueError(f"a triple has three parts, got {len(parts)}")
    return parts
