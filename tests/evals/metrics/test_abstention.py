"""AUROC against scikit-learn; the risk-coverage curve against a second implementation that averages over orders."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from evals.metrics.abstention import (
    aurc,
    auroc,
    coverage_at_risk,
    e_aurc,
    ordered_confidence,
    risk_at_coverage,
    risk_coverage,
    selective_risks,
)

CASES = st.lists(st.tuples(st.sampled_from([None, -0.5, 0.1, 0.2, 0.2001, 0.9]), st.booleans()), min_size=1)


def split(cases: list[tuple[float | None, bool]]) -> tuple[np.ndarray, np.ndarray]:
    return ordered_confidence([score for score, _ in cases]), np.array(
        [flag for _, flag in cases], dtype=bool
    )


@pytest.mark.parametrize(
    ("cases", "expected"),
    [
        ([(0.9, True), (0.1, False)], 1.0),
        ([(0.1, True), (0.9, False)], 0.0),
        ([(0.5, True), (0.5, False)], 0.5),
        # pairs: 0.9>0.5 yes, 0.9>None yes, 0.5=0.5 half, 0.5>None yes → 3.5 / 4
        ([(0.9, True), (0.5, True), (0.5, False), (None, False)], 3.5 / 4),
        # nothing found comes below every score, negative ones too
        ([(-0.9, True), (None, False)], 1.0),
    ],
)
def test_auroc_by_hand(cases: list[tuple[float | None, bool]], expected: float) -> None:
    assert auroc(*split(cases)) == pytest.approx(expected)


@pytest.mark.parametrize("cases", [[], [(0.3, True)], [(0.3, False), (0.4, False)]])
def test_auroc_of_one_class_is_no_number(cases: list[tuple[float | None, bool]]) -> None:
    assert math.isnan(auroc(*split(cases)))


@given(CASES.filter(lambda cases: len({flag for _, flag in cases}) == 2))
def test_auroc_equals_scikit_learn(cases: list[tuple[float | None, bool]]) -> None:
    confidence, answerable = split(cases)
    finite = np.where(np.isinf(confidence), -9.0, confidence)
    assert auroc(confidence, answerable) == pytest.approx(roc_auc_score(answerable, finite), abs=1e-12)


@pytest.mark.parametrize(
    ("cases", "risks"),
    [
        ([(0.9, False), (0.5, True), (0.1, False)], [0, 1 / 2, 1 / 3]),
        ([(0.1, False), (None, True), (0.9, False)], [0, 0, 1 / 3]),
        # a tie is answered together: each of the two adds half a mistake
        ([(0.5, True), (0.5, False)], [1 / 2, 1 / 2]),
        ([(0.9, True), (0.5, True), (0.5, False)], [1, 1.5 / 2, 2 / 3]),
    ],
)
def test_risk_coverage_by_hand(cases: list[tuple[float | None, bool]], risks: list[float]) -> None:
    assert selective_risks(*split(cases)) == pytest.approx(risks)
    assert aurc(*split(cases)) == pytest.approx(sum(risks) / len(risks))


def test_aurc_of_nothing_is_no_number() -> None:
    assert math.isnan(aurc(*split([])))


@given(st.lists(st.tuples(st.sampled_from([None, 0.1, 0.2]), st.booleans()), min_size=1, max_size=5))
def test_aurc_is_the_mean_over_all_orders_of_ties(cases: list[tuple[float | None, bool]]) -> None:
    """Counts mistakes one by one along every order that respects confidence, and averages the areas."""
    key = [-1.0 if score is None else score for score, _ in cases]
    areas = []
    for order in permutations(range(len(cases))):
        if all(key[first] >= key[second] for first, second in pairwise(order)):
            mistakes, area = 0, 0.0
            for answered, place in enumerate(order, start=1):
                mistakes += cases[place][1]
                area += mistakes / answered
            areas.append(area / len(cases))
    assert aurc(*split(cases)) == pytest.approx(sum(areas) / len(areas))


@given(CASES, st.randoms(use_true_random=False))
def test_neither_depends_on_the_order_of_the_input(
    cases: list[tuple[float | None, bool]], draw: object
) -> None:
    shuffled = list(cases)
    draw.shuffle(shuffled)  # type: ignore[attr-defined]
    assert aurc(*split(shuffled)) == pytest.approx(aurc(*split(cases)))
    assert auroc(*split(shuffled)) == pytest.approx(auroc(*split(cases)), nan_ok=True)


@given(CASES, st.sampled_from([lambda x: 7 * x + 3, np.arctan, np.exp, lambda x: x**3]))
def test_neither_depends_on_the_scale_of_confidence(
    cases: list[tuple[float | None, bool]], transform: Callable[[np.ndarray], np.ndarray]
) -> None:
    """Only the order counts: a strictly increasing transform changes nothing; turning it round turns AUROC round."""
    confidence, flags = split(cases)
    known = np.isfinite(confidence)
    moved = np.where(known, transform(np.where(known, confidence, 0.0)), -np.inf)
    assert auroc(moved, flags) == pytest.approx(auroc(confidence, flags), nan_ok=True)
    assert aurc(moved, flags) == pytest.approx(aurc(confidence, flags))
    assert auroc(-confidence, flags) == pytest.approx(1 - auroc(confidence, flags), nan_ok=True)


@given(CASES.filter(lambda cases: len({flag for _, flag in cases}) == 2))
def test_confidence_that_says_nothing_is_a_coin(cases: list[tuple[float | None, bool]]) -> None:
    """All confidence zeroed: AUROC is ½ and AURC the plain error rate."""
    confidence, flags = split(cases)
    assert auroc(np.zeros_like(confidence), flags) == pytest.approx(0.5)
    assert aurc(np.zeros_like(confidence), flags) == pytest.approx(flags.mean())


def test_what_found_nothing_comes_last() -> None:
    confidence = ordered_confidence([None, -1e300, 0.0, None])
    assert list(np.argsort(-confidence, kind="stable")) == [2, 1, 0, 3]
    assert selective_risks(confidence, np.array([True, False, False, True])).tolist() == [0, 0, 1 / 3, 1 / 2]


CURVE = [(0.9, False), (0.8, False), (0.8, True), (0.3, True), (None, True)]


def test_the_cuts_of_a_curve_by_hand() -> None:
    curve = risk_coverage(*split(CURVE))
    assert curve.cut == pytest.approx([0.9, 0.8, 0.3])
    assert curve.coverage == pytest.approx([1 / 5, 3 / 5, 4 / 5])  # what found nothing is never answered
    assert curve.risk == pytest.approx([0, 1 / 3, 1 / 2])


@pytest.mark.parametrize(
    ("risk", "coverage"), [(-0.1, 0), (0, 1 / 5), (0.33, 1 / 5), (1 / 3, 3 / 5), (0.5, 4 / 5), (1, 4 / 5)]
)
def test_coverage_at_risk_by_hand(risk: float, coverage: float) -> None:
    assert coverage_at_risk(*split(CURVE), risk) == pytest.approx(coverage)


def test_coverage_at_risk_takes_a_wide_cut_behind_a_worse_narrow_one() -> None:
    assert coverage_at_risk(*split([(0.9, True), (0.8, False), (0.7, False)]), 0.4) == 1


@pytest.mark.parametrize(("coverage", "risk"), [(0, 0), (0.2, 0), (0.21, 1 / 3), (0.6, 1 / 3), (0.8, 1 / 2)])
def test_risk_at_coverage_by_hand(coverage: float, risk: float) -> None:
    assert risk_at_coverage(*split(CURVE), coverage) == pytest.approx(risk)


def test_no_cut_reaches_what_found_nothing() -> None:
    assert math.isnan(risk_at_coverage(*split(CURVE), 0.9))
    assert risk_coverage(*split([(None, False)])).cut.shape == (0,)
    assert coverage_at_risk(*split([(None, False)]), 1) == 0
    assert math.isnan(coverage_at_risk(*split([]), 0.1))


@given(CASES)
def test_a_curve_answers_what_its_cut_answers(cases: list[tuple[float | None, bool]]) -> None:
    """Counted again by comparing with each cut."""
    confidence, wrong = split(cases)
    curve = risk_coverage(confidence, wrong)
    for cut, coverage, risk in zip(curve.cut, curve.coverage, curve.risk, strict=True):
        answered = confidence >= cut
        assert coverage == pytest.approx(answered.mean())
        assert risk == pytest.approx(wrong[answered].mean())


@pytest.mark.parametrize(
    ("cases", "expected"),
    [
        ([(0.9, False), (0.5, True)], 0),  # the best order: nothing in excess
        ([(0.9, True), (0.5, False)], (1 + 1 / 2) / 2 - (0 + 1 / 2) / 2),
        ([(0.5, True)], 0),
        ([(0.5, True), (0.5, False)], 1 / 2 - 1 / 4),
    ],
)
def test_e_aurc_by_hand(cases: list[tuple[float | None, bool]], expected: float) -> None:
    assert e_aurc(*split(cases)) == pytest.approx(expected)


def test_e_aurc_nears_the_papers_limit() -> None:
    """AURC − (r + (1 − r) ln(1 − r)) of Geifman et al. is reached as cases grow."""
    random = np.random.default_rng(0)
    confidence, wrong = random.random(40_000), random.random(40_000) < 0.3
    risk = wrong.mean()
    assert e_aurc(confidence, wrong) == pytest.approx(
        aurc(confidence, wrong) - (risk + (1 - risk) * math.log(1 - risk)), abs=1e-4
    )


@given(CASES)
def test_e_aurc_is_never_negative_and_zero_for_the_best_order(cases: list[tuple[float | None, bool]]) -> None:
    confidence, wrong = split(cases)
    assert e_aurc(confidence, wrong) >= 0
    distinct = np.arange(len(wrong)) / len(wrong) - wrong  # every right case above every wrong one, no ties
    assert e_aurc(distinct, wrong) == pytest.approx(0, abs=1e-12)
    assert math.isnan(e_aurc(np.empty(0), np.empty(0, bool)))
