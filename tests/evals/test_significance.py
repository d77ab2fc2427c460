"""Tests of a difference: against scipy's, and against tables worked by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import permutation_test

from evals.aggregates import FIGURES
from evals.paired import Paired, pair
from evals.significance import cases_needed, detectable, holm, mcnemar, permutation_p

MakeRow = Callable[..., dict[str, Any]]


@pytest.fixture
def paired_of(make_row: MakeRow) -> Callable[..., Paired]:
    """``paired_of(old, new, size=1)``: an MRR of these values, ``size`` cases on a document."""

    def make(old: list[float], new: list[float], *, size: int = 1) -> Paired:
        sides = ([make_row(f"c{n}", cluster=f"d{n // size:03}", mrr=value) for n, value in enumerate(values)]
                 for values in (old, new))  # fmt: skip
        return pair(FIGURES["mrr"], *sides)

    return make


@pytest.mark.parametrize("n", [8, 60])
def test_permutation_agrees_with_scipy(paired_of: Callable[..., Paired], n: int) -> None:
    """Exact of a few cases, drawn of many."""
    random = np.random.default_rng(n)
    old, new = random.random(n), random.random(n) + 0.1
    theirs = permutation_test(
        (old, new), lambda a, b, axis: (b - a).mean(axis=axis), permutation_type="samples", vectorized=True,
        n_resamples=20_000, rng=np.random.default_rng(2),
    )  # fmt: skip
    ours = permutation_p(paired_of(old.tolist(), new.tolist()))
    assert ours == pytest.approx(theirs.pvalue, abs=1e-12 if n == 8 else 0.02)


def test_whole_documents_change_places(paired_of: Callable[..., Paired]) -> None:
    """Three documents, all better: of 2³ exchanges two are as far from 0, those of none and of all."""
    old, new = [0.0] * 9, [0.1] * 9
    assert permutation_p(paired_of(old, new, size=3)) == 2 / 8
    assert permutation_p(paired_of(old, new)) == 2 / 2**9


def test_a_p_value_is_never_zero_and_a_rerun_is_one(paired_of: Callable[..., Paired]) -> None:
    assert permutation_p(paired_of([0.0] * 50, [1.0] * 50)) == 1 / 10_001
    assert permutation_p(paired_of([0.5, 0.1] * 25, [0.5, 0.1] * 25)) == 1.0
    assert math.isnan(permutation_p(paired_of([], [])))


def test_a_curve_is_permuted_too(make_row: MakeRow) -> None:
    """Confidence that knew nothing against confidence that knows all: two documents, so four exchanges."""
    old = [make_row(f"c{n}", cluster=f"d{n // 4}", answerable=n % 2 == 0, confidence=0.5) for n in range(8)]
    new = [{**row, "confidence": float(row["answerable"])} for row in old]
    paired = pair(FIGURES["auroc"], old, new)
    assert (paired.before, paired.after) == (0.5, 1.0)
    assert permutation_p(paired) == 0.5
    many = [[{**row, "cluster": row["case_id"]} for row in rows * 3] for rows in (old, new)]
    many = [[{**row, "case_id": f"{n}", "cluster": f"{n}"} for n, row in enumerate(rows)] for rows in many]
    assert permutation_p(pair(FIGURES["auroc"], *many)) < 0.01


@pytest.mark.parametrize(
    ("only_before", "only_after", "p"),
    [
        (0, 0, 1.0),
        (1, 0, 1.0),
        (0, 6, 2 / 2**6),
        (1, 7, 2 * (1 + 8) / 2**8),
        (2, 8, 2 * (1 + 10 + 45) / 2**10),
        (5, 5, 1.0),
    ],
)
def test_mcnemar_by_hand(only_before: int, only_after: int, p: float) -> None:
    before = [True] * only_before + [False] * only_after + [True, False, False]
    after = [False] * only_before + [True] * only_after + [True, False, False]
    assert mcnemar(before, after) == (only_before, only_after, pytest.approx(p))


def test_holm_by_hand() -> None:
    """The smallest of four times 4, the next times 3 …, never below the one before, never above 1."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    adjusted = holm([0.01, math.nan, 0.04])
    assert adjusted[::2] == pytest.approx([0.02, 0.04])
    assert math.isnan(adjusted[1])
    assert holm([]) == []


def test_what_is_detectable_is_detected_four_times_in_five() -> None:
    n, sd = 120, 0.3
    effect = detectable(sd / math.sqrt(n))
    assert effect == pytest.approx(2.8016 * sd / math.sqrt(n), rel=1e-4)
    random = np.random.default_rng(0)
    means = random.normal(effect, sd, (4000, n)).mean(axis=1)
    assert (np.abs(means) > 1.96 * sd / math.sqrt(n)).mean() == pytest.approx(0.8, abs=0.02)
    assert detectable(0.0) is detectable(math.nan) is None


def test_cases_needed_settle_it() -> None:
    """What lies 0.01 from the limit with a standard error of 0.02 at 100 cases needs ((1.645 + 0.842)·2)² times as
    many."""
    assert cases_needed(100, 0.02, 0.01, 0.05) == 2474
    assert cases_needed(100, 0.02, 0.9, 0.05) == 101
    assert cases_needed(100, 0.02, 0.0, 0.05) is cases_needed(100, math.nan, 0.1, 0.05) is None
