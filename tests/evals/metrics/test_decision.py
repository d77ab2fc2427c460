"""Decision figures against scikit-learn and by hand; and that no headline can be had by a constant decision."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, f1_score, precision_score, recall_score

from evals.metrics import decision
from evals.metrics.abstention import Flags

DECIDED = st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=1)
"""Answerable, abstained, and whether answering would be right."""
BOTH = DECIDED.filter(lambda cases: len({answerable for answerable, *_ in cases}) == 2)


def columns(cases: list[tuple[bool, bool, bool]]) -> tuple[Flags, Flags, Flags]:
    """Answerable, abstained, correct."""
    answerable, abstained, right = np.array(cases, dtype=bool).T
    return answerable, abstained, np.where(answerable, right & ~abstained, abstained)


def test_by_hand() -> None:
    answerable = np.array([1, 1, 1, 1, 0, 0, 0], dtype=bool)
    abstained = np.array([0, 0, 0, 1, 1, 1, 0], dtype=bool)
    correct = np.array([1, 1, 0, 0, 1, 1, 0], dtype=bool)
    assert decision.abstention_precision(answerable, abstained) == pytest.approx(2 / 3)
    assert decision.abstention_recall(answerable, abstained) == pytest.approx(2 / 3)
    assert decision.abstention_f1(answerable, abstained) == pytest.approx(2 / 3)
    assert decision.false_answer_rate(answerable, abstained) == pytest.approx(1 / 3)
    assert decision.over_refusal_rate(answerable, abstained) == pytest.approx(1 / 4)
    assert decision.balanced_accuracy(answerable, abstained) == pytest.approx((3 / 4 + 2 / 3) / 2)
    assert decision.decision_f1(answerable, abstained) == pytest.approx((2 / 3 + 3 / 4) / 2)
    assert decision.balanced_correct(answerable, correct) == pytest.approx((2 / 4 + 2 / 3) / 2)
    assert decision.g_mean(answerable, correct) == pytest.approx(math.sqrt(2 / 4 * 2 / 3))
    # answerable: two right, one wrong, one held back; unanswerable: one answered
    assert decision.reliability(answerable, abstained, correct) == pytest.approx((1 / 4 - 1 / 3) / 2)


@given(BOTH)
@pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.UndefinedMetricWarning"
)  # the oracle's way of saying NaN
def test_equals_scikit_learn(cases: list[tuple[bool, bool, bool]]) -> None:
    answerable, abstained, _ = columns(cases)
    due = ~answerable
    figures = {
        decision.abstention_precision: precision_score(due, abstained, zero_division=np.nan),
        decision.abstention_recall: recall_score(due, abstained, zero_division=np.nan),
        decision.abstention_f1: f1_score(due, abstained),
        decision.decision_f1: f1_score(due, abstained, average="macro"),
        decision.balanced_accuracy: balanced_accuracy_score(due, abstained),
    }
    for ours, theirs in figures.items():
        assert ours(answerable, abstained) == pytest.approx(theirs, nan_ok=True), ours.__name__


@given(BOTH)
def test_rates_are_complements(cases: list[tuple[bool, bool, bool]]) -> None:
    answerable, abstained, _ = columns(cases)
    false_answers = decision.false_answer_rate(answerable, abstained)
    refusals = decision.over_refusal_rate(answerable, abstained)
    assert false_answers == pytest.approx(1 - decision.abstention_recall(answerable, abstained))
    assert refusals == pytest.approx(decision.false_answer_rate(~answerable, ~abstained))
    assert decision.balanced_accuracy(answerable, abstained) == pytest.approx(
        1 - (false_answers + refusals) / 2
    )


@pytest.mark.parametrize(
    "figure",
    [
        decision.abstention_precision,
        decision.abstention_recall,
        decision.abstention_f1,
        decision.false_answer_rate,
        decision.balanced_accuracy,
        decision.decision_f1,
    ],
)
def test_without_anything_to_judge_there_is_no_number(figure: Callable[[Flags, Flags], float]) -> None:
    assert math.isnan(figure(np.array([True, True]), np.array([False, False])))
    assert math.isnan(figure(np.empty(0, bool), np.empty(0, bool)))


HEADLINES = {
    "balanced_correct": lambda answerable, abstained, correct: decision.balanced_correct(answerable, correct),
    "decision_f1": lambda answerable, abstained, correct: decision.decision_f1(answerable, abstained),
    "g_mean": lambda answerable, abstained, correct: decision.g_mean(answerable, correct),
}


def test_these_are_the_headlines() -> None:
    assert set(HEADLINES) == set(decision.HEADLINE)


@given(BOTH, st.booleans())
def test_a_constant_decision_never_has_more_than_the_stated_bound(
    cases: list[tuple[bool, bool, bool]], constant: bool
) -> None:
    """Whatever the mix of the set, and however right all answers are."""
    figures = columns([(answerable, constant, right) for answerable, _, right in cases])
    assert HEADLINES["balanced_correct"](*figures) <= 1 / 2
    assert HEADLINES["decision_f1"](*figures) <= 1 / 2
    assert HEADLINES["g_mean"](*figures) == 0
    assert decision.reliability(*figures) <= 0


@given(BOTH)
def test_a_perfect_decision_has_the_best_of_each(cases: list[tuple[bool, bool, bool]]) -> None:
    figures = columns([(answerable, not answerable, True) for answerable, *_ in cases])
    assert [HEADLINES[name](*figures) for name in decision.HEADLINE] == [1, 1, 1]
    assert decision.reliability(*figures) == 1 / 2


@pytest.mark.parametrize(("answerable_count", "unanswerable_count"), [(300, 300), (550, 50), (50, 550)])
def test_a_tuned_floor_beats_both_extremes_on_every_headline(
    answerable_count: int, unanswerable_count: int
) -> None:
    """Scores as of CLAPnq's near misses (AUROC about 0.88), 3 in 4 answers right; also where one kind is rare."""
    random = np.random.default_rng(1)
    answerable = np.repeat([True, False], [answerable_count, unanswerable_count])
    confidence = random.normal(np.where(answerable, 1.66, 0), 1)
    right = answerable & (random.random(len(answerable)) < 0.75)

    def score(name: str, cut: float) -> float:
        abstained = confidence < cut
        correct = np.where(answerable, right & ~abstained, abstained)
        return HEADLINES[name](answerable, abstained, correct)

    cut = float(np.quantile(confidence[answerable], 0.2))
    for name in decision.HEADLINE:
        extremes = [score(name, np.inf), score(name, -np.inf)]
        assert score(name, cut) > max(extremes) + 0.1, name
