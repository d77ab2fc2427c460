"""SQuAD: paragraphs as turns, annotators' answers as alternatives, what is impossible as unanswerable."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.errors import DataError
from core.ingest.items import NodeItem
from evals.cases import Gold

Load = Callable[[str, Path], Any]
Lines = Callable[[str, list[Any]], Path]
CONTEXT = "Ann came in May. Bob left."


def question(number: str, *answers: tuple[str, int], **changes: Any) -> dict[str, Any]:
    given = [{"text": text, "answer_start": start} for text, start in answers]
    return {"id": number, "question": f"q {number}", "answers": given, "is_impossible": not given} | changes


def body(*questions: Any, title: str = "Two_Words") -> dict[str, Any]:
    paragraphs = [{"context": "First.", "qas": []}, {"context": CONTEXT, "qas": list(questions)}]
    return {"version": "v2.0", "data": [{"title": title, "paragraphs": paragraphs}]}


def test_answers_are_stretches_and_alternatives(load: Load, lines: Lines) -> None:
    plausible = {"plausible_answers": [{"text": "Bob", "answer_start": 17}]}
    rows = body(question("1", ("Ann", 0), ("in May", 9), ("Ann", 0)), question("2", **plausible))
    loaded = load("squad", lines("dev-v2.0.json", [rows]))
    assert [(node.turn, node.source, node.title, node.position) for node in loaded.of(NodeItem)] == [
        ("p0", "Two_Words", "Two Words", 0), ("p1", "Two_Words", "Two Words", 1),
    ]  # fmt: skip
    sure, impossible = loaded.cases
    assert sure.gold == (Gold(source="Two_Words", turn="p1"),)
    assert [gold.quote for gold in sure.citations] == ["Ann", "in May"]
    assert (sure.answers, sure.alternatives, sure.split) == (("Ann", "in May"), ((0,), (1,)), "dev")
    assert (impossible.answerable, impossible.answers, impossible.gold) == (False, (), ())
    assert (impossible.why_unanswerable, impossible.hides) == ("not-in-paragraph", ("Two_Words",))
    assert loaded.problems == []


@pytest.mark.parametrize(
    ("asked", "what", "taken"),
    [
        (question("1", ("Ann", 1)), "the answer 'Ann' does not stand at 1", True),
        (question("1", ("Ann", -26)), "the answer 'Ann' does not stand at -26", True),
        (question("1", ("Ann", 0), is_impossible=True), "marked as impossible and has answers", True),
        (question("1", is_impossible=False), "no answer, and not marked as impossible", False),
        (question("1", ("Ann", True)), "answer_start must be a whole number, got True", False),
        (question("0", ("Ann", 0)), "question 0 stands here again", False),
    ],
)
def test_what_is_wrong_is_said_by_place(load: Load, lines: Lines, asked: Any, what: str, taken: bool) -> None:
    file = lines("dev-v2.0.json", [body(question("0", ("Bob", 17)), asked)])
    loaded = load("squad", file)
    (problem,) = loaded.problems
    assert problem.where == f"{file}:1:data[0].paragraphs[1].qas[1]"
    assert what in problem.what
    assert [case.case_id for case in loaded.cases] == (["0", "1"] if taken else ["0"])


def test_the_first_version_has_no_impossible_ones(load: Load, lines: Lines) -> None:
    asked = question("1", ("Ann", 0))
    del asked["is_impossible"]
    assert load("squad", lines("train-v1.1.json", [body(asked)])).cases[0].answerable is True


def test_what_is_no_squad_is_refused(load: Load, lines: Lines) -> None:
    with pytest.raises(DataError, match=r"dev-v2\.0\.json:1: expected a SQuAD object with 'data'"):
        load("squad", lines("dev-v2.0.json", [{"rows": []}]))
    with pytest.raises(DataError, match=r"dev-v2\.0\.json:3: not JSON"):
        load("squad", lines("dev-v2.0.json", ['{"data":', "[", "{"]))
