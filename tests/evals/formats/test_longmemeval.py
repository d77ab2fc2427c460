"""LongMemEval: a history a question, marked turns as gold, abstention by the id."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.ingest.items import NodeItem
from evals.cases import Gold

Load = Callable[[str, Path], Any]
Lines = Callable[[str, list[Any]], Path]


def question(name: str = "q1", **changes: Any) -> dict[str, Any]:
    return {
        "question_id": name, "question_type": "multi-session", "question": "who came?", "answer": 3,
        "question_date": "2023/05/30 (Tue) 23:40", "answer_session_ids": ["answer_1", "answer_2"],
        "haystack_session_ids": ["answer_1", "other", "answer_2"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 03:00", "2023/05/22 (Mon) 04:00"],
        "haystack_sessions": [
            [{"role": "user", "content": "Hi."}, {"role": "user", "content": "Ann came.", "has_answer": True}],
            [{"role": "assistant", "content": "Well."}],
            [{"role": "user", "content": "Bob too.", "has_answer": False}],
        ],
    } | changes  # fmt: skip


def test_each_question_has_a_history_of_its_own(load: Load, lines: Lines) -> None:
    loaded = load("longmemeval", lines("longmemeval_s.json", [question(), question("q2_abs")]))
    assert loaded.suffixes == ["/q1", "/q2_abs"]
    first = loaded.of(NodeItem)[1]
    assert (first.text, first.source, first.turn, first.session, first.position) == (
        "user: Ann came.", "answer_1", "t1", "answer_1", 1,
    )  # fmt: skip
    assert (first.speaker, first.valid_at, first.level) == ("user", "2023-05-20T02:21:00Z", "L0")
    asked, absent = loaded.cases
    assert asked.gold == (Gold(source="answer_1", turn="t1"), Gold(source="answer_2"))
    assert (asked.answers, asked.as_of, asked.tags) == (
        ("3",),
        "2023-05-30T23:40:00Z",
        {"type": "multi-session"},
    )
    assert (absent.answerable, absent.answers, absent.gold) == (False, (), ())
    assert (absent.why_unanswerable, absent.hides) == ("not-in-history", ("answer_1", "answer_2"))
    assert loaded.problems == []


@pytest.mark.parametrize(
    ("changes", "what", "taken"),
    [
        (
            {"answer_session_ids": ["answer_1", "gone"]},
            "the evidence session 'gone' is not in its history",
            True,
        ),
        (
            {"haystack_session_ids": ["answer_1", "other", "other"]},
            "'other' stands in its history again",
            True,
        ),
        ({"haystack_sessions": [[{"role": "user", "content": ""}], [], []]}, "turn 0 of 'answer_1'", True),
        ({"haystack_dates": ["2023/05/20 (Sat) 02:21"]}, "not a question of LongMemEval: ValueError", False),
        ({"question_date": "yesterday"}, "time data 'yesterday' does not match", False),
        ({"answer": None}, "answer must be a name or a whole number, got None", False),
    ],
)
def test_what_is_wrong_is_said(load: Load, lines: Lines, changes: Any, what: str, taken: bool) -> None:
    file = lines("longmemeval_s.json", [question(**changes), question("q2")])
    loaded = load("longmemeval", file)
    assert any(problem.where == f"{file}:1" and what in problem.what for problem in loaded.problems), (
        loaded.problems
    )
    assert [case.case_id for case in loaded.cases] == (["q1", "q2"] if taken else ["q2"])


def test_a_question_that_stands_there_again_is_left_out(load: Load, lines: Lines) -> None:
    loaded = load("longmemeval", lines("longmemeval_s.json", [question(), question()]))
    assert len(loaded.cases) == 1
    assert "question q1 stands here again" in loaded.problems[0].what
