"""The batch says of every question what the function of one question says."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.metrics import retrieval, retrieval_batch
from evals.metrics.retrieval_batch import measured

ALONE: dict[str, Callable[[list[str], dict[str, int]], float]] = {
    "ndcg@10": lambda r, j: retrieval.ndcg(r, j, 10),
    "ndcg@2": lambda r, j: retrieval.ndcg(r, j, 2),
    "recall@5": lambda r, j: retrieval.recall(r, j, 5),
    "recall_all@5": lambda r, j: retrieval.recall_all(r, j, 5),
    "precision@3": lambda r, j: retrieval.precision(r, j, 3),
    "precision@100": lambda r, j: retrieval.precision(r, j, 100),
    "mrr": retrieval.reciprocal_rank,
    "mrr@2": lambda r, j: retrieval.reciprocal_rank(r, j, 2),
    "map": retrieval.average_precision,
    "hit@1": lambda r, j: retrieval.hit(r, j, 1),
    "hit@4": lambda r, j: retrieval.hit(r, j, 4),
}
QUESTION = st.tuples(
    st.lists(st.sampled_from("abcdefgh"), unique=True),
    st.dictionaries(st.sampled_from("abcdefghij"), st.integers(-1, 3)),
)


def same(questions: list[tuple[list[str], dict[str, int]]]) -> None:
    figures = measured([r for r, _ in questions], [j for _, j in questions], list(ALONE))
    for name, metric in ALONE.items():
        alone = np.array([metric(ranking, judged) for ranking, judged in questions])
        np.testing.assert_allclose(figures[name], alone, rtol=0, atol=1e-12, equal_nan=True, err_msg=name)


@given(st.lists(QUESTION, max_size=8))
def test_equals_the_functions_of_one_question(questions: list[tuple[list[str], dict[str, int]]]) -> None:
    same(questions)


def test_equals_them_over_more_than_one_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrieval_batch, "ROWS", 7)
    draw = random.Random(3)
    keys = [f"d{n}" for n in range(40)]
    same([(draw.sample(keys, draw.randint(0, 40)), {key: draw.randint(0, 2) for key in draw.sample(keys, 5)})
          for _ in range(50)])  # fmt: skip


def test_no_question_is_no_figure() -> None:
    assert measured([], [], ["map"])["map"].shape == (0,)


@pytest.mark.parametrize("name", ["ndcg", "ndcg@0", "map@3", "recall@-1", "bpref", "hit"])
def test_an_unknown_metric_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"no retrieval metric '{name}'; there are ndcg@k"):
        measured([["a"]], [{"a": 1}], [name])


def test_judgements_belong_to_rankings() -> None:
    with pytest.raises(ValueError, match="2 rankings and 1 sets of judgements"):
        measured([["a"], ["b"]], [{"a": 1}], ["map"])
