"""What is tuned for, as it is written, and what is said where nothing meets the constraints."""

from __future__ import annotations

import numpy as np
import pytest

from core.errors import UsageError
from evals.replay_figures import FIGURES
from evals.tuning.objective import better, infeasible, parse_constraint, parse_objective

SOME = {
    "ndcg@10": np.array([0.5, 1.0, np.nan]),
    "citation_f1": np.array([0.2, 0.4, 0.6]),
    "false_answer_rate": np.array([0.3, 0.1, 0.2]),
}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("citation_f1", [0.2, 0.4, 0.6]),
        ("0.5*ndcg@10+0.5*citation_f1", [0.35, 0.7, np.nan]),
        (" 2 * citation_f1 - false_answer_rate ", [0.1, 0.7, 1.0]),
        ("citation_f1-.5*false_answer_rate", [0.05, 0.35, 0.5]),
        ("false_answer_rate", [-0.3, -0.1, -0.2]),
    ],
)
def test_sums_by_hand(text: str, values: list[float]) -> None:
    assert parse_objective(text).of(SOME) == pytest.approx(np.array(values), nan_ok=True)


def test_a_figure_that_should_be_low_is_shown_as_it_is() -> None:
    objective = parse_objective("false_answer_rate")
    assert objective.shown(-0.1) == 0.1
    assert parse_objective("citation_f1").shown(0.4) == 0.4


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_can_be_tuned_for(name: str) -> None:
    assert parse_objective(name).weights == {name: -1.0 if better(name) == "down" else 1.0}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is no figure"),
        ("accuracy", "no figure 'accuracy' is replayed"),
        ("0.5*ndcg@10 0.5*citation_f1", "is no figure"),
        ("0.5*ndcg@10+", "is no figure"),
        ("ndcg@10*0.5", "is no figure"),
        ("ndcg@10+ndcg@10", "twice"),
        ("0*ndcg@10", "other than 0"),
        ("ndcg@10+false_answer_rate", "lower is better"),
        ("-ndcg@10", "higher is better"),
        ("__import__('os')", "is no figure"),
    ],
)
def test_what_is_no_objective_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        parse_objective(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("false_answer_rate", "is no condition"),
        ("false_answer_rate < 0.1", "is no condition"),
        ("nothing <= 0.1", "no figure 'nothing'"),
        ("false_answer_rate <= much", "is no number"),
        ("false_answer_rate <= 0.1 @ 0.9", "only a promise"),
    ],
)
def test_what_is_no_constraint_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        parse_constraint(text)


def test_how_far_a_constraint_is_broken() -> None:
    low, high = parse_constraint("false_answer_rate<=0.2"), parse_constraint("ndcg@10 >= 0.75")
    assert low.excess(SOME) == pytest.approx([0.1, -0.1, 0.0])
    assert high.excess(SOME) == pytest.approx([0.25, -0.25, np.inf])  # no value is not met


def test_what_is_said_where_no_setting_meets_them() -> None:
    low, high = parse_constraint("false_answer_rate <= 0.05"), parse_constraint("citation_f1 >= 0.3")
    assert infeasible([low, high], SOME) == (
        "no setting meets false_answer_rate <= 0.05: the closest has 0.100"
    )
    low, high = parse_constraint("false_answer_rate <= 0.1"), parse_constraint("citation_f1 >= 0.6")
    assert infeasible([low, high], SOME) == (
        "each is met by some setting, but none meets false_answer_rate <= 0.1 and citation_f1 >= 0.6 together: the "
        "closest has false_answer_rate = 0.200, citation_f1 = 0.600"
    )
    assert infeasible([low], SOME) is None
    assert infeasible([], SOME) is None
