"""The graph's reply: one JSON object or none."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.answer.by_model import graph_answer
from core.answer.graph_reply import parse
from core.models.chat import ChatError, ChatReply
from core.trace import Answer, Evidence

SENT = {"fact:1": ("fact:1", "entity:1", "entity:2"), "entity:1": ("entity:1",), "entity:2": ("entity:2",)}
LISTED = Answer(text="list", abstained=False)


def evidence_of(ids: list[str]) -> tuple[Evidence, ...]:
    return tuple(
        Evidence(candidate_id=each, kind="fact", citation="", text="", quote="", start=0, end=0, source="")
        for each in ids
    )


def answered(reply: str) -> Answer:
    return graph_answer(LISTED, ChatReply(text=reply, model="m"), SENT, evidence_of)


DECIDED = {'edges":[1.0]': [1], '{"answer":"first"': None}
"""Where the cases leave the decision: integral floats and digit strings are ids; two answers are refused."""


def test_every_shared_case(shared_cases: Path) -> None:
    cases = json.loads((shared_cases / "graph_replies.json").read_text(encoding="utf-8"))
    assert len(cases) >= 9
    for case in cases:
        edges = case.get("edges")
        good = case["ok"]
        if isinstance(good, str):
            edges = next(value for mark, value in DECIDED.items() if mark in case["reply"])
            good = edges is not None
        if not good:
            with pytest.raises(ChatError) as caught:
                answered(case["reply"])
            assert caught.value.outcome in ("unparsable", "empty")
            continue
        answer = answered(case["reply"])
        assert [
            int(item.candidate_id[5:]) for item in answer.evidence if item.candidate_id.startswith("fact")
        ] == edges
        assert answer.abstained == (edges == [])


def test_ids_are_checked_ordered_and_bring_their_endpoints() -> None:
    answer = answered('{"answer": "At Acme.", "entities": [2, 7], "edges": [1, 1, 9], "passages": [4]}')
    assert [item.candidate_id for item in answer.evidence] == ["fact:1", "entity:1", "entity:2"]
    assert answer.invalid_citations == ("fact:9", "chunk:4", "entity:7")
    assert (answer.text, answer.writer) == ("At Acme.", "m")


def test_an_answer_that_rests_on_nothing_is_no_answer() -> None:
    answer = answered('{"answer": "The memory does not say.", "entities": [], "edges": [], "passages": []}')
    assert (answer.abstained, answer.reason, answer.draft) == (
        True,
        "not_supported",
        "The memory does not say.",
    )


@pytest.mark.parametrize(
    "reply",
    [
        '{"answer": "x", "edges": [true]}',
        '{"answer": "x", "edges": [1.5]}',
        '{"answer": "x", "edges": ["one"]}',
        '{"answer": "x", "edges": ["-1"]}',
        '{"answer": "x", "edges": {"1": 1}}',
        '{"answer": "x", "edges": "1"}',
        '{"answer": null}',
        '{"answer": "x", "answer": "y"}',
        '{"edges": [1]}',
        '[{"answer": 1}]',
        "[" * 100_000,
        "{" * 100_000,
        '{"a":' * 5_000,
        "no json",
    ],
)
def test_refuses_the_whole_of_what_is_half_right(reply: str) -> None:
    with pytest.raises(ChatError, match="cannot be used") as caught:
        parse(reply)
    assert caught.value.outcome == "unparsable"


@given(st.text(max_size=80) | st.text(alphabet='{}[]"answer:,1 \\', max_size=60))
def test_any_text_is_parsed_or_refused(reply: str) -> None:
    with contextlib.suppress(ChatError):  # anything else is a crash
        assert parse(reply).answer.strip()
