"""Promises: p-values against scipy and by hand, the order of testing, how many cases it takes, and the level."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from core.errors import UsageError
from evals.tuning.promise import (
    Promise,
    binomial_p,
    cases_needed,
    clopper_pearson,
    in_order,
    naive_scan,
    parse_promise,
)

FIVE = Promise(figure="false_answer_rate", limit=0.05, confidence=0.95, at_most=True)
DRAWS = 500
ALLOWED = 0.05 + 2 * math.sqrt(0.05 * 0.95 / DRAWS)
"""The level and two standard errors of a share of 500 draws: 0.0695."""


@pytest.mark.parametrize(
    ("errors", "counted", "limit", "p"),
    [
        (0, 1, 0.05, 0.95),
        (0, 2, 0.5, 0.25),
        (1, 2, 0.5, 0.75),
        (0, 59, 0.05, 0.95**59),
        (1, 10, 0.1, 0.9**10 + 10 * 0.1 * 0.9**9),
        (3, 3, 0.2, 1.0),
        (0, 0, 0.05, 1.0),
    ],
)
def test_p_values_by_hand(errors: int, counted: int, limit: float, p: float) -> None:
    assert binomial_p(np.array([errors]), np.array([counted]), limit)[0] == pytest.approx(p, abs=1e-12)


@settings(deadline=None)
@given(st.integers(1, 2000), st.floats(0.001, 0.999), st.data())
def test_p_values_are_those_of_scipys_exact_test(counted: int, limit: float, data: st.DataObject) -> None:
    errors = data.draw(st.integers(0, counted))
    oracle = stats.binomtest(errors, counted, limit, alternative="less").pvalue
    assert binomial_p(np.array([errors]), np.array([counted]), limit)[0] == pytest.approx(oracle, abs=1e-9)


@settings(deadline=None)
@given(st.integers(0, 300), st.data(), st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_intervals_are_those_of_scipy(counted: int, data: st.DataObject, level: float) -> None:
    errors = data.draw(st.integers(0, counted))
    low, high = clopper_pearson(errors, counted, level=level)
    if counted == 0:
        assert (low, high) == (0, 1)
        return
    oracle = stats.binomtest(errors, counted).proportion_ci(level, method="exact")
    assert (low, high) == pytest.approx((oracle.low, oracle.high), abs=1e-9)


def test_testing_stops_at_the_first_that_is_not_rejected() -> None:
    tested = in_order(FIVE, [0, 1, 9, 0, 0], [100, 100, 100, 100, 100])
    assert (tested.kept, tested.chosen) == (2, 1)  # what comes after the third is clean, and does not count
    assert tested.p_values[:2] == pytest.approx([0.95**100, 0.95**100 + 100 * 0.05 * 0.95**99])
    assert naive_scan(FIVE, tested.errors, tested.counted) == 4


def test_nothing_is_promised_where_the_safest_fails() -> None:
    tested = in_order(FIVE, [0, 0], [58, 58])  # 0.95^58 = 0.051
    assert (tested.kept, tested.chosen) == (0, None)
    assert in_order(FIVE, [0], [59]).chosen == 0  # 0.95^59 = 0.0485
    assert in_order(FIVE, [], []).chosen is None


def test_a_lower_limit_is_the_risk_of_the_rest() -> None:
    promise = parse_promise("answered_answerable >= 0.9 @ 0.8")
    assert (promise.at_most, promise.risk_limit) == (False, pytest.approx(0.1))
    assert promise.text == "answered_answerable >= 0.9 @ 0.8"


@pytest.mark.parametrize(
    ("risk", "needed"),
    [(0.0, 59), (0.05, None), (0.2, None)],
)
def test_how_many_cases_it_takes(risk: float, needed: int | None) -> None:
    assert cases_needed(FIVE, risk) == needed


@settings(deadline=None)
@given(st.floats(0.0, 0.045))
def test_so_many_cases_are_enough(risk: float) -> None:
    needed = cases_needed(FIVE, risk)
    assert needed is not None
    errors = math.ceil(risk * needed - 1e-9)
    assert in_order(FIVE, [errors], [needed]).chosen == 0
    assert needed >= 59


@pytest.mark.parametrize(
    "text",
    ["", "0.05", "false_answer_rate", "false_answer_rate < 0.05", "false_answer_rate <= x @ 0.9", "a <= 0 @ 0.9",
     "a <= 1 @ 0.9", "a <= 0.1 @ 1", "a <= 0.1 @ nan", "a <= inf @ 0.9", "a <= 0.1 @", "a <= 0.1 @ 0.9 @ 0.9",
     "a <= 0.1 @ 95"],
)  # fmt: skip
def test_what_is_no_promise_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"false_answer_rate <= 0\.05|no number|between 0 and 1"):
        parse_promise(text)


def test_the_confidence_is_095_unless_said() -> None:
    assert parse_promise("false_answer_rate<=0.05").confidence == 0.95
    assert parse_promise("  false_answer_rate ≤ 5e-2@.9 ").text == "false_answer_rate <= 0.05 @ 0.9"


def exceeded(n: int, risks: np.ndarray, cuts: np.ndarray, *, seed: int) -> tuple[float, float]:
    """Share of 500 draws in which what is promised, and what a scan takes, has a true risk above 0.05.

    ``risks`` (S,) are the true risks at ``cuts`` (S,): a case has a latent uniform u and goes wrong at setting s where
    u < risks[s], so neighbouring settings err on the same cases, as the cuts on one score do.
    """
    random = np.random.default_rng(seed)
    broken = np.zeros((DRAWS, 2))
    for draw in range(DRAWS):
        errors = np.searchsorted(np.sort(random.random(n)), risks)
        counted = np.full(len(cuts), n)
        for place, chosen in enumerate(
            (in_order(FIVE, errors, counted).chosen, naive_scan(FIVE, errors, counted))
        ):
            broken[draw, place] = chosen is not None and risks[chosen] > FIVE.limit
    promised, scanned = broken.mean(axis=0)
    return float(promised), float(scanned)


@pytest.mark.parametrize("n", [60, 100, 300, 1000])
def test_the_promise_holds_and_a_scan_does_not(n: int) -> None:
    cuts = np.linspace(1, 0, 201)  # the score of what should be abstained from is Beta(2, 6): risks are known
    risks = stats.beta(2, 6).sf(cuts)
    promised, scanned = exceeded(n, risks, cuts, seed=n)
    print(f"n = {n}: the promise is broken in {promised:.3f} of {DRAWS} draws, a scan's in {scanned:.3f}")
    assert promised <= ALLOWED
    assert scanned > 2 * ALLOWED


def test_it_holds_where_the_risk_is_not_monotone() -> None:
    cuts = np.linspace(1, 0, 101)
    risks = np.clip(0.06 * (1 - cuts) + 0.03 * np.sin(40 * cuts), 0, 1)  # crosses the limit many times
    promised, scanned = exceeded(400, risks, cuts, seed=7)
    assert promised <= ALLOWED
    assert scanned > promised


def test_the_level_is_used_and_not_only_kept() -> None:
    promised, _ = exceeded(2000, np.array([0.0501]), np.array([0.5]), seed=3)
    assert 0.02 < promised <= ALLOWED  # a test that never rejects would pass every upper bound
