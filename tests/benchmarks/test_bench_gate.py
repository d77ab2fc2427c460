"""The gate as a test of hypotheses: how often it passes, calls a regression or leaves open, over seeded simulations.

Each simulation is a baseline and a run of 300 cases through ``judge`` itself. 200 of each kind in the suite; `make bench`
runs 1,000 and prints the shares, with how many cases would settle what was left open.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pytest

from evals.aggregates import FIGURES
from evals.baseline import load_baseline
from evals.gate import GateResult, judge
from evals.gate_rules import Check, Rules
from evals.run_folder import Run

CASES = 300
ROOT = Path(__file__).resolve().parents[2]
Scores = np.ndarray[Any, np.dtype[np.float64]]
Draw = Callable[[np.random.Generator], tuple[Scores, Scores]]
COUNTS = [200, pytest.param(1000, marks=pytest.mark.bench)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """Of the gates: exit 0, exit 1, exit 3, and the median number of cases that would settle an open one."""

    passed: float
    regressed: float
    open: float
    needed: float


def run_of(scores: Scores, figure: str, *, cluster_size: int) -> Run:
    """A finished run whose cases have these figures, ``cluster_size`` of them on a document."""
    flag = {
        "answerable": True,
        "abstained": False,
        "confidence": 0.5,
        "correct": True,
        "would_be_right": True,
    }
    rows = [
        {**flag, "case_id": f"c{place:03}", "dataset": "d", "cluster": f"d{place // cluster_size:03}", "tags": {},
         figure: score}
        for place, score in enumerate(scores.tolist())
    ]  # fmt: skip
    manifest = {"datasets": {"d": "same"}, "variant": "near-miss", "excluded": "nothing"}
    return Run(source="simulated", manifest=manifest, rows=rows, failed=frozenset(), failures=0)


def simulated(draw: Draw, check: Check, count: int, *, cluster_size: int = 1) -> Shares:
    random = np.random.default_rng(20)
    results: list[GateResult] = []
    for _ in range(count):
        before, after = (run_of(scores, check.figure, cluster_size=cluster_size) for scores in draw(random))
        results.append(judge(after, before, Rules(checks=(check,))))
    codes = np.bincount([result.exit_code for result in results], minlength=4) / count
    open_ = [result.verdicts[0].needed for result in results if result.exit_code == 3]
    needed = [cases for cases in open_ if cases is not None]
    shares = Shares(
        passed=float(codes[0]), regressed=float(codes[1]), open=float(codes[3]), needed=median(needed or [0])
    )
    print(
        f"\n{check.label}, {count} gates of {CASES} cases: exit 0 {shares.passed:.1%}, exit 1 {shares.regressed:.1%}, "
        f"exit 3 {shares.open:.1%} (about {shares.needed:.0f} cases would settle those)"
    )
    return shares


def real_scores(name: str) -> Scores:
    """The per-case figures of a real run: as spread as scores are, most of them 0 or 1."""
    figure = FIGURES[name]
    values = figure.values(load_baseline(ROOT / "evals" / "baselines" / "meridian-brain.json").rows)
    return values[~np.isnan(values)]


def noisy(pool: Scores, drop: float, *, changed: float = 0.1, cluster_size: int = 1) -> Draw:
    """A run of real scores, and another of the same cases: the share ``changed`` of its documents scored anew without a
    better or worse, and then as many cases at 0 as take ``drop`` off the mean."""

    def draw(random: np.random.Generator) -> tuple[Scores, Scores]:
        documents = CASES // cluster_size
        before, other = (random.choice(pool, CASES) for _ in range(2))
        anew = np.repeat(random.random(documents) < changed, cluster_size)
        zeroed = np.repeat(random.random(documents) < drop / pool.mean(), cluster_size)
        return before, np.where(zeroed, 0.0, np.where(anew, other, before))

    return draw


def spread(standard_deviation: float, drop: float = 0.0) -> Draw:
    """Differences that are normal, of mean −drop."""

    def draw(random: np.random.Generator) -> tuple[Scores, Scores]:
        before = random.uniform(size=CASES)
        return before, before - drop + random.normal(0.0, standard_deviation, CASES)

    return draw


@pytest.mark.parametrize(
    ("figure", "cluster_size", "count"),
    [
        ("citation_f1", 3, 200),
        ("recall@10", 1, 200),
        *(
            pytest.param(figure, size, 1000, marks=pytest.mark.bench)
            for figure in ("citation_f1", "recall@10")
            for size in (1, 3)
        ),
    ],
)
def test_a_true_drop_beyond_the_margin_rarely_passes(figure: str, cluster_size: int, count: int) -> None:
    margin = 0.02
    draw = noisy(real_scores(figure), margin + 0.05, cluster_size=cluster_size)
    check = Check(figure=figure, kind="max_drop", limit=margin)
    shares = simulated(draw, check, count, cluster_size=cluster_size)
    assert shares.passed <= 0.05
    assert shares.regressed > 0.1


@pytest.mark.parametrize("count", COUNTS)
def test_a_true_drop_of_exactly_the_margin_passes_as_often_as_the_confidence_says(count: int) -> None:
    """The hardest truth to refuse: at the margin itself a bound of 95 % is wrong once in 20."""
    shares = simulated(spread(0.3, drop=0.05), Check(figure="mrr", kind="max_drop", limit=0.05), count)
    assert 0.01 <= shares.passed <= 0.05 + 2.4 * (0.05 * 0.95 / count) ** 0.5


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("margin", [0.0, 0.02])
def test_no_true_change_is_rarely_a_regression(margin: float, count: int) -> None:
    draw = noisy(real_scores("citation_f1"), 0.0)
    shares = simulated(draw, Check(figure="citation_f1", kind="max_drop", limit=margin), count)
    assert shares.regressed <= (0.0 if margin else 0.05)


@pytest.mark.parametrize("count", COUNTS)
def test_no_true_change_passes_four_times_in_five(count: int) -> None:
    shares = simulated(spread(0.3), Check(figure="mrr", kind="max_drop", limit=0.05), count)
    assert shares.passed >= 0.8
    assert shares.regressed <= 0.05
    assert shares.needed > CASES


@pytest.mark.parametrize("count", [20, pytest.param(1000, marks=pytest.mark.bench)])
def test_the_same_run_again_always_passes(count: int) -> None:
    pool = real_scores("citation_f1")

    def draw(random: np.random.Generator) -> tuple[Scores, Scores]:
        scores = random.choice(pool, CASES)
        return scores, scores.copy()

    for margin in (0.0, 0.02):
        check = Check(figure="citation_f1", kind="max_drop", limit=margin)
        assert simulated(draw, check, count, cluster_size=3).passed == 1.0
