"""Retrieval metrics: hand-computed tables, trec_eval's own figures as the oracle, and what must always hold."""

from __future__ import annotations

import math
import random

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import AP, RR, P, R, Success, nDCG

from evals.metrics import retrieval

LOG3, LOG4 = math.log2(3), math.log2(4)


@pytest.mark.parametrize(
    ("ranking", "judged", "expected"),
    [
        # first: found at 1 and 3 of 2 relevant → (1 + 1/2) / (1 + 1/log2 3)
        (["a", "x", "b"], {"a": 1, "b": 1}, (1 + 1 / LOG4) / (1 + 1 / LOG3)),
        # graded, linear gain: 1 at rank 1, 3 at rank 2; ideal 3 then 1
        (["a", "b"], {"a": 1, "b": 3}, (1 + 3 / LOG3) / (3 + 1 / LOG3)),
        # a relevant document that is not in the ranking still counts in the ideal
        (["a"], {"a": 1, "b": 1}, 1 / (1 + 1 / LOG3)),
        (["x", "y"], {"a": 1}, 0.0),
        ([], {"a": 1}, 0.0),
        (["a", "x"], {"a": 1, "x": 0}, 1.0),
    ],
)
def test_ndcg_by_hand(ranking: list[str], judged: dict[str, int], expected: float) -> None:
    assert retrieval.ndcg(ranking, judged, 10) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        (lambda r, j: retrieval.recall(r, j, 2), 1 / 3),
        (lambda r, j: retrieval.recall(r, j, 4), 2 / 3),
        (lambda r, j: retrieval.precision(r, j, 2), 1 / 2),
        (lambda r, j: retrieval.precision(r, j, 10), 2 / 10),
        (retrieval.reciprocal_rank, 1 / 2),
        (lambda r, j: retrieval.reciprocal_rank(r, j, 2), 1 / 2),
        (lambda r, j: retrieval.reciprocal_rank(r, j, 1), 0.0),
        (lambda r, j: retrieval.recall_all(r, j, 4), 0.0),  # c is nowhere
        (lambda r, j: retrieval.recall_all(r, {"a": 2, "b": 1, "y": 0}, 4), 1.0),
        (lambda r, j: retrieval.recall_all(r, {"a": 2, "b": 1}, 3), 0.0),
        (retrieval.average_precision, (1 / 2 + 2 / 4) / 3),
        (lambda r, j: retrieval.hit(r, j, 1), 0.0),
        (lambda r, j: retrieval.hit(r, j, 2), 1.0),
    ],
)
def test_others_by_hand(metric: object, expected: float) -> None:
    ranking, judged = ["x", "a", "y", "b"], {"a": 2, "b": 1, "c": 1, "y": 0}
    assert metric(ranking, judged) == pytest.approx(expected, abs=1e-12)  # type: ignore[operator]


@pytest.mark.parametrize("judged", [{}, {"a": 0}])
def test_nothing_relevant_is_no_number(judged: dict[str, int]) -> None:
    figures = [
        retrieval.ndcg(["a"], judged, 10),
        retrieval.recall(["a"], judged, 10),
        retrieval.recall_all(["a"], judged, 10),
        retrieval.precision(["a"], judged, 10),
        retrieval.reciprocal_rank(["a"], judged),
        retrieval.average_precision(["a"], judged),
        retrieval.hit(["a"], judged, 1),
    ]
    assert all(math.isnan(figure) for figure in figures)


ORACLE = {
    nDCG @ 10: lambda r, j: retrieval.ndcg(r, j, 10),
    nDCG @ 3: lambda r, j: retrieval.ndcg(r, j, 3),
    R @ 5: lambda r, j: retrieval.recall(r, j, 5),
    P @ 10: lambda r, j: retrieval.precision(r, j, 10),
    RR: retrieval.reciprocal_rank,
    RR @ 2: lambda r, j: retrieval.reciprocal_rank(r, j, 2),
    AP: retrieval.average_precision,
    Success @ 1: lambda r, j: retrieval.hit(r, j, 1),
    Success @ 4: lambda r, j: retrieval.hit(r, j, 4),
}


@pytest.mark.parametrize("seed", range(100))
def test_equals_trec_eval_on_random_runs(seed: int) -> None:
    """Graded and negative judgements, judged documents that were not found, found ones that were not judged, ties."""
    draw = random.Random(seed)
    documents = [f"d{n}" for n in range(draw.randint(1, 30))]
    judged = {
        d: draw.choice([-1, 0, 0, 1, 2, 3]) for d in draw.sample(documents, draw.randint(1, len(documents)))
    }
    judged["elsewhere"] = draw.randint(1, 3)
    scores = {
        d: float(draw.randint(0, draw.choice([3, 1000])))
        for d in draw.sample(documents, draw.randint(1, len(documents)))
    }
    theirs_first = sorted(
        scores, key=lambda key: (scores[key], key), reverse=True
    )  # how trec_eval breaks ties
    of_ties = ir_measures.calc_aggregate(list(ORACLE), {"q": judged}, {"q": scores})
    ours_first = retrieval.ranked(scores)
    untied = {"q": {key: float(-rank) for rank, key in enumerate(ours_first)}}
    of_ours = ir_measures.calc_aggregate(list(ORACLE), {"q": judged}, untied)
    for measure, metric in ORACLE.items():
        if measure != RR @ 2:  # not trec_eval's, and another program's order of ties
            assert metric(theirs_first, judged) == pytest.approx(of_ties[measure], abs=1e-9), measure
        assert metric(ours_first, judged) == pytest.approx(of_ours[measure], abs=1e-9), measure


def test_ties_are_broken_by_key() -> None:
    assert retrieval.ranked({"b": 1.0, "c": 2.0, "a": 1.0}) == ["c", "a", "b"]
    with pytest.raises(ValueError, match="the score of 'b' is NaN"):
        retrieval.ranked({"a": 1.0, "b": math.nan})


@given(
    st.lists(st.sampled_from("abcdefgh"), unique=True),
    st.dictionaries(st.sampled_from("abcdefghij"), st.integers(0, 3)).filter(
        lambda judged: any(judged.values())
    ),
)
def test_ranges_and_equivalences(ranking: list[str], judged: dict[str, int]) -> None:
    relevant = [key for key, gain in judged.items() if gain]
    ideal = sorted(judged, key=lambda key: -judged[key])
    assert 0 <= retrieval.ndcg(ranking, judged, 10) <= 1
    assert retrieval.ndcg(ideal, judged, 10) == pytest.approx(1)
    assert retrieval.average_precision(ideal, judged) == pytest.approx(1)
    assert retrieval.recall(ranking, judged, 5) <= retrieval.recall(ranking, judged, 10)
    assert retrieval.recall([*ranking, *(key for key in relevant if key not in ranking)], judged, 99) == 1
    assert retrieval.recall_all(ranking, judged, 5) == float(retrieval.recall(ranking, judged, 5) == 1)
    assert retrieval.hit(ranking, judged, 5) == float(retrieval.recall(ranking, judged, 5) > 0)
    assert retrieval.reciprocal_rank(ranking, judged, len(ranking)) == retrieval.reciprocal_rank(
        ranking, judged
    )
    assert retrieval.hit(ranking, judged, 1) == float(retrieval.reciprocal_rank(ranking, judged) == 1)
    assert retrieval.precision(ranking, judged, 10) * 10 == pytest.approx(
        retrieval.recall(ranking, judged, 10) * len(relevant)
    )
