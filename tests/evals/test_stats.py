"""Bootstrap intervals: against scipy's, against theory, and clustered."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import bootstrap

from evals.stats import KEPT, Estimate, estimate, mean

VALUES = [float(n % 7 == 0) for n in range(200)]
APART = [str(n) for n in range(200)]


def test_interval_agrees_with_scipy() -> None:
    ours = mean(VALUES, APART, seed=3)
    theirs = bootstrap(
        (np.array(VALUES),), np.mean, n_resamples=5000, method="percentile", rng=np.random.default_rng(1)
    ).confidence_interval
    assert ours.value == pytest.approx(29 / 200)
    assert ours.low == pytest.approx(theirs.low, abs=0.012)
    assert ours.high == pytest.approx(theirs.high, abs=0.012)


def test_interval_of_another_statistic_agrees_with_scipy() -> None:
    drawn = np.random.default_rng(5).gamma(2.0, size=150)
    ours = estimate(lambda places: float(np.median(drawn[places])), [str(n) for n in range(150)], seed=1)
    theirs = bootstrap(
        (drawn,), np.median, n_resamples=5000, method="percentile", rng=np.random.default_rng(2)
    ).confidence_interval
    assert (ours.low, ours.high) == (
        pytest.approx(theirs.low, abs=0.06),
        pytest.approx(theirs.high, abs=0.06),
    )


def test_the_interval_holds_the_truth_about_95_times_in_100() -> None:
    """Samples of 40 from a known distribution, and 12 clusters of 5 whose members are alike."""
    random = np.random.default_rng(11)
    held = {"apart": 0, "clustered": 0, "clusters ignored": 0}
    for trial in range(100):
        alone = (random.random(40) < 0.4).astype(float)
        alike = np.repeat(random.normal(size=12), 5) + random.normal(scale=0.3, size=60)
        of = [str(n // 5) for n in range(60)]
        for name, truth, figure in (
            ("apart", 0.4, mean(alone.tolist(), APART[:40], seed=trial)),
            ("clustered", 0.0, mean(alike.tolist(), of, seed=trial)),
            ("clusters ignored", 0.0, mean(alike.tolist(), APART[:60], seed=trial)),
        ):
            assert figure.low is not None
            assert figure.high is not None
            held[name] += figure.low <= truth <= figure.high
    assert held["apart"] >= 88
    assert (
        held["clustered"] >= 82
    )  # a dozen clusters are few: the percentile interval is then somewhat narrow
    assert held["clusters ignored"] < 75


def test_equal_seeds_agree_and_others_differ() -> None:
    assert mean(VALUES, APART, seed=3) == mean(VALUES, APART, seed=3)
    assert mean(VALUES, APART, seed=3) != mean(VALUES, APART, seed=4)


def test_clusters_widen_the_interval() -> None:
    """20 documents of 10 equal values hold 20 observations and not 200: √10 times the width."""
    values = [float(n // 10 % 2) for n in range(200)]
    together = mean(values, [str(n // 10) for n in range(200)])
    apart = mean(values, APART)
    assert together.low is not None
    assert together.high is not None
    assert apart.low is not None
    assert apart.high is not None
    ratio = (together.high - together.low) / (apart.high - apart.low)
    assert ratio == pytest.approx(math.sqrt(10), rel=0.2)


def test_missing_values_are_counted_and_are_no_zeros() -> None:
    figure = mean([1.0, math.nan, 1.0, math.nan, math.nan], ["a", "b", "c", "d", "e"])
    assert figure == Estimate(value=1.0, low=1.0, high=1.0, n=2, missing=3)


@pytest.mark.parametrize("values", [[], [math.nan], [math.nan, math.nan]])
def test_nothing_judged_has_no_value(values: list[float]) -> None:
    assert mean(values, ["a"] * len(values)) == Estimate(
        value=None, low=None, high=None, n=0, missing=len(values)
    )


def test_one_document_has_no_interval() -> None:
    assert mean([0.0, 1.0], ["d1", "d1"]) == Estimate(value=0.5, low=None, high=None, n=2)


def test_a_statistic_without_a_value_keeps_its_count() -> None:
    assert estimate(lambda places: math.nan, ["a", "b"], missing=4) == Estimate(
        value=None, low=None, high=None, n=2, missing=4
    )


def test_whole_clusters_are_drawn() -> None:
    sizes = {"a": 1, "b": 2, "c": 4}
    clusters = [name for name, size in sizes.items() for _ in range(size)]
    drawn: list[tuple[int, ...]] = []
    estimate(lambda places: float(drawn.append(tuple(np.bincount(places, minlength=7))) or 0), clusters)
    assert len(drawn) == 1001
    for a, b1, b2, *c in drawn:
        assert b1 == b2
        assert len(set(c)) == 1
        assert a + b1 + c[0] == 3


@pytest.mark.parametrize("count", [40, 2 * KEPT])
def test_a_mean_is_the_estimate_of_the_mean(count: int) -> None:
    """From sums by cluster and from the cases themselves, on the same draws, kept or not."""
    values = np.random.default_rng(7).random(count)
    clusters = [str(n // 2 if n < count // 2 else n) for n in range(count)]
    summed, taken = (
        mean(values.tolist(), clusters, seed=4),
        estimate(lambda places: float(values[places].mean()), clusters, seed=4),
    )
    for name in ("value", "low", "high"):
        assert getattr(summed, name) == pytest.approx(getattr(taken, name), abs=1e-12)
