"""Comparing two runs: findings, wins and losses, moved ranks, tags, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.errors import DataError, UsageError
from evals.aggregates import FIGURES
from evals.baseline import load_baseline, update
from evals.case_changes import RankChange, case_changes, rank_change
from evals.compare import Change, compare_runs
from evals.compare_report import to_json, to_markdown
from evals.run_folder import Run, load_run

MakeRow = Callable[..., dict[str, Any]]
WriteRun = Callable[..., Path]


def change_of(changes: Any, name: str) -> Change:
    (found,) = [change for change in changes if change.name == name]
    return found


@pytest.fixture
def two(make_row: MakeRow, write_run: WriteRun) -> tuple[Run, Run]:
    """Sixty cases: the second run ranks every other one better, and refuses ten answerable ones more."""
    old, new = [], []
    for n in range(60):
        row = make_row(
            f"c{n:02}", tags={"kind": "hard" if n % 2 else "easy"}, mrr=0.5, ranking=["d1", "d2", "d3"]
        )
        old.append(row)
        new.append(
            {**row, **({"mrr": 1.0, "ranking": ["d2", "d1", "d4"]} if n % 2 else {}), "abstained": n < 10}
        )
    return load_run(write_run("old", old)), load_run(write_run("new", new, recipe="graph"))


def test_a_change_is_found_and_no_change_is_not(two: tuple[Run, Run]) -> None:
    comparison = compare_runs(*two)
    mrr = change_of(comparison.changes, "mrr")
    assert (mrr.before, mrr.after, mrr.difference, mrr.n) == (0.5, 0.75, 0.25, 60)
    assert (mrr.finding, mrr.sentence, mrr.wins, mrr.losses) == ("better", "better", 30, 0)
    assert mrr.interval is not None
    assert 0.15 < mrr.interval[0] < 0.25 < mrr.interval[1] < 0.35
    correct = change_of(comparison.changes, "correct")
    assert (correct.p, correct.interval, correct.detectable) == (1.0, (0.0, 0.0), None)
    assert correct.sentence == "not distinguishable (n = 60)"
    refused = change_of(comparison.changes, "over_refusal_rate")
    assert (refused.finding, refused.wins, refused.losses) == ("worse", 0, 10)
    assert change_of(comparison.changes, "coverage").finding == "lower"
    assert comparison.settings == {"recipe": ("brain", "graph")}


def test_abstention_is_tested_by_mcnemar(two: tuple[Run, Run]) -> None:
    tables = {table.group: table for table in compare_runs(*two).abstained}
    assert tables.keys() == {"all cases", "answerable"}  # none is unanswerable
    whole = tables["all cases"]
    assert (whole.n, whole.only_before, whole.only_after, whole.p) == (60, 0, 10, pytest.approx(2 / 2**10))
    assert whole.p_holm > whole.p
    assert whole.sentence == "abstains more"


def test_every_p_is_adjusted_for_all_of_them(two: tuple[Run, Run]) -> None:
    comparison = compare_runs(*two)
    tests = [(one.p, one.p_holm) for one in (*comparison.changes, *comparison.abstained) if one.p is not None]
    smallest = min(tests)
    assert smallest[1] == pytest.approx(smallest[0] * len(tests))
    assert all(p_holm is not None and p <= p_holm <= 1 for p, p_holm in tests)


def test_noise_is_not_distinguishable(make_row: MakeRow, write_run: WriteRun) -> None:
    random = np.random.default_rng(8)
    sides = [
        load_run(
            write_run(
                name, [make_row(f"c{n}", mrr=value) for n, value in enumerate(random.random(40).tolist())]
            )
        )
        for name in ("a", "b")
    ]
    mrr = change_of(compare_runs(sides[0], sides[1]).changes, "mrr")
    assert mrr.sentence == "not distinguishable (n = 40)"
    assert mrr.detectable == pytest.approx(2.8 * (2 / 12 / 40) ** 0.5, rel=0.2)


def test_what_one_run_lacks_is_left_out_and_said(make_row: MakeRow, write_run: WriteRun) -> None:
    old = load_run(write_run("old", [make_row("a", mrr=0.5), make_row("b", mrr=0.5), make_row("c", mrr=0.5)]))
    new = load_run(
        write_run("new", [make_row("b", mrr=None), make_row("c", mrr=1.0), make_row("d", mrr=1.0)])
    )
    comparison = compare_runs(old, new)
    assert (comparison.only_before, comparison.only_after) == ([("main", "a", 0)], [("main", "d", 0)])
    mrr = change_of(comparison.changes, "mrr")
    assert (mrr.n, mrr.unpaired, mrr.before, mrr.after) == (1, 1, 0.5, 1.0)
    text = to_markdown(comparison)
    assert "1 cases only in the first run, left out: a." in text
    assert "- mrr: 1 cases have it in one run only, and are left out" in text
    with pytest.raises(DataError, match="have no case in common"):
        compare_runs(old, load_run(write_run("none", [make_row("z")])))
    with pytest.raises(DataError, match="runs of different data"):
        compare_runs(old, load_run(write_run("else", [make_row("a")], datasets={"main": "other"})))
    with pytest.raises(UsageError, match="no figure 'mmr'"):
        compare_runs(old, new, ["mmr"])


def test_rank_changes_by_hand(make_row: MakeRow) -> None:
    old = make_row("a", ranking=["d1", "d2", "d3", "d4"])
    new = make_row("a", ranking=["d3", "d2", "d1", "d9"])
    assert rank_change(old, new) == RankChange(
        case=("main", "a", 0),
        promoted={"d3": (3, 1)},
        demoted={"d1": (1, 3)},
        dropped={"d4": 4},
        new={"d9": 4},
    )
    assert rank_change(old, old) is None


@pytest.mark.parametrize(("name", "first"), [("mrr", "b"), ("over_refusal_rate", "c")])
def test_the_worst_change_comes_first(make_row: MakeRow, name: str, first: str) -> None:
    old = [make_row("a", mrr=0.5), make_row("b", mrr=0.9), make_row("c", mrr=0.5), make_row("d", mrr=None)]
    new = [
        make_row("a", mrr=0.7),
        make_row("b", mrr=0.1),
        make_row("c", mrr=0.5, abstained=True),
        make_row("d"),
    ]
    changes = case_changes(FIGURES[name], old, new)
    assert changes[0].case == ("main", first, 0)
    assert "d" not in {change.case[1] for change in changes}
    assert case_changes(FIGURES["auroc"], old, new) == []


def test_by_tag_has_intervals_and_no_tests(two: tuple[Run, Run]) -> None:
    by_tag = compare_runs(*two, ["mrr"]).by_tag
    assert by_tag.keys() == {"kind=easy", "kind=hard"}
    easy, hard = (change_of(by_tag[tag], "mrr") for tag in ("kind=easy", "kind=hard"))
    assert (easy.difference, hard.difference, hard.n) == (0.0, 0.5, 30)
    assert (hard.p, hard.finding) == (None, "not tested")


def test_both_reports_tell_the_same(two: tuple[Run, Run]) -> None:
    comparison = compare_runs(*two, ["mrr"])
    body = json.loads(to_json(comparison), parse_constant=pytest.fail)
    text = to_markdown(comparison, cases=3)
    assert body["figures"]["mrr"]["sentence"] == "better"
    assert "| mrr | 0.500 | 0.750 | +0.250 |" in text
    assert (
        "| correct | 1.000 | 1.000 | +0.000 | +0.000 to +0.000 | 1.000 | 1.000 | 0 | 0 | – | not distin"
        in text
    )
    assert "## mrr: 30 wins, 0 losses" in text
    assert "- won c01 (main): 0.500 → 1.000" in text
    assert "- won 27 more: --cases, or --format json" in text
    assert "## Rankings (first 10): 30 changed; 30 promoted, 30 demoted, 30 dropped, 30 new" in text
    assert "- c01: promoted d2 2→1; demoted d1 1→2; dropped d3 (rank 3); new d4 (rank 3)" in text
    assert body["rankings"][0] == {
        "dataset": "main", "case_id": "c01", "promoted": {"d2": [2, 1]}, "demoted": {"d1": [1, 2]},
        "dropped": {"d3": 3}, "new": {"d4": 3},
    }  # fmt: skip
    assert "| all cases | 60 | 0 | 10 | 0.002 |" in text
    assert "| kind=hard | mrr | 30 | 0.500 | 1.000 | +0.500 |" in text


def test_a_baseline_file_has_no_rankings_to_compare(two: tuple[Run, Run], tmp_path: Path) -> None:
    update(two[0], tmp_path / "base.json")
    comparison = compare_runs(load_baseline(tmp_path / "base.json"), two[1])
    assert comparison.rankings is None
    assert "Rankings are not compared: a baseline file has none." in to_markdown(comparison)
    assert json.loads(to_json(comparison))["rankings"] is None
    assert change_of(comparison.changes, "mrr").difference == 0.25
