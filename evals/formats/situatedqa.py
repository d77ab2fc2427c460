"""SituatedQA: questions whose answer depends on when (``temp``) or where (``geo``) they are asked; it has no passages.

``raw_temp.SPLIT.jsonl`` holds timelines: each becomes two facts in valid time, the earlier answer until the later one
begins. ``temp.SPLIT.jsonl`` asks as of a year or day. Answers that are right at another time or place are
``stale_answers``. A question is judged on the facts that say its answer and held at its time; where the timelines are
there and hold none, nothing that was brought in can answer it (``no-timeline``). The two kinds are two datasets,
``/temp`` and ``/geo``; ``raw_geo`` says nothing that ``geo`` does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from core import clock
from core.ingest.items import CaseItem, EntityItem, FactItem, Problem
from evals.cases import Case, Gold
from evals.formats import Row
from evals.formats.lines import identifier, words
from evals.formats.records import Placed, Record, each, files_of, listed, records, split_of

SPLITS = ("train", "dev", "test")
FILES = tuple(f"{kind}.{split}.jsonl" for kind in ("raw_temp", "temp", "geo") for split in SPLITS)
RELATION = "answered_by"
QUESTION = "question"
ANSWER = "answer"
NO_TIMELINE = "no-timeline"


def load(path: Path) -> Iterator[Row]:
    """The timelines as facts, then the questions as of a time, then those of a place."""
    files = files_of(path, FILES, "SituatedQA")
    asked: dict[str, tuple[str, Case]] = {}
    told = _Told()
    for kind, suffix, make in (
        ("raw_temp", "/temp", _timelines),
        ("temp", "/temp", _temp),
        ("geo", "/geo", _geo),
    ):
        for file in files:
            if file.name.split(".")[0] == kind:
                yield from ((suffix, where, item) for where, item in _rows(file, make, asked, told))
    for file in files:
        if file.name.split(".")[0] not in ("raw_temp", "temp", "geo"):
            what = "the name should begin with raw_temp, temp or geo, followed by the split"
            yield "", f"{file}:1", Problem(where=f"{file}:1", what=what)


class _Told:
    """The facts of each question, once timelines were read."""

    def __init__(self) -> None:
        self.facts: dict[str, list[FactItem]] = {}

    def golds(self, question: str, answers: Sequence[str], as_of: str) -> tuple[Gold, ...]:
        """The facts that say an answer and held then."""
        golds = (
            Gold(fact=(fact.subject, fact.relation, fact.object))
            for fact in self.facts.get(question, ())
            if fact.object in answers and (fact.valid_at or "") <= as_of < (fact.invalid_at or "9999")
        )
        return tuple(dict.fromkeys(golds))


def _rows(file: Path, make: Any, asked: dict[str, tuple[str, Case]], told: _Told) -> Iterator[Placed]:
    notes: dict[str, int] = {}
    makes = partial(make, notes=notes, asked=asked, told=told, split=split_of(file))
    yield from each(records(file), makes, "a record of SituatedQA")
    for what, count in notes.items():
        yield f"{file}:1", Problem(where=f"{file}:1", what=f"{count} {what}", action="kept")


def _timelines(
    where: str,
    row: Record,
    notes: dict[str, int],
    asked: dict[str, tuple[str, Case]],
    told: _Told,
    split: str | None,
) -> Iterator[Placed]:
    question = words(row["question"], "question")
    if row.get("timelines") is None:
        _note(notes, "questions have no timeline; there is no fact of them")
        return
    facts: list[Placed] = []
    seen: list[Any] = []
    for number, timeline in enumerate(listed(row["timelines"], "timelines")):
        if timeline in seen:
            what = f"timeline {number} of {question!r} stands there again"
            facts.append((where, Problem(where=where, what=what, action="kept once")))
            continue
        seen.append(timeline)
        facts += _facts(where, question, number, timeline, notes)
    told.facts.setdefault(question, []).extend(item for _, item in facts if isinstance(item, FactItem))
    yield where, EntityItem(name=question, type=QUESTION)
    yield from facts


def _facts(
    where: str, question: str, number: int, timeline: Record, notes: dict[str, int]
) -> Iterator[Placed]:
    """The later answer's fact, and the earlier one's, which ends where the later begins."""
    place = f"timeline {number} of {question!r}"
    later, earlier = (_answers(timeline[f"{which}_answers"], which) for which in ("cur", "prev"))
    end, start = (_start(timeline[f"{which}_start"]) for which in ("cur", "prev"))
    spell = _said(timeline, "cur") or end, _said(timeline, "prev") or start
    for which, answers in (("later", later), ("earlier", earlier)):
        if not answers:
            _note(notes, f"timelines have no {which} answer")
    if end is None or (earlier and start is None):
        what = f"{place}: the {'later' if end is None else 'earlier'} answer has no start"
        yield where, Problem(where=where, what=f"{what}, so nobody can say when which was right")
        earlier = []
    elif earlier and start is not None and start >= end:
        what = f"{place}: the earlier answer starts at {start}, the later at {end}; the earlier is left out"
        yield where, Problem(where=where, what=what)
        earlier = []
    for answer in later if end else ():
        yield where, _fact(question, answer, f"from {spell[0]}", end, None)
    for answer in earlier:
        yield where, _fact(question, answer, f"from {spell[1]} until {spell[0]}", start, end)


def _fact(question: str, answer: str, spell: str, start: str | None, end: str | None) -> FactItem:
    return FactItem(
        subject=question, relation=RELATION, object=answer, description=spell, valid_at=start, invalid_at=end
    )


def _said(timeline: Record, which: str) -> str | None:
    """The start in the annotator's words."""
    text = timeline.get(f"{which}_start_full")
    return None if text is None else words(text, f"{which}_start_full")


