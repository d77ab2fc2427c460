"""The gate's verdicts: what passes, what is a regression, what is open, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from core.errors import DataError, UsageError
from evals.gate import GateResult, judge
from evals.gate_rules import DEFAULT, Check, Rules
from evals.row_reading import key_of
from evals.run_folder import Run

MakeRow = Callable[..., dict[str, Any]]
MANIFEST = {"datasets": {"main": "hash"}, "variant": "near-miss", "excluded": "nothing", "recipe": "brain"}


def run_of(rows: list[dict[str, Any]], *, failed: list[str] | None = None, **manifest: Any) -> Run:
    return Run(
        source="run", manifest={**MANIFEST, **manifest}, rows=rows,
        failed=frozenset(("main", one) for one in failed or ()), failures=len(failed or ()),
    )  # fmt: skip


@pytest.fixture
def judged(make_row: MakeRow) -> Callable[..., GateResult]:
    """``judged("mrr", old, new, max_drop=0.05)``: a gate on runs with these values of a figure."""

    def judge_(
        name: str, old: list[Any], new: list[Any], *, point: bool = False, **limits: float
    ) -> GateResult:
        before, after = (
            run_of([make_row(f"c{n:03}", **{name: value}) for n, value in enumerate(values)])
            for values in (old, new)
        )
        checks = [Check(figure=name, kind=kind, limit=limit, point=point) for kind, limit in limits.items()]  # type: ignore[arg-type]
        return judge(after, before, Rules(checks=tuple(checks)))

    return judge_


HALVES = [0.5] * 100
SWINGS = [0.5 + (-1) ** n * 0.4 for n in range(100)]
"""As good on the whole, with a standard error of 0.04."""


@pytest.mark.parametrize(
    ("new", "limits", "code"),
    [
        (HALVES, {"max_drop": 0.0}, 0),
        ([0.6] * 100, {"max_drop": 0.0}, 0),
        ([0.49] * 100, {"max_drop": 0.02}, 0),
        ([0.47] * 100, {"max_drop": 0.02}, 1),
        ([0.48] * 100, {"max_drop": 0.02}, 3),  # exactly at the margin: neither above nor below
        (SWINGS, {"max_drop": 0.1}, 0),
        (SWINGS, {"max_drop": 0.02}, 3),
        ([value - 0.2 for value in SWINGS], {"max_drop": 0.02}, 1),
        ([*HALVES[1:], 0.6], {"max_drop": 0.0}, 0),  # one better, none worse
        ([*HALVES[1:], 0.4], {"max_drop": 0.0}, 3),  # one worse is no evidence, and no pass
        ([*HALVES[1:], 0.4], {"max_drop": 0.01}, 0),
    ],
)
def test_a_drop_passes_only_where_its_bound_clears_the_margin(
    judged: Callable[..., GateResult], new: list[float], limits: dict[str, float], code: int
) -> None:
    assert judged("mrr", HALVES, new, **limits).exit_code == code


@pytest.mark.parametrize(
    ("worse", "limit", "code"), [(0, 0.0, 0), (0, 0.01, 0), (3, 0.01, 3), (3, 0.1, 0), (40, 0.1, 1)]
)
def test_a_rise_of_what_should_be_low(make_row: MakeRow, worse: int, limit: float, code: int) -> None:
    old = [make_row(f"c{n:03}", answerable=False, abstained=n >= 10) for n in range(100)]
    new = [make_row(f"c{n:03}", answerable=False, abstained=n >= 10 + worse) for n in range(100)]
    rules = Rules(checks=(Check(figure="false_answer_rate", kind="max_rise", limit=limit),))
    result = judge(run_of(new), run_of(old), rules)
    assert result.exit_code == code
    (verdict,) = result.verdicts
    assert (verdict.baseline, verdict.run) == (0.1, pytest.approx((10 + worse) / 100))
    assert verdict.low is not None
    assert verdict.high is not None
    assert verdict.low <= worse / 100 <= verdict.high
    better = judge(run_of(old), run_of(new), rules)
    assert better.exit_code == 0


@pytest.mark.parametrize(
    ("limits", "point", "code"),
    [
        ({"max": 0.2}, False, 0),
        ({"max": 0.1}, False, 3),
        ({"max": 0.1}, True, 0),
        ({"max": 0.09}, True, 1),
        ({"max": 0.03}, False, 1),
        ({"min": 0.03}, False, 0),
        ({"min": 0.1}, False, 3),
        ({"min": 0.1}, True, 0),
        ({"min": 0.2}, False, 1),
    ],
)
def test_an_absolute_limit_is_held_by_the_bound_unless_it_is_a_point(
    make_row: MakeRow, limits: dict[str, float], point: bool, code: int
) -> None:
    """Ten of a hundred: at 95 % between 0.055 and 0.164, for a regression between 0.049 and 0.176."""
    rows = [make_row(f"c{n:03}", answerable=False, abstained=n >= 10) for n in range(100)]
    ((kind, limit),) = limits.items()
    check = Check(figure="false_answer_rate", kind=kind, limit=limit, point=point)  # type: ignore[arg-type]
    result = judge(run_of(rows), run_of(rows), Rules(checks=(check,)))
    assert result.exit_code == code, result.verdicts[0]


@pytest.mark.parametrize(("inconclusive", "code"), [("exit 3", 3), ("pass", 0), ("fail", 1)])
def test_what_is_open_becomes_what_is_said(make_row: MakeRow, inconclusive: str, code: int) -> None:
    before, after = (
        run_of([make_row(f"c{n:03}", mrr=value) for n, value in enumerate(values)])
        for values in (HALVES, SWINGS)
    )
    drop = Check(figure="mrr", kind="max_drop", limit=0.02)
    result = judge(after, before, Rules(checks=(drop,), inconclusive=inconclusive))  # type: ignore[arg-type]
    assert result.exit_code == code
    (verdict,) = result.verdicts
    assert verdict.status == "not enough evidence"
    assert "not distinguishable from the limit (n = 100); about " in verdict.reason
    assert verdict.needed == pytest.approx(100 * (2.486 * 0.04 / 0.02) ** 2, rel=0.05)
    worst = Check(figure="mrr", kind="min", limit=0.9)
    rules = Rules(checks=(drop, worst), inconclusive=inconclusive)  # type: ignore[arg-type]
    assert judge(after, before, rules).exit_code == 1  # a regression elsewhere is one however open this is


def test_many_rules_make_a_regression_harder_to_call_and_a_pass_no_easier(make_row: MakeRow) -> None:
    new = np.random.default_rng(1).normal(0.44, 0.3, 100).tolist()
    before, after = (
        run_of([make_row(f"c{n:03}", mrr=value) for n, value in enumerate(values)])
        for values in (HALVES, new)
    )
    one = Check(figure="mrr", kind="max_drop", limit=0.0)
    few, many = (judge(after, before, Rules(checks=(one,) * count)).verdicts[0] for count in (1, 50))
    assert few.low == many.low
    assert few.high is not None
    assert many.high is not None
    assert few.high < many.high


def test_failures_are_counted_against_their_own_rule(make_row: MakeRow) -> None:
    old = [make_row("a", mrr=0.5), make_row("b", mrr=0.5), make_row("c", mrr=0.5)]
    after = run_of(old[:2], failed=["c"])
    allowed = Rules(checks=(Check(figure="failures", kind="max", limit=1),
                            Check(figure="mrr", kind="max_drop", limit=0.1)))  # fmt: skip
    result = judge(after, run_of(old), allowed)
    assert (result.exit_code, result.shared, result.failed_cases) == (0, 2, 1)
    assert judge(after, run_of(old), DEFAULT_FAILURES).exit_code == 1
    assert (
        judge(run_of(old[:2], failed=["c"]), run_of(old[:2], failed=["c"]), DEFAULT_FAILURES).exit_code == 1
    )
    # a case that failed before and no longer does is no unmatched one
    assert judge(run_of(old), run_of(old[:2], failed=["c"]), DEFAULT_FAILURES).exit_code == 0


DEFAULT_FAILURES = Rules(checks=DEFAULT.checks[:1])


def test_a_run_in_which_all_failed_never_passes(make_row: MakeRow) -> None:
    old = [make_row("a", mrr=0.5)]
    result = judge(run_of([], failed=["a"]), run_of(old), Rules(checks=(
        Check(figure="failures", kind="max", limit=9), Check(figure="mrr", kind="max_drop", limit=0.5),
        Check(figure="mrr", kind="max", limit=0.5, point=True))))  # fmt: skip
    assert result.exit_code == 3
    assert [verdict.status for verdict in result.verdicts] == ["pass", *["not enough evidence"] * 2]
    assert result.verdicts[1].reason == "no case is left to judge"


def test_one_document_is_never_enough_unless_nothing_changed(make_row: MakeRow) -> None:
    old = [make_row(f"c{n}", mrr=0.5, cluster="d") for n in range(9)]
    new = [{**row, "mrr": 0.6} for row in old]
    rules = Rules(checks=(Check(figure="mrr", kind="max_drop", limit=0.01),))
    assert judge(run_of([dict(row) for row in old]), run_of(old), rules).exit_code == 0
    result = judge(run_of(new), run_of(old), rules)
    assert result.exit_code == 3
    assert "all 9 cases are about one document" in result.verdicts[0].reason


def test_cases_that_only_one_run_has_are_refused(make_row: MakeRow) -> None:
    rows = [make_row("a"), make_row("b"), make_row("c", dataset="main")]
    for run, baseline, said in (
        (run_of(rows[:1]), run_of(rows), "run lacks 2 cases that run has, the first is 'b' of 'main'"),
        (run_of(rows), run_of(rows[1:]), "lacks 1 cases .* first is 'a'"),
        (run_of(rows[:2], failed=["x"]), run_of(rows[:2]), "lacks 1 cases .* first is 'x'"),
        (run_of(rows[:2]), run_of(rows[:2], failed=["x"]), "lacks 1 cases .* first is 'x'"),
    ):
        with pytest.raises(DataError, match=said):
            judge(run, baseline, DEFAULT_FAILURES)
    with pytest.raises(DataError, match="are runs of different data"):
        judge(run_of(rows), run_of(rows, datasets={"main": "other"}), DEFAULT_FAILURES)


def test_a_figure_that_went_missing_is_refused(make_row: MakeRow) -> None:
    old = [make_row("a", mrr=0.5, citation_precision=1.0, citation_recall=1.0) for _ in range(1)]
    lost = [{**old[0], "mrr": None}]
    rules = Rules(checks=(Check(figure="mrr", kind="max_drop", limit=1.0),))
    with pytest.raises(
        DataError, match="1 cases have mrr in one run only, the first is 'a': a missing figure is no"
    ):
        judge(run_of(lost), run_of(old), rules)
    with pytest.raises(DataError, match="1 cases have mrr in one run only"):
        judge(run_of([{**old[0], "mrr": float("nan")}]), run_of(old), rules)
    with pytest.raises(DataError, match="no case has selective_risk; take the rule out"):
        judge(run_of([make_row("a", correct=None)]), run_of([make_row("a", correct=None)]),
              Rules(checks=(Check(figure="selective_risk", kind="max", limit=1.0),)))  # fmt: skip
    with pytest.raises(UsageError, match="no figure 'mmr' in these runs"):
        judge(run_of(old), run_of(old), Rules(checks=(Check(figure="mmr", kind="max_drop", limit=1.0),)))


def test_figures_that_are_no_means_are_gated(make_row: MakeRow) -> None:
    random = np.random.default_rng(5)
    old = [make_row(f"c{n:03}", answerable=n % 2 == 0, would_be_right=n % 2 == 0,
                    confidence=float(random.normal(3 * (n % 2 == 0)))) for n in range(200)]  # fmt: skip
    blind = [{**row, "confidence": float(random.normal())} for row in old]
    rules = Rules(checks=(Check(figure="auroc", kind="max_drop", limit=0.05),
                          Check(figure="aurc", kind="max_rise", limit=0.05)))  # fmt: skip
    assert judge(run_of([dict(row) for row in old]), run_of(old), rules).exit_code == 0
    worse = judge(run_of(blind), run_of(old), rules)
    assert [verdict.status for verdict in worse.verdicts] == ["regression", "regression"]


def test_rows_are_paired_by_what_they_are_and_not_by_where_they_stand(make_row: MakeRow) -> None:
    old = [make_row(f"c{n:03}", dataset=f"d{n % 2}", mrr=n / 100) for n in range(100)]
    rules = Rules(checks=(Check(figure="mrr", kind="max_drop", limit=0.0),))
    (verdict,) = judge(run_of(old[::-1]), run_of(sorted(old, key=key_of)), rules).verdicts
    assert verdict.reason == "the same for each of 100 cases"
    assert (verdict.low, verdict.high) == (0.0, 0.0)


def test_repeats_are_paired_with_repeats(make_row: MakeRow) -> None:
    """Three repeats of a case stand on one document, and add no evidence of other documents."""
    old = [
        make_row(f"c{n}", repeat=repeat, cluster=f"d{n}", mrr=n / 20)
        for n in range(20)
        for repeat in range(3)
    ]
    rules = Rules(checks=(Check(figure="mrr", kind="max_drop", limit=0.0),))
    (verdict,) = judge(run_of([dict(row) for row in old]), run_of(old), rules).verdicts
    assert (verdict.status, verdict.n) == ("pass", 60)
    with pytest.raises(DataError, match=r"lacks 20 cases .* 'c0' of 'main' \(repeat 2\): .*--repeats"):
        judge(run_of([row for row in old if row["repeat"] < 2]), run_of(old), rules)
    one_broke = judge(run_of([row for row in old if (row["case_id"], row["repeat"]) != ("c3", 1)], failed=["c3"]),
                      run_of(old), rules)  # fmt: skip
    assert (one_broke.shared, one_broke.failed_cases) == (59, 1)


def test_settings_that_differ_are_said(make_row: MakeRow) -> None:
    rows = [make_row("a")]
    result = judge(run_of(rows, recipe="graph"), run_of(rows), DEFAULT_FAILURES)
    assert result.changes == {"recipe": ("brain", "graph")}
