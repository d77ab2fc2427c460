"""Grounding of a model's answer: sentence by sentence, by hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from core.trace import Answer, AnswerSentence, Evidence
from evals.metrics import grounding
from evals.metrics.grounding import SentenceSupport, sentence_supports

Make = Callable[..., Evidence]


def answer(text: str, *cited: Sequence[str], evidence: tuple[Evidence, ...]) -> Answer:
    """``text`` holds sentences divided by ``|``, ``cited`` what each cites."""
    sentences, start = [], 0
    for part, ids in zip(text.split("|"), cited, strict=True):
        sentences.append(AnswerSentence(start=start, end=start + len(part), citations=tuple(ids)))
        start += len(part) + 1
    return Answer(text=text, abstained=False, evidence=evidence, sentences=tuple(sentences), writer="m")


def test_each_sentence_meets_only_what_it_cites(make_evidence: Make) -> None:
    one, two = make_evidence("d1", "Sails are red."), make_evidence("d2", "Mills are old.")
    asked = []

    def noting(sentence: str, texts: Sequence[str]) -> float:
        asked.append((sentence, list(texts)))
        return 0.25

    said = answer(
        "Sails are red [mem:id of d1 None].|Mills are old [mem:x, y] [mem:z].|So it is.",
        [one.candidate_id], [two.candidate_id, "gone", one.candidate_id], [], evidence=(one, two),
    )  # fmt: skip
    found = sentence_supports(said, noting)
    assert asked == [
        ("Sails are red.", ["Sails are red."]),
        ("Mills are old.", ["Mills are old.", "Sails are red."]),
        ("So it is.", []),
    ]
    assert [(one.text, one.citations, one.support) for one in found] == [
        ("Sails are red.", 1, 0.25), ("Mills are old.", 2, 0.25), ("So it is.", 0, 0.25),
    ]  # fmt: skip


def test_an_answer_that_cites_as_a_whole_is_held_against_all(make_evidence: Make) -> None:
    evidence = (make_evidence("d1", "Sails are red."), make_evidence("d2", "Mills are old."))
    said = Answer(text="Mills are old. Sails are red.", abstained=False, evidence=evidence, writer="m")
    assert [one.support for one in sentence_supports(said)] == [1, 1]


def test_what_no_model_wrote_has_no_sentences(make_evidence: Make) -> None:
    evidence = (make_evidence("d1", "Sails are red."),)
    said = Answer(text="Sails are red.", abstained=False, evidence=evidence)
    assert sentence_supports(said) == []
    assert sentence_supports(replace(said, writer="m", abstained=True)) == []
    assert math.isnan(grounding.mean_support([]))
    assert math.isnan(grounding.unsupported_sentence_rate([]))
    assert math.isnan(grounding.invalid_citation_rate(said))


def of(*supports: float) -> list[SentenceSupport]:
    return [SentenceSupport(text="", citations=1, support=support) for support in supports]


def test_rates_by_hand() -> None:
    found = of(1, 0.5, 0.25, math.nan)
    assert grounding.mean_support(found) == pytest.approx(1.75 / 3)
    assert grounding.unsupported_sentence_rate(found) == pytest.approx(1 / 3)
    assert grounding.unsupported_sentence_rate(found, cut=0.6) == pytest.approx(2 / 3)
    assert math.isnan(grounding.mean_support(of(math.nan)))


def test_invalid_citations_by_hand(make_evidence: Make) -> None:
    said = answer("a", [], evidence=(make_evidence("d1"), make_evidence("d2")))
    assert grounding.invalid_citation_rate(said) == 0
    assert grounding.invalid_citation_rate(replace(said, invalid_citations=("n7",))) == pytest.approx(1 / 3)
    refused = Answer(text="", abstained=True, reason="not_supported", writer="m", invalid_citations=("n7",))
    assert grounding.invalid_citation_rate(refused) == 1
    assert math.isnan(grounding.invalid_citation_rate(replace(said, evidence=())))


def test_a_reader_is_told_where_and_when(make_evidence: Make) -> None:
    item = replace(make_evidence("d1", "We moved."), title="Chat", speaker="Ines", valid_at="2024-03-01")
    assert grounding.told(item) == "Chat\nInes\n2024-03-01\nWe moved."
    assert grounding.told(replace(item, shown="summary", summary="A move.")).endswith("\nA move.")
    said = Answer(text="Ines moved in March 2024.", abstained=False, evidence=(item,), writer="m")
    (found,) = sentence_supports(said)
    assert found.support > 0.8
