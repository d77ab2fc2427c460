"""TimeQA and SituatedQA: paragraphs as turns, alternatives, timelines as facts, stale answers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.ingest.items import EntityItem, FactItem, NodeItem
from evals.cases import Gold

Load = Callable[[str, Path], Any]
Lines = Callable[[str, list[Any]], Path]
NONE = {"para": 0, "from": 0, "end": 0, "answer": ""}


def article(*questions: Any, **changes: Any) -> dict[str, Any]:
    paragraphs = ["Ann", "Ann went to Delft , then to Leiden .", "", "More ."]
    return {"index": "/wiki/Ann#P1", "type": "P1", "link": "/wiki/Ann", "paras": paragraphs,
            "questions": list(questions)} | changes  # fmt: skip


def delft(**changes: Any) -> dict[str, Any]:
    return {"para": 1, "from": 12, "end": 17, "answer": "Delft"} | changes


def test_paragraphs_are_turns_and_several_annotations_alternatives(load: Load, lines: Lines) -> None:
    leiden = {"para": 1, "from": 28, "end": 34, "answer": "Leiden"}
    row = article(["where", [delft(), leiden, delft()]], ["who", [NONE]])
    loaded = load("timeqa", lines("human_annotated_test.json", [row]))
    nodes = loaded.of(NodeItem)
    assert [(node.source, node.turn, node.position, node.title) for node in nodes] == [
        ("/wiki/Ann", "p0", 0, ""), ("/wiki/Ann", "p1", 1, "Ann"), ("/wiki/Ann", "p3", 3, "Ann"),
    ]  # fmt: skip
    where, who = loaded.cases
    assert where.gold == (Gold(source="/wiki/Ann", turn="p1"),)
    assert [gold.quote for gold in where.citations] == ["Delft", "Leiden"]
    assert where.evidence_sets() == ((where.citations[0],), (where.citations[1],))
    assert (where.answers, where.answerable, where.split) == (("Delft", "Leiden"), True, "test")
    assert (who.answerable, who.answers, who.gold, who.hides) == (False, (), (), ("/wiki/Ann",))
    assert loaded.problems == []


@pytest.mark.parametrize(
    ("annotation", "what"),
    [
        (delft(para=9), "paragraph 9 of 4"),
        (delft(end=18), "paragraph 1[12:18] is not the answer 'Delft'"),
        (delft(para=True), "para must be a whole number from 0, got True"),
        (delft(answer=""), "answer must be a text"),
        ({"para": 1}, "KeyError 'from'"),
    ],
)
def test_an_annotation_that_points_elsewhere_is_said(
    load: Load, lines: Lines, annotation: Any, what: str
) -> None:
    file = lines("human_annotated_test.json", [article(["where", [annotation]], ["who", [delft()]])])
    loaded = load("timeqa", file)
    (problem,) = loaded.problems
    assert (problem.where, what in problem.what) == (f"{file}:1", True), problem
    assert [case.question for case in loaded.cases] == ["who"]


def test_another_text_under_a_known_link_is_refused(load: Load, lines: Lines) -> None:
    again = article(["a", [NONE]], index="/wiki/Ann#P2")
    other = article(["b", [NONE]], index="/wiki/Ann#P3", paras=["Else ."])
    loaded = load("timeqa", lines("human_annotated_test.json", [article(["where", [delft()]]), again, other]))
    assert len(loaded.of(NodeItem)) == 3
    assert [case.question for case in loaded.cases] == ["where", "a"]
    assert "/wiki/Ann came before with other paragraphs" in loaded.problems[0].what


def test_timeqa_as_it_is(load: Load, public_data: Path) -> None:
    loaded = load("timeqa", public_data / "timeqa_human")
    assert len({node.source for node in loaded.of(NodeItem)}) == 257
    assert Counter(case.answerable for case in loaded.cases) == {True: 830, False: 159}
    assert sum(len(case.alternatives) > 1 for case in loaded.cases) == 41 + 8
    assert len(loaded.said("was asked at")) == len(loaded.problems) == 2
    texts = {(node.source, node.turn): node.text for node in loaded.of(NodeItem)}
    for case in loaded.cases:
        for gold in case.citations:
            assert texts[gold.source, gold.turn][gold.start : gold.end] == gold.quote
            assert any(one.key == gold.key for one in case.gold)


def start(year: int | None, month: int | None = None, day: int | None = None) -> dict[str, Any]:
    return {"year": year, "month": month, "date": day}


def timeline(**changes: Any) -> dict[str, Any]:
    return {"cur_answers": ["Ann", "Ann"], "cur_start": start(2017, 7, 25), "cur_start_full": "25 July 2017",
            "prev_answers": ["Bob"], "prev_start": start(2012), "prev_start_full": "2012"} | changes  # fmt: skip


def raw(*timelines: Any) -> dict[str, Any]:
    return {"question": "who rules", "id": 7, "timelines": list(timelines) or None}


def test_a_timeline_is_two_facts_the_earlier_until_the_later(load: Load, lines: Lines) -> None:
    loaded = load("situatedqa", lines("raw_temp.dev.jsonl", [raw(timeline(), timeline()), raw()]))
    assert loaded.of(EntityItem) == [EntityItem(name="who rules", type="question")]
    begin, turn = "2012-01-01T00:00:00Z", "2017-07-25T00:00:00Z"
    common = {"subject": "who rules", "relation": "answered_by"}
    assert loaded.of(FactItem) == [
        FactItem(**common, object="Ann", description="from 25 July 2017", valid_at=turn),
        FactItem(
            **common,
            object="Bob",
            description="from 2012 until 25 July 2017",
            valid_at=begin,
            invalid_at=turn,
        ),
    ]
    assert [(p.what.split(" of ")[0], p.action) for p in loaded.problems] == [
        ("timeline 1", "kept once"),
        ("1 questions have no timeline; there is no fact", "kept"),
    ]


@pytest.mark.parametrize(
    ("changes", "kept", "what"),
    [
        ({"prev_start": start(2018)}, ["Ann"], "the earlier answer starts at 2018"),
        ({"prev_start": start(2017, 7, 25)}, ["Ann"], "the earlier is left out"),
        ({"cur_start": None}, [], "the later answer has no start"),
        ({"cur_start": start(None)}, [], "the later answer has no start"),
        ({"prev_start": None}, ["Ann"], "the earlier answer has no start"),
        ({"prev_answers": None, "prev_start": None}, ["Ann"], "1 timelines have no earlier answer"),
        ({"cur_start": start(2017, 13)}, [], "month must be in 1..12"),
        ({"cur_start": start(10**30)}, [], "OverflowError"),
    ],
)
def test_a_timeline_without_order_is_said(
    load: Load, lines: Lines, changes: dict[str, Any], kept: list[str], what: str
) -> None:
    loaded = load("situatedqa", lines("raw_temp.dev.jsonl", [raw(timeline(**changes))]))
    assert [fact.object for fact in loaded.of(FactItem)] == kept
    assert len(loaded.said(what)) == 1, loaded.problems


def asked(date: str, answers: list[str], *anywhere: str) -> dict[str, Any]:
    return {"question": "who rules", "id": 7, "edited_question": f"who rules as of {date}", "date": date,
            "date_type": "start", "answer": answers, "any_answer": list(anywhere)}  # fmt: skip


def test_questions_as_of_a_time_know_their_stale_answers(load: Load, lines: Lines) -> None:
    rows = [
        asked("2019", ["Ann", "Ann"], "Bob", "Ann"),
        asked("March 06, 2014", ["Bob"], "Bob"),
        asked("2019", ["Eve"], "Eve"),
        asked("soon", ["Ann"], "Ann"),
    ]
    file = lines("temp.dev.jsonl", rows)
    loaded = load("situatedqa", file)
    year, day = loaded.cases
    assert (year.case_id, year.as_of, year.answers, year.stale_answers) == (
        "7@2019", "2019-12-31T00:00:00Z", ("Ann",), ("Bob",),
    )  # fmt: skip
    assert (day.as_of, day.stale_answers, day.split) == ("2014-03-06T00:00:00Z", (), "dev")
    assert [problem.where for problem in loaded.problems] == [f"{file}:3", f"{file}:4", f"{file}:1"]
    assert "was asked at" in loaded.problems[0].what
    assert "with the answer ['Ann']" in loaded.problems[0].what


def test_questions_are_judged_on_the_facts_of_their_time(load: Load, lines: Lines) -> None:
    rows = [asked("2019", ["Ann"], "Bob"), asked("2014", ["Bob"], "Ann"), asked("2011", ["Ann"])]
    other = asked("2018", ["Eve"]) | {"question": "who sings", "id": 8}
    folder = lines("raw_temp.dev.jsonl", [raw(timeline()), raw() | {"question": "who sings"}]).parent
    lines("temp.dev.jsonl", [*rows, other])
    late, early, wrong, unknown = load("situatedqa", folder).cases
    assert late.gold == (Gold(fact=("who rules", "answered_by", "Ann")),)
    assert early.gold == (Gold(fact=("who rules", "answered_by", "Bob")),)
    assert (wrong.gold, wrong.answerable) == ((), True)  # no fact says so: nothing to judge it by
    assert (unknown.gold, unknown.answerable, unknown.why_unanswerable) == ((), False, "no-timeline")


def test_situatedqa_as_it_is(load: Load, public_data: Path) -> None:
    loaded = load("situatedqa", public_data / "situatedqa")
    assert loaded.suffixes == ["/temp", "/geo"]
    counts = Counter((("geo" if "location" in case.tags else "temp"), case.split) for case in loaded.cases)
    repeated = len(loaded.said("was asked at"))
    assert counts.pop(("geo", "dev")) + counts.pop(("geo", "test")) == 1398 + 506
    assert sum(counts.values()) + repeated == 3423 + 2795
    assert repeated == 22
    assert [int(p.what.split()[0]) for p in loaded.said("have no timeline")] == [647, 400]
    assert [int(p.what.split()[0]) for p in loaded.said("stands there twice")] == [846, 594, 1]
    assert len(loaded.said("stands there again")) == 155 + 104


def test_the_facts_of_a_time_hold_its_answer(load: Load, public_data: Path) -> None:
    """For every question that has facts, one of those true then is a right answer."""
    loaded = load("situatedqa", public_data / "situatedqa")
    facts = defaultdict(list)
    for fact in loaded.of(FactItem):
        facts[fact.subject].append(fact)
    dated = 0
    for case in loaded.cases:
        known = facts.get(case.question.rsplit(" as of ", 1)[0]) if case.as_of else None
        if known:
            live = {f.object for f in known if f.valid_at <= case.as_of < (f.invalid_at or "9999")}
            assert live & set(case.answers), case.case_id
            dated += 1
    assert dated == 5149
