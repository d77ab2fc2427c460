"""When a citation counts as gold, and what is correct, by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest

from core.records import Fact
from core.trace import Answer, Evidence
from evals.cases import Case, Gold
from evals.metrics import citation

Make = Callable[..., Evidence]
TEXT = "0123456789abcdefghij"  # 20 characters, each at the place it names


@pytest.mark.parametrize(
    ("gold", "span", "expected"),
    [
        (Gold(source="d1"), (0, 5), True),
        (Gold(source="d2"), (0, 5), False),
        (Gold(source="d1", start=0, end=10), (0, 10), True),
        (Gold(source="d1", start=0, end=10), (5, 15), True),  # shares 5 of 10
        (Gold(source="d1", start=0, end=10), (6, 16), False),  # shares 4 of 10
        (Gold(source="d1", start=0, end=20), (18, 20), True),  # the shorter one lies within
        (Gold(source="d1", start=4, end=6), (0, 20), True),
        (Gold(source="d1", start=0, end=4), (3, 7), False),  # shares 1 of 4
        (Gold(source="d1", start=0, end=4), (10, 14), False),
        (Gold(source="d1", start=0, end=4), (4, 8), False),  # touch only
    ],
)
def test_a_span_counts_from_half_of_the_shorter(
    make_evidence: Make, gold: Gold, span: tuple[int, int], expected: bool
) -> None:
    assert citation.cites(make_evidence("d1", TEXT, span), gold) is expected


def test_a_gold_fact_is_cited_by_the_fact_that_says_it(make_evidence: Make) -> None:
    fact = Fact(
        fact_id=1,
        source_id=1,
        target_id=2,
        source="Ann",
        target="Kiel",
        relation="lives in",
        created_at="2024",
    )
    said = replace(make_evidence("d1"), kind="fact", fact=fact)
    gold = Gold(fact=("Ann", "lives in", "Kiel"))
    assert citation.cites(said, gold)
    assert citation.cites(replace(said, source=""), gold)
    assert not citation.cites(said, Gold(fact=("Ann", "lives in", "Rome")))
    assert not citation.cites(make_evidence("d1"), gold)  # the text it comes from says more than it
    assert citation.cites(said, Gold(source="d1"))


def test_an_empty_quote_cites_no_span(make_evidence: Make) -> None:
    assert not citation.cites(make_evidence("d1", TEXT, (3, 3)), Gold(source="d1", start=0, end=10))


@pytest.mark.parametrize(
    ("gold_turn", "turn", "expected"),
    [("t1", "t1", True), ("t1", "t2", False), ("t1", None, False), (None, "t2", True)],
)
def test_a_turn_is_asked_for_where_gold_names_one(
    make_evidence: Make, gold_turn: str | None, turn: str | None, expected: bool
) -> None:
    assert citation.cites(make_evidence("log", turn=turn), Gold(source="log", turn=gold_turn)) is expected


def test_words_are_found_in_a_chunk_whose_offsets_are_not_its_documents(make_evidence: Make) -> None:
    gold = Gold(source="d1", start=110, end=114, quote="cdef")
    assert citation.cites(make_evidence("d1", TEXT, (12, 16)), gold)
    assert not citation.cites(make_evidence("d1", TEXT, (0, 4)), gold)
    assert not citation.cites(make_evidence("d1", "another chunk altogether", (0, 7)), gold)


def test_the_labelled_one_of_two_equal_sentences_counts(make_evidence: Make) -> None:
    gold = Gold(source="d1", start=5, end=8, quote="Yes.")
    text = "Yes. Yes."
    assert citation.cites(make_evidence("d1", text, (5, 9)), gold)
    assert not citation.cites(make_evidence("d1", text, (0, 4)), gold)


SENTENCES = (Gold(source="d1", start=0, end=10), Gold(source="d1", start=10, end=20))
ANSWERABLE = Case(case_id="c", question="q", gold=(Gold(source="d1"),), citations=SENTENCES)
UNANSWERABLE = Case(case_id="c", question="q", gold=(Gold(source="d1"),), answerable=False)


def answered(*evidence: Evidence) -> Answer:
    return Answer(text="", abstained=False, evidence=evidence, closest=evidence)


def abstained(*closest: Evidence) -> Answer:
    return Answer(text="", abstained=True, reason="below_floor", closest=closest)


def test_correct_is_judged_at_the_finest_level(make_evidence: Make) -> None:
    whole_document_only = replace(ANSWERABLE, citations=())
    right, elsewhere = make_evidence("d1", TEXT, (0, 10)), make_evidence("d1", TEXT * 2, (25, 35))
    assert citation.correct(ANSWERABLE, answered(right)) is True
    assert citation.correct(ANSWERABLE, answered(elsewhere, right)) is True
    assert citation.correct(ANSWERABLE, answered(elsewhere)) is False
    assert citation.correct(whole_document_only, answered(elsewhere)) is True


@pytest.mark.parametrize(
    ("case", "of_answering", "of_abstaining", "would_be"),
    [
        (ANSWERABLE, True, False, True),
        (UNANSWERABLE, False, True, False),
        (replace(ANSWERABLE, answerable=None), None, None, None),
        (replace(ANSWERABLE, gold=(), citations=()), None, None, None),
        (replace(ANSWERABLE, gold=(Gold(source="d1", relevance=0),), citations=()), None, None, None),
        (replace(UNANSWERABLE, gold=()), False, True, False),
    ],
)
def test_what_is_right(
    make_evidence: Make,
    case: Case,
    of_answering: bool | None,
    of_abstaining: bool | None,
    would_be: bool | None,
) -> None:
    gold = make_evidence("d1", TEXT, (0, 10))
    assert citation.correct(case, answered(gold)) is of_answering
    assert citation.correct(case, abstained(gold)) is of_abstaining
    assert citation.would_be_right(case, answered(gold)) is would_be
    assert citation.would_be_right(case, abstained(gold)) is would_be


def test_an_abstention_is_judged_by_what_it_held_back(make_evidence: Make) -> None:
    assert citation.would_be_right(ANSWERABLE, abstained(make_evidence("d9"))) is False
    assert citation.would_be_right(ANSWERABLE, abstained()) is False


def test_precision_and_recall_of_citations(make_evidence: Make) -> None:
    first, stranger = make_evidence("d1", TEXT, (0, 10)), make_evidence("d9")
    assert citation.citation_precision(ANSWERABLE, answered(first, stranger, stranger)) == pytest.approx(
        1 / 3
    )
    assert citation.citation_recall(ANSWERABLE, answered(first, stranger)) == 1 / 2
    both = answered(first, make_evidence("d1", TEXT, (10, 20)))
    assert (citation.citation_precision(ANSWERABLE, both), citation.citation_recall(ANSWERABLE, both)) == (
        1,
        1,
    )
    assert citation.citation_recall(ANSWERABLE, answered(stranger)) == 0


@pytest.mark.parametrize("figure", [citation.citation_precision, citation.citation_recall])
def test_no_number_where_no_citation_can_be_judged(
    make_evidence: Make, figure: Callable[[Case, Answer], float]
) -> None:
    gold = make_evidence("d1", TEXT, (0, 10))
    assert math.isnan(figure(ANSWERABLE, abstained(gold)))
    assert math.isnan(figure(UNANSWERABLE, answered(gold)))
    assert math.isnan(figure(replace(ANSWERABLE, gold=(), citations=()), answered(gold)))


@pytest.mark.parametrize(
    ("precision", "recall", "expected"),
    [(1, 1, 1), (0.5, 1, 2 / 3), (0, 1, 0), (0, 0, 0), (math.nan, 1, math.nan)],
)
def test_citation_f1_by_hand(precision: float, recall: float, expected: float) -> None:
    assert citation.citation_f1(precision, recall) == pytest.approx(expected, nan_ok=True)


def test_a_listed_entity_is_no_citation(make_evidence: Make) -> None:
    gold, name = make_evidence("d1", TEXT, (0, 10)), replace(make_evidence(""), kind="entity")
    assert citation.citation_precision(ANSWERABLE, answered(gold, name, name)) == 1
    assert math.isnan(citation.citation_precision(ANSWERABLE, answered(name)))
    assert citation.correct(ANSWERABLE, answered(name)) is False


@pytest.mark.parametrize(
    ("alternatives", "recall"),
    [((), 1 / 3), (((0, 1), (2,)), 1 / 2), (((0,), (1, 2)), 1), (((1,), (1, 2)), 0)],
)
def test_the_best_matching_alternative_counts(
    make_evidence: Make, alternatives: tuple[tuple[int, ...], ...], recall: float
) -> None:
    three = (*SENTENCES, Gold(source="d2"))
    case = replace(ANSWERABLE, citations=three, alternatives=alternatives)
    said = answered(make_evidence("d1", TEXT, (0, 10)), make_evidence("d9"))
    assert citation.citation_recall(case, said) == pytest.approx(recall)
    assert citation.citation_precision(case, said) == 1 / 2  # any alternative's evidence is gold
