"""The figures hold the tables' numbers, data in them is text, and the command writes what it says."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from core.errors import UsageError
from evals.curves import drawn, of_run
from evals.curves_cli import CurveName, Target, curves

MakeRow = Callable[..., dict[str, Any]]
WriteRun = Callable[..., Path]
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def rows(make_row: MakeRow) -> list[dict[str, Any]]:
    draw = np.random.default_rng(1)
    made = []
    for number in range(40):
        answerable = bool(draw.random() < 0.6)
        right = answerable and bool(draw.random() < 0.7)
        confidence = float(draw.random() + 0.3 * right)
        made.append(
            make_row(
                f"c{number}", answerable=answerable, would_be_right=right, confidence=confidence,
                confidence_space="cosine/test", abstained=confidence < 0.4, correct=right,
                why_unanswerable=None if answerable else HOSTILE,
            )
        )  # fmt: skip
    return made


def test_lines_hold_the_tables(rows: list[dict[str, Any]]) -> None:
    line, diamond = drawn.risk_coverage({"run": rows}).data
    table = of_run.risk_coverage(rows)
    np.testing.assert_allclose(line.x, table["coverage"])
    np.testing.assert_allclose(line.y, table["risk"])
    assert (diamond.x[0], diamond.y[0]) == (of_run.chosen(rows)["coverage"], of_run.chosen(rows)["risk"])
    chance, curve, _ = drawn.roc({"run": rows}).data
    assert list(chance.y) == [0, 1]
    np.testing.assert_allclose(curve.y[1:], of_run.answered(rows)["answered_answerable"])
    upper, lower = drawn.cuts(rows, "cosine/test").data
    np.testing.assert_allclose(lower.y, of_run.answered(rows)["answered_unanswerable"])
    assert upper.line.dash != lower.line.dash  # not by colour alone


def test_what_data_says_is_text(rows: list[dict[str, Any]]) -> None:
    for figure in (
        drawn.distributions(rows, HOSTILE),
        drawn.risk_coverage({HOSTILE: rows}),
        drawn.roc({HOSTILE: rows}),
        drawn.cuts(rows, HOSTILE),
    ):
        shown = figure.to_plotly_json()
        names = [each.get("name", "") for each in shown["data"]] + [str(shown["layout"])]
        assert not any("<img" in name for name in names)
        assert not any("<img" in str(each.get("hovertemplate", "")) for each in shown["data"])


def test_a_panel_a_threshold_with_its_value_now() -> None:
    table = pd.DataFrame(
        {
            "threshold": ["a"] * 3 + ["b"] * 2, "value": [0.0, 0.5, 1.0, 1.0, 2.0],
            "current": [False, True, False, True, False], "mrr": [0.1, 0.2, 0.3, 0.4, 0.5],
        }
    )  # fmt: skip
    figure = drawn.sensitivity(table, ["mrr"])
    first, second = figure.data
    assert (list(first.y), list(second.y)) == ([0.1, 0.2, 0.3], [0.4, 0.5])
    assert [shape.x0 for shape in figure.layout.shapes] == [0.5, 1.0]
    assert [title.text for title in figure.layout.annotations] == ["a", "b"]


def test_a_heat_map_with_where_it_stands() -> None:
    table = pd.DataFrame(
        [[1.0, 2.0], [3.0, 4.0]], index=pd.Index([0.1, 0.2], name="a"), columns=pd.Index([5, 6], name="b")
    )
    heat, cross = drawn.interaction(table, "mrr", (0.2, 5)).data
    np.testing.assert_allclose(heat.z, table.to_numpy())
    assert (cross.x[0], cross.y[0]) == (5, 0.2)


def test_a_line_a_kind_over_the_cut() -> None:
    table = pd.DataFrame(
        {
            "threshold": "floor.min_score", "value": [0.0, 0.4] * 3, "current": [False, True] * 3,
            "kind": ["answerable"] * 2 + ["all unanswerable"] * 2 + [HOSTILE] * 2, "n": [5] * 2 + [7] * 4,
            "answered": [1.0, 0.8, 0.9, 0.2, 0.6, 0.1],
        }
    )  # fmt: skip
    figure = drawn.cut(table)
    assert [list(line.y) for line in figure.data] == [[1.0, 0.8], [0.9, 0.2], [0.6, 0.1]]
    assert figure.data[0].name == "answerable (n = 5)"
    assert "<img" not in figure.data[2].name + figure.data[2].hovertemplate
    assert [shape.x0 for shape in figure.layout.shapes] == [0.4]
    assert len({line.line.dash for line in figure.data}) == 3  # not by colour alone


def test_every_curve_has_a_caption() -> None:
    assert set(drawn.CAPTIONS) == {*(name.value for name in CurveName), "sensitivity", "interaction", "cut"}


def test_the_command_writes_tables_and_pages(
    rows: list[dict[str, Any]], write_run: WriteRun, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [write_run(name, rows) for name in ("before", "after")]
    out = tmp_path / "curves"
    curves(runs, out, to=[Target.csv, Target.json, Target.html])
    said = capsys.readouterr().out.split()
    assert sorted(said) == sorted(str(path) for path in out.iterdir())
    table = pd.read_csv(out / "risk-coverage.csv")
    assert list(table["run"].unique()) == ["before", "after"]
    np.testing.assert_allclose(table.loc[table["run"] == "after", "risk"], of_run.risk_coverage(rows)["risk"])
    assert {"cuts-1.csv", "cuts-2.csv", "distributions-2.html"} <= {path.name for path in out.iterdir()}
    assert len(json.loads((out / "roc.json").read_text())) == len(pd.read_csv(out / "roc.csv"))
    page = (out / "distributions-1.html").read_text(encoding="utf-8")
    assert "Where the shapes overlap" in page
    assert HOSTILE not in page
    assert 'src="http' not in page  # nothing is loaded from elsewhere


def test_a_folder_that_can_be_none_is_refused(
    rows: list[dict[str, Any]], write_run: WriteRun, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"no folder for curves: .*; choose another --out"):
        curves([write_run("a", rows)], tmp_path / "file" / "x")


@pytest.mark.browser
@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_picture_is_a_picture(rows: list[dict[str, Any]], write_run: WriteRun, tmp_path: Path) -> None:
    curves([write_run("a", rows)], tmp_path / "out", figure=[CurveName.roc], to=[Target.png])
    (path,) = (tmp_path / "out").iterdir()
    body = path.read_bytes()
    assert body.startswith(b"\x89PNG\r\n")
    assert int.from_bytes(body[16:20]) == 2000  # 1,000 points wide, at twice the density
