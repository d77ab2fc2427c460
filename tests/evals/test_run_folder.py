"""Run folders that are damaged, cut off or mixed are refused by file and line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.errors import DataError
from evals.run_folder import load_run, refuse_other_data

MakeRow = Callable[..., dict[str, Any]]
WriteRun = Callable[..., Path]


def lines_of(folder: Path) -> list[str]:
    return (folder / "rows.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)


def test_a_run_is_read_whole(make_row: MakeRow, write_run: WriteRun) -> None:
    rows = [make_row("b", mrr=0.5), make_row("a", mrr=None)]
    run = load_run(write_run("run", rows, failed=["c"]))
    assert run.rows == rows
    assert run.failed == {("main", "c")}
    assert run.by_case["main", "a", 0]["mrr"] is None
    assert run.manifest["datasets"] == {"main": "hash"}


@pytest.mark.parametrize(
    ("field", "written", "said"),
    [
        ("mrr", "NaN", r"rows\.jsonl:2: NaN is not JSON"),
        ("correct", "NaN", r"rows\.jsonl:2: NaN is not JSON"),
        ("mrr", "1e999", r"rows\.jsonl:2: mrr is inf, which is no figure"),
        ("correct", '"yes"', r"rows\.jsonl:2: correct must be true, false or null, got 'yes'"),
        ("correct", "1", r"rows\.jsonl:2: correct must be true, false or null, got 1"),
        ("abstained", "null", r"rows\.jsonl:2: abstained must be true or false, got None"),
        ("confidence", "true", r"rows\.jsonl:2: confidence must be a number or null, got True"),
        ("case_id", "7", r"rows\.jsonl:2: case_id must be a text, got 7"),
        ("tags", '{"k": 1}', r"rows\.jsonl:2: tags must have texts as values"),
        ("repeat", "0.5", r"rows\.jsonl:2: repeat must be a whole number, got 0\.5"),
        ("ranking", '"d1"', r"rows\.jsonl:2: ranking must be a list of texts, got 'd1'"),
    ],
)
def test_a_damaged_row_is_named_by_its_line(
    make_row: MakeRow, write_run: WriteRun, field: str, written: str, said: str
) -> None:
    folder = write_run("run", [make_row("a"), {**make_row("b"), field: "?"}])
    first, second = lines_of(folder)
    second = second.replace('"?"', written)
    (folder / "rows.jsonl").write_text(first + second, encoding="utf-8")
    with pytest.raises(DataError, match=said):
        load_run(folder)


def test_a_row_that_lacks_something_is_refused(make_row: MakeRow, write_run: WriteRun) -> None:
    row = make_row("a")
    del row["would_be_right"]
    with pytest.raises(DataError, match=r"rows\.jsonl:1: a row without 'would_be_right'"):
        load_run(write_run("run", [row]))


def test_a_file_cut_off_is_refused_wherever_the_cut(make_row: MakeRow, write_run: WriteRun) -> None:
    folder = write_run("run", [make_row("a"), make_row("b"), make_row("c")])
    whole = (folder / "rows.jsonl").read_text(encoding="utf-8")
    first, second, _ = lines_of(folder)
    for cut in range(len(whole) - 2, 0, -1):
        (folder / "rows.jsonl").write_text(whole[:cut], encoding="utf-8")
        with pytest.raises(
            DataError, match=r"rows\.jsonl:\d: not JSON, cut off|rows\.jsonl and failures\.jsonl hold"
        ):
            load_run(folder)
    (folder / "rows.jsonl").write_text(first + second, encoding="utf-8")
    with pytest.raises(DataError, match=r"hold 2 and 0 cases, summary\.json tells of .*: a file is cut off"):
        load_run(folder)


def test_a_case_there_twice_is_refused(make_row: MakeRow, write_run: WriteRun) -> None:
    twice = write_run("twice", [make_row("a"), make_row("b"), make_row("a", mrr=1.0)])
    with pytest.raises(
        DataError, match=r"rows\.jsonl:3: case 'a' of 'main' is there twice, first at .*rows\.jsonl:1"
    ):
        load_run(twice)
    with pytest.raises(DataError, match=r"case 'a' is in rows\.jsonl and in failures\.jsonl"):
        load_run(write_run("both", [make_row("a")], failed=["a"]))
    other = write_run("other", [make_row("a"), make_row("a", dataset="second")])
    assert len(load_run(other).rows) == 2


def test_a_case_asked_several_times_is_there_once_a_repeat(make_row: MakeRow, write_run: WriteRun) -> None:
    rows = [make_row("a", repeat=0), make_row("a", repeat=1), make_row("b", repeat=0)]
    run = load_run(write_run("run", rows, failed=["b", "c", "c"]))
    assert run.by_case.keys() == {("main", "a", 0), ("main", "a", 1), ("main", "b", 0)}
    assert (run.failed, run.failures) == ({("main", "b"), ("main", "c")}, 3)
    with pytest.raises(DataError, match=r"rows\.jsonl:2: case 'a' of 'main' is there twice"):
        load_run(write_run("twice", [make_row("a", repeat=1), make_row("a", repeat=1)]))


def test_a_mean_that_counts_more_than_the_rows_say_is_not_compared(
    make_row: MakeRow, write_run: WriteRun
) -> None:
    """A summary may count an abstention as the empty answer, which no row says."""
    folder = write_run("run", [make_row("a", exact_match=1.0), make_row("b", exact_match=None)])
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    summary["exact_match"] = {"value": 0.5, "interval": [0.0, 1.0], "n": 2, "missing": 0}
    (folder / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    assert len(load_run(folder).rows) == 2


def test_rows_of_another_run_than_the_summarys_are_refused(make_row: MakeRow, write_run: WriteRun) -> None:
    folder = write_run("run", [make_row("a", mrr=0.5), make_row("b", mrr=0.25)])
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    summary["mrr"] = {"value": 0.375, "interval": [0.25, 0.5], "n": 2, "missing": 0}
    (folder / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    assert len(load_run(folder).rows) == 2
    summary["mrr"]["value"] = 0.38
    (folder / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    with pytest.raises(DataError, match=r"mean mrr of rows\.jsonl is 0\.375000, summary\.json has 0\.38:"):
        load_run(folder)


def test_a_run_that_did_not_finish_is_refused(make_row: MakeRow, write_run: WriteRun, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="gone: no such folder; give the --out of an `assay eval`"):
        load_run(tmp_path / "gone")
    folder = write_run("run", [make_row("a")])
    (folder / "summary.json").unlink()
    with pytest.raises(DataError, match=r"summary\.json: cannot be read: .*the run did not finish"):
        load_run(folder)
    (folder / "summary.json").write_text('{"cases":\n {"scored": 1', encoding="utf-8")
    with pytest.raises(DataError, match=r"summary\.json:2: not JSON, cut off or malformed"):
        load_run(folder)
    (folder / "summary.json").write_text('{"note": "NaN",\n "x": NaN}', encoding="utf-8")
    with pytest.raises(DataError, match=r"summary\.json:2: NaN is not JSON"):
        load_run(folder)
    (folder / "summary.json").write_text('{"manifest": {"datasets": {}}}', encoding="utf-8")
    with pytest.raises(DataError, match=r"summary\.json: the manifest lacks variant, excluded"):
        load_run(folder)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"datasets": {"main": "another hash of it"}}, "'main' has content another hash against hash"),
        ({"datasets": {"main": "hash", "more": "x"}}, "'more' has content x against none"),
        ({"variant": "absent"}, "variant 'absent' against 'near-miss'"),
        ({"excluded": "hits whose id equals the question's"}, 'excluded "hits whose id'),
    ],
)
def test_runs_of_different_data_are_not_compared(
    make_row: MakeRow, write_run: WriteRun, changed: dict[str, Any], said: str
) -> None:
    first = load_run(write_run("first", [make_row("a")]))
    other = load_run(write_run("other", [make_row("a")], **changed))
    with pytest.raises(DataError, match=f"are runs of different data: {said}"):
        refuse_other_data(first, other)
    refuse_other_data(first, load_run(write_run("same", [make_row("a")], recipe="graph", profile="seed")))
