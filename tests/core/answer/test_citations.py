"""Citations of a model: strict, resolved, counted by sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.answer.by_model import cited_answer
from core.answer.citations import cited
from core.models.chat import ChatError, ChatReply
from core.trace import Answer, Evidence

SENT = {"n1": "a" * 64, "n2": "b" * 64}
A, B = SENT.values()


def evidence(node: str) -> Evidence:
    return Evidence(
        candidate_id=node,
        kind="node",
        citation=f"[mem:{node}]",
        text="t",
        quote="t",
        start=0,
        end=1,
        source="s",
    )


def listed(*nodes: str) -> Answer:
    items = tuple(map(evidence, nodes))
    return Answer(text="list", abstained=False, evidence=items, closest=items, confidence=0.7)


def test_every_shared_case(shared_cases: Path) -> None:
    cases = json.loads((shared_cases / "citations.json").read_text(encoding="utf-8"))
    assert len(cases) >= 8
    for case in cases:
        answer = listed(*case["sent"])
        if case.get("outcome") == "error: empty reply":
            with pytest.raises(ChatError, match="empty"):
                cited_answer(answer, ChatReply(text=case["reply"], model="m"))
            continue
        found = cited(case["reply"], {node: node for node in case["sent"]})
        assert (list(found.cited), list(found.invalid)) == (case["cited"], case["invalid"]), case
        assert found.text == case.get("text", found.text)
        written = cited_answer(answer, ChatReply(text=case["reply"], model="m"))
        assert written.abstained == ("outcome" in case), case
        assert written.reason == ("not_supported" if "outcome" in case else None)
        assert list(written.invalid_citations) == case["invalid"]


@pytest.mark.parametrize(
    ("reply", "text", "ids", "invalid"),
    [
        ("It is so [mem:n1].", f"It is so [mem:{A}].", [A], []),
        ("It [mem:n9] is so [mem:n1, n9].", f"It is so [mem:{A}].", [A], ["n9"]),
        ("So [mem:n1,n2].", f"So [mem:{A}, {B}].", [A, B], []),
        ("So [mem: n1].", "So.", [], [" n1"]),
        ("So [mem:].", "So.", [], [""]),
        ("So [mem:n1, but not n2].", "So.", [], ["n1, but not n2"]),
        ("So [mem:[mem:n1]].", f"So [mem:[mem:{A}]].", [A], []),
        (f"So [mem:{A}].", "So.", [], [A]),
    ],
)
def test_resolves_strictly(reply: str, text: str, ids: list[str], invalid: list[str]) -> None:
    found = cited(reply, SENT)
    assert (found.text, list(found.cited), list(found.invalid)) == (text, ids, invalid)


@pytest.mark.parametrize(
    ("reply", "supported"),
    [
        ("One [mem:n1]. Two [mem:n2].", [True, True]),
        ("One [mem:n1]. Two.", [True, False]),
        ("One. [mem:n1] Two.", [True, False]),
        ("One. [mem:n1] [mem:n2] Two [mem:n1].", [True, True]),
        ("One. Two. [mem:n1]", [False, True]),
        ("- first [mem:n1]\n- second", [True, False]),
        ("[mem:n1] One.", [True]),
    ],
)
def test_each_sentence_has_its_own_support(reply: str, supported: list[bool]) -> None:
    assert [sentence.supported for sentence in cited(reply, SENT).sentences] == supported


def test_a_sentence_without_citation_is_marked_and_the_answer_stands() -> None:
    written = cited_answer(listed(A, B), ChatReply(text="One [mem:n2]. Two.", model="m"))
    assert not written.abstained
    assert [item.candidate_id for item in written.evidence] == [B]
    assert [sentence.supported for sentence in written.sentences] == [True, False]
    assert written.writer == "m"


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (ChatReply(text="", model="m", refused=True), "model_declined"),
        (ChatReply(text=" NOT_ANSWERABLE\n", model="m"), "model_declined"),
        (ChatReply(text="I do not know.", model="m"), "not_supported"),
        (ChatReply(text="It is NOT_ANSWERABLE.", model="m"), "not_supported"),
    ],
)
def test_what_cannot_be_supported_is_an_abstention(reply: ChatReply, reason: str) -> None:
    written = cited_answer(listed(A), reply)
    assert (written.abstained, written.reason, written.evidence) == (True, reason, ())
    assert [item.candidate_id for item in written.closest] == [A]
    assert written.confidence == 0.7


@given(st.text(alphabet="ab n1[]mem:,. \n", max_size=60))
def test_nothing_is_cited_that_was_not_sent(reply: str) -> None:
    found = cited(reply, SENT)
    assert set(found.cited) <= {A, B}
    again = cited(found.text, {full: full for full in SENT.values()})
    assert again.cited == found.cited  # what is left of tags resolves, and nothing else is left
    for sentence in found.sentences:
        assert set(sentence.citations) <= set(found.cited)
        assert 0 <= sentence.start < sentence.end <= len(found.text)
