"""From a Trace to a row: which keys are ranked, and what a case's figures are."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from core.records import Fact
from core.trace import Answer, AnswerSentence, Evidence, Trace
from evals import scoring
from evals.cases import Case, Gold
from evals.scoring import DEPTH, PER_CASE, ranking_keys, scored, summarised

ABSTAINED = Answer(text="", abstained=True, reason="no_evidence")
MakeTrace = Callable[..., Trace]
MakeEvidence = Callable[..., Evidence]


def test_ten_hits_of_equal_score_and_a_question_with_a_documents_id(make_trace: MakeTrace) -> None:
    case = Case(case_id="0", question="q", gold=tuple(Gold(source=str(n)) for n in range(10)))
    row = scored(case, "main", make_trace([(str(n), None) for n in range(10)], ABSTAINED))
    assert {name: row[name] for name in ("ndcg@10", "map", "recall@10", "precision@10", "mrr", "hit@1")} == {
        "ndcg@10": 1.0, "map": 1.0, "recall@10": 1.0, "precision@10": 1.0, "mrr": 1.0, "hit@1": 1.0,
    }  # fmt: skip
    assert row["ranking"] == [str(n) for n in range(10)]


@pytest.mark.parametrize(
    ("gold", "keys"),
    [
        ((Gold(source="log", turn="t2"),), ["log#t1", "report#chunk-0", "log#t2", "report#chunk-1", "notes"]),
        ((Gold(source="report"),), ["log", "report", "notes"]),
        # gold of both kinds: each candidate counts at the level it was judged at
        (
            (Gold(source="log", turn="t2"), Gold(source="report")),
            ["log#t1", "report", "log#t2", "notes"],
        ),
        # of one source as a whole and of one of its turns
        (
            (Gold(source="log", turn="t2"), Gold(source="log")),
            ["log", "report#chunk-0", "log#t2", "report#chunk-1", "notes"],
        ),
        ((), ["log", "report", "notes"]),
    ],
)
def test_keys_are_those_that_were_judged(
    make_trace: MakeTrace, gold: tuple[Gold, ...], keys: list[str]
) -> None:
    ranked = [("log", "t1"), ("report", "chunk-0"), ("log", "t2"), ("report", "chunk-1"), ("notes", None)]
    assert ranking_keys(make_trace(ranked, ABSTAINED), gold) == keys


def test_rankings_are_judged_a_hundred_deep(make_trace: MakeTrace) -> None:
    trace = make_trace([(f"d{n}", None) for n in range(150)], ABSTAINED)
    case = Case(case_id="c", question="q", gold=(Gold(source=f"d{DEPTH}"), Gold(source=f"d{DEPTH - 1}")))
    assert len(ranking_keys(trace, case.gold)) == DEPTH == 100
    assert scored(case, "main", trace)["map"] == pytest.approx(1 / 100 / 2)


def test_a_dropped_gold_label_is_noticed(make_trace: MakeTrace) -> None:
    case = Case(case_id="c", question="q", gold=(Gold(source="d0"), Gold(source="d9")))
    trace = make_trace([("d0", None), ("d1", None)], ABSTAINED)
    assert scored(case, "main", trace)["recall@10"] == 0.5
    assert scored(replace(case, gold=case.gold[:1]), "main", trace)["recall@10"] == 1.0


def test_facts_are_ranked_by_what_they_say_where_facts_are_gold(make_trace: MakeTrace) -> None:
    trace = make_trace([("d1", None), ("", None), ("d2", None)], ABSTAINED)
    kiel = Fact(
        fact_id=1,
        source_id=1,
        target_id=2,
        source="Ann",
        target="Kiel",
        relation="lives in",
        created_at="2024",
    )
    facts = {trace.ranking[1]: kiel, trace.ranking[2]: replace(kiel, target="Rome")}
    told = tuple(
        replace(one, kind="fact", fact=facts[one.candidate_id]) if one.candidate_id in facts else one
        for one in trace.candidates
    )
    trace = replace(trace, candidates=told)
    gold = (Gold(fact=("Ann", "lives in", "Kiel")),)
    assert ranking_keys(trace, gold) == ["d1", "Ann --lives in--> Kiel", "Ann --lives in--> Rome"]
    assert scored(Case(case_id="c", question="q", gold=gold), "main", trace)["mrr"] == 0.5
    assert ranking_keys(trace, (Gold(source="d2"),)) == ["d1", "d2"]


def test_a_row_says_what_was_decided(make_trace: MakeTrace, make_evidence: MakeEvidence) -> None:
    cited = make_evidence("d1")
    answer = Answer(text="a", abstained=False, evidence=(cited,), closest=(cited,), confidence=0.5)
    case = Case(
        case_id="c", question="q", gold=(Gold(source="d1"),), split="dev", tags={"kind": "direct"}, as_of="2024"
    )  # fmt: skip
    row = scored(case, "main", make_trace([("d2", None), ("d1", None)], answer))
    told = (
        "case_id",
        "dataset",
        "split",
        "tags",
        "answerable",
        "abstained",
        "reason",
        "confidence",
        "correct",
    )
    assert [row[name] for name in told] == [
        "c", "main", "dev", {"kind": "direct"}, True, False, None, 0.5, True,
    ]  # fmt: skip
    assert row["mrr"] == 0.5
    assert row["citations"] == [cited.candidate_id]
    assert row["citation_precision"] == 1.0
    assert json.loads(json.dumps(row, allow_nan=False)) == row


def test_without_gold_there_are_nulls_and_no_zeros(make_trace: MakeTrace) -> None:
    row = scored(
        Case(case_id="c", question="q", answerable=None), "main", make_trace([("d1", None)], ABSTAINED)
    )
    names = (*PER_CASE, "correct", "would_be_right")
    assert {name: row[name] for name in names} == dict.fromkeys(names)


def row_of(
    number: int, *, answerable: bool | None, confidence: float | None, abstained: bool, right: bool | None
) -> dict[str, object]:
    """A row as ``scored`` makes it; ``right``: answering would be."""
    correct = None if right is None else (right and not abstained if answerable else abstained)
    return {
        "cluster": str(number), "answerable": answerable, "confidence": confidence, "abstained": abstained,
        "correct": correct, "would_be_right": right, **dict.fromkeys(PER_CASE),
    }  # fmt: skip


def test_decision_figures_by_hand() -> None:
    rows = [
        row_of(0, answerable=True, confidence=0.9, abstained=False, right=True),
        row_of(1, answerable=True, confidence=0.8, abstained=False, right=False),
        row_of(2, answerable=True, confidence=0.3, abstained=True, right=True),
        row_of(3, answerable=False, confidence=0.5, abstained=False, right=False),
        row_of(4, answerable=False, confidence=None, abstained=True, right=False),
        row_of(5, answerable=None, confidence=0.7, abstained=False, right=None),
        row_of(6, answerable=True, confidence=0.1, abstained=False, right=None),  # no gold to judge by
    ]
    figures = summarised(rows, seed=0)
    told = {name: (figure.value, figure.n, figure.missing) for name, figure in figures.items()}
    assert told["answered_answerable"] == (3 / 4, 4, 0)
    assert told["answered_unanswerable"] == (1 / 2, 2, 0)
    assert told["coverage"] == (pytest.approx(5 / 7), 7, 0)
    assert told["correct"] == (pytest.approx(2 / 5), 5, 2)
    assert told["selective_risk"] == (pytest.approx(2 / 3), 3, 2)
    # 0.9, 0.8, 0.3, 0.1 against 0.5 and nothing: 4 of 4 above nothing, 2 of 4 above 0.5
    assert told["auroc"] == (pytest.approx(6 / 8), 6, 1)
    # by confidence: right, wrong, wrong (0.5), right (0.3), wrong (nothing)
    assert told["aurc"] == (pytest.approx((0 + 1 / 2 + 2 / 3 + 2 / 4 + 3 / 5) / 5), 5, 2)
    assert told["ndcg@10"] == (None, 0, 7)


def test_cases_of_one_document_form_a_cluster(make_trace: MakeTrace) -> None:
    trace = make_trace([("d1", None)], ABSTAINED)
    on = Case(case_id="a", question="q", gold=(Gold(source="d1"),))
    hidden = Case(case_id="b", question="q", answerable=False, hides=("d1",))
    alone = Case(case_id="e", question="q", answerable=False)
    clusters = [scored(case, "main", trace)["cluster"] for case in (on, hidden, alone)]
    assert clusters[0] == clusters[1] != clusters[2]
    assert scored(on, "other", trace)["cluster"] != clusters[0]


WROTE = Answer(text="It opened in 1999 [mem:c0].", abstained=False, writer="claude-x")
DATED = Case(case_id="c", question="q", answers=("1999", "in 1999"))


@pytest.mark.parametrize(
    ("case", "answer", "expected"),
    [
        (DATED, WROTE, {"exact_match": 0, "token_f1": 2 * 2 / (4 + 2), "contains_gold": 1}),
        (DATED, replace(WROTE, text="In 1999 [mem:c0]!"), {"exact_match": 1, "token_f1": 1, "rouge_l": 1}),
        # a model that abstains says nothing
        (
            DATED,
            replace(WROTE, abstained=True, reason="model_declined"),
            {"exact_match": 0, "contains_gold": 0},
        ),
        (
            replace(DATED, answers=(), answerable=False),
            WROTE,
            {"exact_match": 0, "token_f1": 0, "rouge_l": None},
        ),
        (replace(DATED, answers=(), answerable=False), replace(WROTE, abstained=True), {"exact_match": 1}),
        # nothing to hold it against
        (replace(DATED, answers=()), WROTE, {"exact_match": None, "token_f1": None, "rouge_l": None}),
        (replace(DATED, answerable=None), WROTE, {"exact_match": None, "contains_gold": None}),
        # quotes are no text of a model
        (
            DATED,
            replace(WROTE, writer="deterministic"),
            {"exact_match": None, "rouge_l": None, "support": None},
        ),
    ],
)
def test_text_is_judged_where_a_model_wrote_it(
    make_trace: MakeTrace, case: Case, answer: Answer, expected: dict[str, float | None]
) -> None:
    row = scored(case, "main", make_trace([], answer))
    assert {name: row[name] for name in expected} == pytest.approx(expected)


def test_sentences_are_held_against_what_they_cite(
    make_trace: MakeTrace, make_evidence: MakeEvidence
) -> None:
    first, second = make_evidence("d1", "The mill opened in 1999."), make_evidence("d2", "Sails are red.")
    text = "The mill opened in 1999 [mem:id of d1 None]. The mill opened in 1999 [mem:id of d2 None]. It burnt down."
    spans = [(0, 45), (46, 91), (92, 106)]
    cited = [(first.candidate_id,), (second.candidate_id,), ()]
    answer = Answer(
        text=text, abstained=False, evidence=(first, second), writer="claude-x", invalid_citations=("n9",),
        sentences=tuple(AnswerSentence(start=start, end=end, citations=ids)
                        for (start, end), ids in zip(spans, cited, strict=True)),
    )  # fmt: skip
    row = scored(DATED, "main", make_trace([], answer))
    assert row["unsupported_sentence_rate"] == pytest.approx(2 / 3)
    assert 1 / 3 < row["support"] < 1 / 3 + 0.1  # word for word, hardly, and nothing cited
    assert row["invalid_citation_rate"] == pytest.approx(1 / 3)


def test_a_metric_that_breaks_takes_nothing_else_down(
    make_trace: MakeTrace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(judged: scoring.Judged) -> float:
        raise ZeroDivisionError("no\ncase")

    case = Case(case_id="c", question="q", gold=(Gold(source="d1"),))
    trace = make_trace([("d1", None)], ABSTAINED)
    sound = scored(case, "main", trace)
    table = {
        **PER_CASE,
        "map": broken,
        "mrr": lambda judged: float("inf"),
        "hit@1": lambda judged: float("nan"),
    }
    monkeypatch.setattr(scoring, "PER_CASE", table)
    row = scored(case, "main", trace)
    assert row["metric_errors"] == {"map": "ZeroDivisionError: no case", "mrr": "the figure is inf"}
    assert [row["map"], row["mrr"], row["hit@1"]] == [None, None, None]
    assert {name: row[name] for name in row if name not in ("map", "mrr", "hit@1", "metric_errors")} == {
        name: sound[name] for name in sound if name not in ("map", "mrr", "hit@1", "metric_errors")
    }
    figures = summarised([row, sound], seed=0)
    assert (figures["map"].value, figures["map"].n, figures["map"].missing) == (1.0, 1, 1)
    (error,) = scoring.detailed([row, sound], seed=0).metric_errors["map"]
    assert error == {"case_id": "c", "dataset": "main", "message": "ZeroDivisionError: no case"}


def test_a_ranking_that_names_what_was_never_considered_breaks_retrieval_only(make_trace: MakeTrace) -> None:
    trace = replace(make_trace([("d1", None)], ABSTAINED), ranking=("c0", "gone"))
    row = scored(Case(case_id="c", question="q", gold=(Gold(source="d1"),)), "main", trace)
    assert set(row["metric_errors"]) == {*scoring.RETRIEVAL, "ranking"}
    assert row["metric_errors"]["map"] == "KeyError: 'gone'"
    assert (row["map"], row["ranking"], row["correct"]) == (None, [], False)


def test_an_outdated_answer_counts_whoever_wrote_it(make_trace: MakeTrace) -> None:
    case = replace(DATED, stale_answers=("1987", "1999"))
    for text, expected in (
        ("It opened in 1987 [mem:c0].", 1),
        ("In 1999, not 1987.", 0),
        ("Nobody knows.", 0),
    ):
        for writer in ("deterministic", "claude-x"):
            answer = Answer(text=text, abstained=False, writer=writer)
            assert scored(case, "main", make_trace([], answer))["stale"] == expected
    assert scored(case, "main", make_trace([], ABSTAINED))["stale"] is None
    assert scored(DATED, "main", make_trace([], WROTE))["stale"] is None
