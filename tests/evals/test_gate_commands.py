"""`assay compare`, `assay gate` and `assay baseline update` as processes: exit codes, files, refusals."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parents[2]
Assay = Callable[..., "subprocess.CompletedProcess[str]"]
MakeRow = Callable[..., dict[str, Any]]
WriteRun = Callable[..., Path]


@pytest.fixture
def assay(tmp_path: Path) -> Assay:
    """``assay("gate", "out")`` in the test's folder; ``summary`` is where GitHub would have a step's page."""

    def run(*arguments: object, summary: Path | None = None) -> subprocess.CompletedProcess[str]:
        environment = {key: value for key, value in os.environ.items() if key != "GITHUB_STEP_SUMMARY"}
        environment |= {"PYTHONPATH": str(ROOT)} | ({"GITHUB_STEP_SUMMARY": str(summary)} if summary else {})
        command = [sys.executable, "-c", "from workbench.cli import main; main()", *map(str, arguments)]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False
        )

    return run


@pytest.fixture
def runs(make_row: MakeRow, write_run: WriteRun, tmp_path: Path) -> None:
    """Folders `old`, `worse` (a quarter of the cases lost everything) and `noisy`, and rules."""
    kinds = ("even", "odd")
    old = [
        make_row(f"c{n:03}", mrr=0.8, ranking=["d1", "d2"], tags={"kind": kinds[n % 2]}) for n in range(80)
    ]
    lost = {"mrr": 0.0, "ranking": ["d2", "d3"]}
    write_run("old", old)
    write_run("worse", [{**row, **lost} if n % 4 == 0 else row for n, row in enumerate(old)])
    write_run("noisy", [{**row, "mrr": 0.8 + (-1) ** (n // 2) * 0.2} for n, row in enumerate(old)])
    rules = 'baseline = "base.json"\n[rules]\nmrr = { max_drop = 0.02 }\n'
    (tmp_path / "gate.toml").write_text(rules, encoding="utf-8")


@pytest.mark.usefixtures("runs")
def test_from_a_run_to_a_baseline_to_a_gate(assay: Assay, tmp_path: Path) -> None:
    done = assay("baseline", "update", "old", "--out", "base.json")
    assert (done.returncode, done.stdout) == (0, "base.json: baseline of 80 cases\n"), done.stderr
    first = (tmp_path / "base.json").read_bytes()
    assert assay("baseline", "update", "old", "--out", "base.json").returncode == 0
    assert (tmp_path / "base.json").read_bytes() == first
    for run, code, outcome in (
        ("old", 0, "passed"),
        ("worse", 1, "regression"),
        ("noisy", 3, "not enough evidence"),
    ):
        done = assay(
            "gate", run, "--rules", "gate.toml", "--junit", "ci/junit.xml", "--json", "ci/gate.json",
            "--markdown", "ci/gate.md", summary=tmp_path / "step.md",
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        assert done.stderr == ""
        text = (tmp_path / "ci" / "gate.md").read_text(encoding="utf-8")
        assert done.stdout.strip() == text.strip()
        assert text.startswith(f"# Gate: {outcome}\n")
        body = json.loads((tmp_path / "ci" / "gate.json").read_text(encoding="utf-8"))
        assert (body["exit_code"], body["outcome"]) == (code, outcome)
        root = ElementTree.parse(tmp_path / "ci" / "junit.xml").getroot()
        assert len(root.findall(".//failure")) == (0 if code == 0 else 1)
    steps = (tmp_path / "step.md").read_text(encoding="utf-8")
    assert [line for line in steps.splitlines() if line.startswith("# ")] == [
        "# Gate: passed", "# Gate: regression", "# Gate: not enough evidence",
    ]  # fmt: skip
    for choice, code in (("pass", 0), ("fail", 1)):
        done = assay("gate", "noisy", "--rules", "gate.toml", "--inconclusive", choice, "--format", "json")
        assert (done.returncode, json.loads(done.stdout)["exit_code"]) == (code, code)


@pytest.mark.usefixtures("runs")
def test_bad_data_is_exit_2_and_an_error_in_every_report(assay: Assay, tmp_path: Path) -> None:
    assert assay("baseline", "update", "old", "--out", "base.json").returncode == 0
    rows = tmp_path / "worse" / "rows.jsonl"
    rows.write_text(rows.read_text(encoding="utf-8").replace("0.8", "NaN", 1), encoding="utf-8")
    done = assay(
        "gate", "worse", "--rules", "gate.toml", "--junit", "junit.xml", "--json", "gate.json", "--markdown", "gate.md",
        summary=tmp_path / "step.md",
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: worse/rows.jsonl:2: NaN is not JSON")
    assert len(ElementTree.parse(tmp_path / "junit.xml").getroot().findall(".//error")) == 1
    assert json.loads((tmp_path / "gate.json").read_text(encoding="utf-8"))["outcome"] == "bad data"
    for page in ("gate.md", "step.md"):
        assert "rows.jsonl:2" in (tmp_path / page).read_text(encoding="utf-8")


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("gate", "old"), "no baseline: give --baseline FILE"),
        (("gate", "old", "--rules", "gate.toml"), "base.json: cannot be read: .*make it with `assay baseline update"),
        (("gate", "gone", "--baseline", "base.json"), "gone: no such folder"),
        (("gate", "old", "--rules", "none.toml"), "none.toml: cannot be read"),
        (("gate", "old", "--inconclusive", "maybe"), "'maybe' is not one of"),
        (("baseline", "update", "gone", "--out", "base.json"), "gone: no such folder"),
        (("compare", "old", "gone"), "gone: no such folder of a run, and no such baseline"),
        (("compare", "old", "worse", "--figure", "mmr"), "no figure 'mmr' in these runs"),
    ],
)  # fmt: skip
def test_misuse_is_one_line_and_exit_2(assay: Assay, arguments: tuple[str, ...], said: str) -> None:
    done = assay(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert re.search(said, line), line


@pytest.mark.usefixtures("runs")
def test_compare_prints_markdown_and_json(assay: Assay) -> None:
    done = assay("compare", "old", "worse", "--figure", "mrr", "--cases", 2)
    assert done.returncode == 0, done.stderr
    assert "| mrr | 0.800 | 0.600 | -0.200 |" in done.stdout
    assert "## mrr: 0 wins, 20 losses" in done.stdout
    assert "- lost 18 more: --cases, or --format json" in done.stdout
    body = json.loads(assay("compare", "old", "worse", "--figure", "mrr", "--format", "json").stdout)
    assert body["figures"]["mrr"]["finding"] == "worse"
    assert len(body["by_case"]["mrr"]) == len(body["rankings"]) == 20
    assert body["by_tag"]["kind=odd"]["mrr"]["difference"] == 0
