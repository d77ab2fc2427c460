"""Calibration against scikit-learn, by hand, and what must not change it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss

from evals.metrics.calibration import Binning, brier, calibration_error, is_probability

SAID = st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.3, 0.35, 0.5, 0.95, 1.0]), st.booleans()), min_size=1)


def split(cases: list[tuple[float, bool]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([said for said, _ in cases]), np.array([happened for _, happened in cases])


@pytest.mark.parametrize(
    ("space", "expected"),
    [("probability/gate", True), ("cosine/minilm-l6-int8", False), ("probability", False), (None, False)],
)
def test_only_a_probability_is_one(space: str | None, expected: bool) -> None:
    assert is_probability(space) is expected


@given(SAID)
def test_brier_equals_scikit_learn(cases: list[tuple[float, bool]]) -> None:
    said, happened = split(cases)
    assert brier(said, happened) == pytest.approx(brier_score_loss(happened, said, pos_label=True))


@given(SAID.filter(lambda cases: all(said not in (0.1, 0.3, 0.5) for said, _ in cases)))
def test_equal_width_equals_scikit_learns_reliability_curve(cases: list[tuple[float, bool]]) -> None:
    """Off the edges of bins, where the two put a value on different sides."""
    said, happened = split(cases)
    shares, means = calibration_curve(happened, said, n_bins=10)
    counts = np.histogram(said, bins=10, range=(0, 1))[0]
    expected = (np.abs(shares - means) * counts[counts > 0]).sum() / len(said)
    assert calibration_error(said, happened, binning="width") == pytest.approx(expected)


@pytest.mark.parametrize(
    ("binning", "expected"),
    [
        # width, 2 bins: (0.1, 0.2, 0.4) with 1 of 3, (0.9) with 1
        ("width", (abs(1 - 0.7) + abs(1 - 0.9)) / 4),
        # mass, 2 bins: (0.1, 0.2) with 0 of 2, (0.4, 0.9) with 2 of 2
        ("mass", (abs(0 - 0.3) + abs(2 - 1.3)) / 4),
    ],
)
def test_calibration_error_by_hand(binning: Binning, expected: float) -> None:
    said, happened = split([(0.1, False), (0.9, True), (0.2, False), (0.4, True)])
    assert calibration_error(said, happened, bins=2, binning=binning) == pytest.approx(expected)


@pytest.mark.parametrize("binning", ["mass", "width"])
@given(cases=SAID, draw=st.randoms(use_true_random=False))
def test_the_order_of_cases_does_not_count(
    binning: Binning, cases: list[tuple[float, bool]], draw: object
) -> None:
    shuffled = list(cases)
    draw.shuffle(shuffled)  # type: ignore[attr-defined]
    once, again = (calibration_error(*split(each), binning=binning) for each in (cases, shuffled))
    assert once == pytest.approx(again)
    assert 0 <= once <= 1


def test_one_bin_is_the_difference_of_the_means() -> None:
    said, happened = split([(0.2, True), (0.4, True), (0.9, False)])
    for binning in ("mass", "width"):
        assert calibration_error(said, happened, bins=1, binning=binning) == pytest.approx(abs(2 / 3 - 0.5))


def test_no_case_is_no_number() -> None:
    assert math.isnan(brier(np.empty(0), np.empty(0, bool)))
    assert math.isnan(calibration_error(np.empty(0), np.empty(0, bool)))


@pytest.mark.parametrize("value", [-0.1, 1.5, math.nan])
def test_what_is_no_probability_is_refused(value: float) -> None:
    for figure in (brier, calibration_error):
        with pytest.raises(ValueError, match=r"a probability must be in \[0, 1\], got"):
            figure(np.array([0.5, value]), np.array([True, False]))
    with pytest.raises(ValueError, match="bins must be at least 1, got 0"):
        calibration_error(np.array([0.5]), np.array([True]), bins=0)