def _start(value: Any) -> str | None:
    """``{"year": 2017, "month": 7, "date": 25}`` as a moment; month and day may be null."""
    if value is None or value["year"] is None:
        return None
    parts = [value["year"], value.get("month") or 1, value.get("date") or 1]
    if not all(type(part) is int for part in parts):
        raise ValueError(f"a start has whole numbers, got {value!r}")
    return clock.to_text(datetime(*parts))


def _answers(value: object, which: str) -> list[str]:
    """Distinct answers, [] for none."""
    answers = [] if value is None else [words(one, f"{which}_answers") for one in listed(value, which)]
    return list(dict.fromkeys(answers))


def _temp(
    where: str,
    row: Record,
    notes: dict[str, int],
    asked: dict[str, tuple[str, Case]],
    told: _Told,
    split: str | None,
) -> Iterator[Placed]:
    date = words(row["date"], "date")
    tags = {"date_type": words(row["date_type"], "date_type")}
    case = _case(row, date, notes, split, tags, as_of=_moment(date))
    if told.facts:
        question = words(row["question"], "question")
        gold = told.golds(question, case.answers, str(case.as_of))
        missing = question not in told.facts
        case = replace(
            case, gold=gold, answerable=not missing, why_unanswerable=NO_TIMELINE if missing else None
        )
    yield from _once(where, case, asked)


def _geo(
    where: str,
    row: Record,
    notes: dict[str, int],
    asked: dict[str, tuple[str, Case]],
    told: _Told,
    split: str | None,
) -> Iterator[Placed]:
    location = words(row["location"], "location")
    yield from _once(where, _case(row, location, notes, split, {"location": location}), asked)


def _once(where: str, case: Case, asked: dict[str, tuple[str, Case]]) -> Iterator[Placed]:
    """The question, unless it was asked as of the same time (or of the same place) before."""
    if case.case_id in asked:
        first, other = asked[case.case_id]
        alike = "alike" if other.answers == case.answers else f"with the answer {list(other.answers)!r}"
        what = f"{case.question!r} was asked at {first} already, {alike}"
        yield where, Problem(where=where, what=what, action="kept once")
        return
    asked[case.case_id] = (where, case)
    yield where, CaseItem(case_id=case.case_id, body=case.to_body())


def _case(
    row: Record,
    of: str,
    notes: dict[str, int],
    split: str | None,
    tags: dict[str, str],
    as_of: str | None = None,
) -> Case:
    given = [words(one, "answer") for one in listed(row["answer"], "answer")]
    anywhere = [words(one, "any_answer") for one in listed(row["any_answer"], "any_answer")]
    answers = tuple(dict.fromkeys(given))
    if not answers:
        raise ValueError("no answer")
    if len(answers) < len(given):
        _note(notes, "questions have an answer that stands there twice; it counts once")
    return Case(
        case_id=f"{identifier(row['id'], 'id')}@{of}", question=words(row["edited_question"], "edited_question"),
        answers=answers, as_of=as_of, split=split, tags=tags,
        stale_answers=tuple(one for one in dict.fromkeys(anywhere) if one not in answers),
    )  # fmt: skip


def _moment(date: str) -> str:
    """``2019`` means some time in that year: its last day, so that what began in it had begun. ``March 06, 2014``."""
    if date.isascii() and date.isdigit() and len(date) == 4:
        return clock.parse(f"{date}-12-31")
    return clock.to_text(datetime.strptime(date, "%B %d, %Y"))


def _note(notes: dict[str, int], what: str) -> None:
    notes[what] = notes.get(what, 0) + 1
