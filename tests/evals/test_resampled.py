"""Figures under many weightings at once, against the same figures of cases repeated one by one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals import resampled, resampled_curves
from evals.metrics import abstention, calibration
from evals.resampled import CurveSample, RatioSample, drawn, under_both

CASES = st.lists(
    st.tuples(st.sampled_from([-np.inf, 0.1, 0.4, 0.4000001, 0.9]), st.booleans(), st.integers(0, 3)),
    min_size=1,
    max_size=12,
)


def mean_of(values: np.ndarray, codes: np.ndarray, clusters: int) -> RatioSample:
    return RatioSample.of(values[None], np.ones((1, len(values))), codes, clusters)


CURVES = (
    (resampled_curves.auroc, abstention.auroc),
    (resampled_curves.aurc, abstention.aurc),
    (resampled_curves.e_aurc, abstention.e_aurc),
    *(
        (resampled_curves.coverage_at_risk(risk), partial(abstention.coverage_at_risk, risk=risk))
        for risk in (0.0, 0.3, 1.0)
    ),
    *(
        (resampled_curves.risk_at_coverage(share), partial(abstention.risk_at_coverage, coverage=share))
        for share in (0.25, 0.8, 1.0)
    ),
)


@given(CASES)
def test_curves_equal_those_of_repeated_cases(cases: list[tuple[float, bool, int]]) -> None:
    confidence = np.array([one for one, _, _ in cases])
    for weighted, plain in CURVES:
        check(confidence, cases, weighted, plain)


@given(CASES)
def test_calibration_equals_that_of_repeated_cases(cases: list[tuple[float, bool, int]]) -> None:
    probability = np.array([max(0.0, one) for one, _, _ in cases])
    check(probability, cases, resampled_curves.calibration_error, calibration.calibration_error)


def check(
    confidence: np.ndarray,
    cases: list[tuple[float, bool, int]],
    weighted: resampled.Curve,
    plain: Callable[[np.ndarray, np.ndarray], float],
) -> None:
    flags = np.array([flag for _, flag, _ in cases])
    times = np.array([count for _, _, count in cases])
    weights = np.vstack([times, np.ones_like(times)]).astype(np.uint16)
    found = weighted(confidence, flags.astype(float), weights)
    for value, row in zip(found, weights, strict=True):
        places = np.repeat(np.arange(len(cases)), row)
        assert value == pytest.approx(plain(confidence[places], flags[places]), nan_ok=True, abs=1e-12)


def test_as_many_clusters_are_drawn_as_there_are() -> None:
    weights = drawn(7, 3)
    assert weights.shape == (resampled.DRAWS, 7)
    assert set(weights.sum(axis=1)) == {7}
    assert weights.mean(axis=0) == pytest.approx(np.ones(7), abs=0.05)
    assert weights.var(axis=0) == pytest.approx(np.full(7, 6 / 7), abs=0.06)  # of a binomial of 7 and 1/7
    assert not np.array_equal(weights, drawn(7, 4))


def test_many_clusters_are_drawn_in_blocks_and_the_same_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = drawn.__wrapped__(50, 1)
    monkeypatch.setattr(resampled, "BLOCK", 999)
    parts = drawn.__wrapped__(50, 1)
    assert parts.dtype == np.uint16
    assert np.array_equal(whole, parts)
    values, codes = np.random.default_rng(0).random(120), np.arange(120) % 50
    mean = mean_of(values, codes, 50)
    for row in (0, 9_999):
        repeated = np.concatenate(
            [np.repeat(values[codes == code], int(parts[row, code])) for code in range(50)]
        )
        assert mean.under(parts)[row] == pytest.approx(repeated.mean())


def test_where_no_case_is_left_there_is_no_mean() -> None:
    sample = mean_of(np.array([1.0, 0.0, 0.5]), np.array([0, 1, 2]), 4)
    weights = np.array([[1, 1, 1, 1], [2, 1, 0, 5], [0, 0, 0, 9]], dtype=np.uint16)
    assert sample.under(weights) == pytest.approx([0.5, 2 / 3, np.nan], nan_ok=True)


def test_a_mean_of_ratios() -> None:
    """Two parts: sums 1 and 3 over 2 and 4, then, the second cluster twice, 1 and 5 over 3 and 6."""
    sample = RatioSample.of(
        np.array([[1.0, 0.0], [1.0, 2.0]]), np.array([[1.0, 1.0], [2.0, 2.0]]), np.array([0, 1]), 2
    )
    assert sample.under(np.array([[1.0, 1.0], [1.0, 2.0]])) == pytest.approx(
        [(1 / 2 + 3 / 4) / 2, (1 / 3 + 5 / 6) / 2]
    )


def test_a_geometric_mean_of_two_ratios() -> None:
    sample = RatioSample.of(
        np.array([[1.0, 0.0], [1.0, 2.0]]),
        np.array([[1.0, 1.0], [2.0, 2.0]]),
        np.array([0, 1]),
        2,
        geometric=True,
    )
    weights = np.array([[1.0, 1.0], [1.0, 2.0]])
    expected = [(1 / 2 * 3 / 4) ** 0.5, (1 / 3 * 5 / 6) ** 0.5]
    assert sample.under(weights) == pytest.approx(expected)
    assert sample.joined(sample).under(np.hstack([weights, weights])) == pytest.approx(expected)


def test_runs_stand_side_by_side() -> None:
    first = mean_of(np.array([1.0, 0.0]), np.array([0, 1]), 2)
    second = mean_of(np.array([0.5, 0.25]), np.array([0, 1]), 2)
    weights = drawn(2, 0)
    old, new = under_both(first, second, weights)
    assert old == pytest.approx(first.under(weights))
    assert new == pytest.approx(second.under(weights))
    both = first.joined(second).under(np.array([[1, 0, 0, 1]], dtype=np.uint16))
    assert both == pytest.approx([0.625])


def test_curves_of_two_runs_join_with_their_clusters_apart() -> None:
    def of(confidence: list[float], flags: list[float]) -> CurveSample:
        return CurveSample(
            confidence=np.array(confidence), flags=np.array(flags), codes=np.array([0, 1]), clusters=2,
            curve=resampled_curves.auroc,
        )  # fmt: skip

    both = of([0.9, 0.1], [1, 0]).joined(of([0.2, 0.8], [1, 0]))
    weights = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 1]], dtype=np.uint16)
    assert both.under(weights).tolist() == [1.0, 0.0, 1.0]
