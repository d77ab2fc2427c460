"""Baselines: the same bytes for the same run, read back to what pairing needs, refused when damaged."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.errors import DataError
from evals.baseline import baseline_text, load, load_baseline, update
from evals.run_folder import load_run

MakeRow = Callable[..., dict[str, Any]]
WriteRun = Callable[..., Path]


@pytest.fixture
def rows(make_row: MakeRow) -> list[dict[str, Any]]:
    return [make_row("b", mrr=1 / 3, em=True, tags={"kind": "x"}, ranking=["d1"], trace_id="t"),
            make_row("a", mrr=None, confidence=None, answerable=None, correct=None)]  # fmt: skip


def test_the_order_of_a_run_does_not_change_its_baseline(
    rows: list[dict[str, Any]], write_run: WriteRun
) -> None:
    texts = {baseline_text(load_run(write_run(name, order, seed=seed))) for name, order, seed in
             (("one", rows, 0), ("two", rows[::-1], 5))}  # fmt: skip
    (text,) = texts
    assert len(text.splitlines()) == 3 + 1 + len(rows) + 1
    assert "ranking" not in text
    assert "trace_id" not in text


def test_a_baseline_is_read_back_to_the_bit(
    rows: list[dict[str, Any]], write_run: WriteRun, tmp_path: Path
) -> None:
    run = load_run(write_run("run", rows, failed=["c"]))
    file = tmp_path / "new" / "base.json"
    update(run, file, allow_failures=True)
    read = load_baseline(file)
    assert baseline_text(read) == file.read_text(encoding="utf-8")
    assert read.failed == {("main", "c")}
    for row in read.rows:
        kept = run.by_case["main", row["case_id"], 0]
        assert row == {name: kept[name] for name in row}
    assert read.by_case["main", "b", 0].keys() >= {"mrr", "em", "tags", "cluster"}
    assert load(file).rows == read.rows
    assert load(tmp_path / "run").rows == run.rows


def test_a_run_with_failures_is_no_baseline_unless_it_is_said(
    make_row: MakeRow, write_run: WriteRun, tmp_path: Path
) -> None:
    run = load_run(write_run("run", [make_row("a")], failed=["c", "b"]))
    with pytest.raises(DataError, match=r"2 cases failed, the first is 'b' of 'main': .* --allow-failures"):
        update(run, tmp_path / "base.json")
    assert not (tmp_path / "base.json").exists()
    with pytest.raises(DataError, match="no case was scored"):
        update(load_run(write_run("empty", [])), tmp_path / "base.json")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text[: len(text) // 2], r"base\.json:\d: not JSON, cut off or malformed"),
        (lambda text: text.replace("0.25", "NaN"), r"base\.json:5: NaN is not JSON"),
        (lambda text: text.replace("0.25", "1e999"), r"base\.json: row 1: mrr is inf"),
        (
            lambda text: text.replace('"b"', '"a"'),
            r"row 2: case 'a' of 'main' is there twice, first at .*row 1",
        ),
        (lambda text: text.replace("baseline/1", "baseline/9"), "format 'assay-baseline/9' is no baseline"),
        (lambda text: "[1]", r"base\.json: expected a JSON object, got list"),
        (lambda text: json.dumps({**json.loads(text), "rows": []}), "needs `rows` with at least one case"),
        (
            lambda text: json.dumps({**json.loads(text), "rows": [3]}),
            "row 1: expected a JSON object, got int",
        ),
        (lambda text: json.dumps({**json.loads(text), "failed": ["a"]}), "`failed` lists .*, got 'a'"),
        (lambda text: json.dumps({**json.loads(text), "manifest": {}}), "the manifest lacks datasets"),
    ],
)
def test_a_damaged_baseline_is_refused(
    make_row: MakeRow, write_run: WriteRun, tmp_path: Path, change: Callable[[str], str], said: str
) -> None:
    file = tmp_path / "base.json"
    update(load_run(write_run("run", [make_row("a", mrr=0.25), make_row("b", mrr=0.5)])), file)
    file.write_text(change(file.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(DataError, match=said):
        load_baseline(file)


def test_no_baseline_is_said_with_what_makes_one(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="make it with `assay baseline update RUN --out FILE`"):
        load_baseline(tmp_path / "none.json")
