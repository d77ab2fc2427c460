"""The paired difference: against scipy's bootstrap, by hand, and in what it leaves out."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import bootstrap

from evals.aggregates import FIGURES
from evals.paired import lower, pair, upper

MakeRow = Callable[..., dict[str, Any]]


def rows_of(
    make_row: MakeRow, name: str, values: list[float | None], *, size: int = 1
) -> list[dict[str, Any]]:
    return [make_row(f"c{n}", cluster=f"d{n // size}", **{name: value}) for n, value in enumerate(values)]


def test_interval_agrees_with_scipy(make_row: MakeRow) -> None:
    random = np.random.default_rng(4)
    old = random.random(150)
    new = old + random.normal(-0.05, 0.2, 150)
    paired = pair(
        FIGURES["mrr"], rows_of(make_row, "mrr", old.tolist()), rows_of(make_row, "mrr", new.tolist())
    )
    theirs = bootstrap(
        (old, new), lambda a, b, axis: (b - a).mean(axis=axis), paired=True, n_resamples=20_000, method="percentile",
        rng=np.random.default_rng(1),
    )  # fmt: skip
    assert paired.difference == pytest.approx((new - old).mean())
    assert paired.standard_error == pytest.approx(theirs.standard_error, rel=0.02)
    assert paired.interval == pytest.approx(tuple(theirs.confidence_interval), abs=0.002)
    assert (paired.n, paired.clusters, paired.unpaired, paired.unchanged) == (150, 150, (), False)


def test_documents_of_several_questions_widen_the_interval(make_row: MakeRow) -> None:
    """Ten equal differences on a document are one observation: √10 times the standard error."""
    old, new = [0.5] * 200, [0.5 + (n // 10 % 2) * 0.2 for n in range(200)]
    apart, together = (
        pair(
            FIGURES["mrr"], rows_of(make_row, "mrr", old, size=size), rows_of(make_row, "mrr", new, size=size)
        )
        for size in (1, 10)
    )
    assert together.standard_error / apart.standard_error == pytest.approx(math.sqrt(10), rel=0.05)


def test_an_abstention_explains_a_missing_citation_and_nothing_else_does(make_row: MakeRow) -> None:
    old = [make_row("a", citation_precision=1.0), make_row("b", citation_precision=0.5),
           make_row("c", citation_precision=0.0)]  # fmt: skip
    new = [make_row("a", citation_precision=1.0), make_row("b", citation_precision=None, abstained=True),
           make_row("c", citation_precision=None)]  # fmt: skip
    paired = pair(FIGURES["citation_precision"], old, new)
    assert paired.unpaired == (2,)
    assert (paired.before, paired.after, paired.n) == (0.75, 1.0, 2)
    # whether it was answered says nothing of how its passages were ranked
    ranked = [make_row("a", mrr=1.0)], [make_row("a", mrr=None, abstained=True)]
    assert pair(FIGURES["mrr"], *ranked).unpaired == (0,)


@pytest.mark.parametrize("values", [[], [None, None]])
def test_without_a_case_there_is_no_figure(make_row: MakeRow, values: list[None]) -> None:
    rows = rows_of(make_row, "mrr", values)
    paired = pair(FIGURES["mrr"], rows, rows)
    assert (paired.n, paired.clusters, paired.interval) == (0, 0, None)
    assert math.isnan(paired.before)
    assert math.isnan(paired.difference)
    assert math.isnan(paired.standard_error)


def test_one_document_bounds_nothing(make_row: MakeRow) -> None:
    old, new = (rows_of(make_row, "mrr", values, size=9) for values in ([0.0, 1.0], [0.5, 1.0]))
    paired = pair(FIGURES["mrr"], old, new)
    assert paired.difference == 0.25
    assert (paired.interval, len(paired.draws)) == (None, 0)
    assert (lower(paired.draws, 0.05, 1), upper(paired.draws, 0.05, 1)) == (-math.inf, math.inf)


def test_a_rerun_is_unchanged_and_another_confidence_changes_a_curve(make_row: MakeRow) -> None:
    old = [make_row(f"c{n}", answerable=n % 2 == 0, confidence=n / 10) for n in range(8)]
    same = pair(FIGURES["auroc"], old, [dict(row) for row in old])
    assert same.unchanged
    assert np.abs(same.draws[~np.isnan(same.draws)]).max() == 0
    other = pair(FIGURES["auroc"], old, [{**old[0], "confidence": 0.95}, *old[1:]])
    assert not other.unchanged
    assert (other.before, other.after) == (6 / 16, 10 / 16)


def test_a_draw_without_a_value_counts_against_both_bounds() -> None:
    draws = np.concatenate([np.full(60, np.nan), np.linspace(0, 1, 940)])
    assert lower(draws, 0.05, 1000) == -math.inf
    assert upper(draws, 0.05, 1000) == math.inf
    few = np.concatenate([np.full(10, np.nan), np.linspace(0, 1, 990)])
    assert lower(few, 0.05, 1000) == pytest.approx(0.04, abs=0.002)


def test_few_documents_widen_the_bound_to_students() -> None:
    """Of a normal sampling distribution the bound is √(m/(m−1))·t standard deviations off."""
    draws = np.random.default_rng(0).normal(size=400_000)
    assert lower(draws, 0.05, 10) == pytest.approx(-math.sqrt(10 / 9) * 1.833, abs=0.02)
    assert upper(draws, 0.05, 10_000) == pytest.approx(1.645, abs=0.01)


def test_equal_seeds_agree(make_row: MakeRow) -> None:
    sides = [rows_of(make_row, "mrr", np.random.default_rng(seed).random(30).tolist()) for seed in (1, 2)]
    intervals = [pair(FIGURES["mrr"], *sides, seed=seed).interval for seed in (0, 0, 1)]
    assert intervals[0] == intervals[1] != intervals[2]
