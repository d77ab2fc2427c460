"""Bounds of a run's own figure: never more certain than the cases allow."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

from evals.absolute import bounds
from evals.aggregates import FIGURES

MakeRow = Callable[..., dict[str, Any]]
TAILS = (0.05, 0.05)


def unanswerable(make_row: MakeRow, answered: int, of: int, *, size: int = 1) -> list[dict[str, Any]]:
    return [
        make_row(f"c{n}", cluster=f"d{n // size:03}", answerable=False, abstained=n >= answered)
        for n in range(of)
    ]


@pytest.mark.parametrize(("answered", "of"), [(1, 21), (3, 40), (20, 40), (39, 40)])
def test_a_rate_of_single_cases_has_the_exact_binomial_bounds(
    make_row: MakeRow, answered: int, of: int
) -> None:
    found = bounds(FIGURES["false_answer_rate"], unanswerable(make_row, answered, of), TAILS)
    exact = binomtest(answered, of).proportion_ci(0.9, "exact")
    assert found.value == answered / of
    assert (found.low, found.high) == (
        pytest.approx(exact.low, abs=0.012),
        pytest.approx(exact.high, abs=0.012),
    )


@pytest.mark.parametrize(("answered", "of"), [(0, 21), (21, 21)])
def test_what_was_never_seen_is_bounded_by_how_many_were_asked(
    make_row: MakeRow, answered: int, of: int
) -> None:
    """The rule of three: none of 21 may still be one in eight."""
    found = bounds(FIGURES["false_answer_rate"], unanswerable(make_row, answered, of), TAILS)
    exact = binomtest(answered, of).proportion_ci(0.9, "exact")
    assert (found.low, found.high) == (pytest.approx(exact.low), pytest.approx(exact.high))
    needed = found.needed(abs(answered / of - 0.1), 0.05)
    assert needed == 29
    for enough, cases in ((True, 29), (False, 28)):
        again = bounds(FIGURES["false_answer_rate"], unanswerable(make_row, 0, cases), TAILS)
        assert (again.high <= 0.1) is enough


def test_cases_of_one_document_are_worth_fewer(make_row: MakeRow) -> None:
    """Forty cases on ten documents that agree within are ten cases."""
    rate = FIGURES["false_answer_rate"]
    clustered = bounds(rate, unanswerable(make_row, 4, 40, size=4), TAILS)
    exact = binomtest(1, 10).proportion_ci(0.9, "exact")
    assert clustered.high == pytest.approx(exact.high, abs=0.03)
    never = bounds(rate, unanswerable(make_row, 0, 40, size=4), TAILS)
    assert never.high == pytest.approx(binomtest(0, 10).proportion_ci(0.9, "exact").high)


def test_figures_between_are_bootstrapped(make_row: MakeRow) -> None:
    values = np.random.default_rng(2).beta(2, 2, 200)
    rows = [make_row(f"c{n}", mrr=value) for n, value in enumerate(values.tolist())]
    found = bounds(FIGURES["mrr"], rows, TAILS)
    error = values.std() / math.sqrt(200)
    assert found.standard_error == pytest.approx(error, rel=0.03)
    assert found.low == pytest.approx(values.mean() - 1.645 * error, abs=0.003)
    assert found.high == pytest.approx(values.mean() + 1.645 * error, abs=0.003)
    wide, narrow = bounds(FIGURES["mrr"], rows, (0.005, 0.05)), bounds(FIGURES["mrr"], rows, (0.05, 0.05))
    assert (wide.low, wide.high > narrow.high) == (narrow.low, True)


def test_equal_values_are_bounded_within_0_and_1_only(make_row: MakeRow) -> None:
    halves = bounds(FIGURES["mrr"], [make_row(f"c{n}", mrr=0.5) for n in range(20)], TAILS)
    reach = 1 - 0.05 ** (1 / 20)
    assert (halves.low, halves.high) == (pytest.approx(0.5 - 0.5 * reach), pytest.approx(0.5 + 0.5 * reach))
    tens = bounds(FIGURES["mrr"], [make_row(f"c{n}", mrr=10.0) for n in range(20)], TAILS)
    assert (tens.low, tens.high) == (-math.inf, math.inf)


def test_one_document_or_no_case(make_row: MakeRow) -> None:
    one = [make_row("a", mrr=0.2, cluster="d"), make_row("b", mrr=0.6, cluster="d")]
    found = bounds(FIGURES["mrr"], one, TAILS)
    assert (found.value, found.n, found.clusters) == (0.4, 2, 1)
    assert found.low < 0.03
    assert found.high > 0.96
    none = bounds(FIGURES["mrr"], [make_row("a", mrr=None)], TAILS)
    assert math.isnan(none.value)
    assert (none.low, none.high, none.needed(0.5, 0.05)) == (-math.inf, math.inf, None)


def test_a_curve_has_bounds_too(make_row: MakeRow) -> None:
    random = np.random.default_rng(0)
    rows = [
        make_row(f"c{n}", answerable=n % 2 == 0, confidence=float(random.normal(n % 2 == 0)))
        for n in range(80)
    ]
    found = bounds(FIGURES["auroc"], rows, TAILS)
    assert 0.5 < found.low < found.value < found.high < 1
