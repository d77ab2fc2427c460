"""The pytest plugin, loaded by a pytest of its own as a user's would load it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals.baseline import update
from evals.run_folder import load_run

ROOT = Path(__file__).resolve().parents[2]
MakeRow = Callable[..., dict[str, Any]]
WriteRun = Callable[..., Path]
Outcome = tuple[int, str]


@pytest.fixture
def run_pytest(tmp_path: Path) -> Callable[..., Outcome]:
    """``run_pytest("--assay-gate", "gate.toml")``: exit code and output, in the test's folder."""

    def run(*arguments: str) -> Outcome:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "evals.pytest_gate",
            "-p",
            "no:cacheprovider",
            *arguments,
        ]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False
        )
        return done.returncode, done.stdout + done.stderr

    return run


@pytest.fixture
def gate(make_row: MakeRow, write_run: WriteRun, tmp_path: Path) -> Callable[[str], None]:
    """``gate(text)`` writes `gate.toml` beside a baseline and a run half of whose cases lost a little."""
    old = [make_row(f"c{n:02}", mrr=0.5) for n in range(40)]
    update(load_run(write_run("old", old)), tmp_path / "base.json")
    write_run("new", [{**row, "mrr": 0.5 + (-0.3, 0.2)[n % 2]} for n, row in enumerate(old)])

    def write(text: str) -> None:
        (tmp_path / "gate.toml").write_text(text, encoding="utf-8")

    return write


NAMED = 'run = "new"\nbaseline = "base.json"\n'


def test_each_rule_is_a_test(
    gate: Callable[[str], None], run_pytest: Callable[..., Outcome], tmp_path: Path
) -> None:
    gate(NAMED + "[rules]\nmrr = { max_drop = 0.06, min = 0.6 }\ncorrect = { max_drop = 0.0 }\n")
    (tmp_path / "test_own.py").write_text("def test_own():\n    pass\n", encoding="utf-8")
    code, said = run_pytest("--assay-gate", "gate.toml", "-v")
    assert code == 1
    assert "4 passed" not in said
    assert "3 passed, 2 failed" in said or "2 failed, 3 passed" in said
    assert "gate.toml::failures max = 0 PASSED" in said
    assert "gate.toml::correct max_drop = 0 PASSED" in said
    assert "gate.toml::mrr max_drop = 0.06 FAILED" in said
    assert "test_own.py::test_own PASSED" in said
    assert "mrr min = 0.6: regression: baseline 0.500, run 0.450" in said
    assert "not enough evidence: baseline 0.500, run 0.450" in said


def test_what_may_stay_open_is_skipped(
    gate: Callable[[str], None], run_pytest: Callable[..., Outcome]
) -> None:
    gate('inconclusive = "pass"\n' + NAMED + "[rules]\nmrr = { max_drop = 0.06 }\n")
    code, said = run_pytest("--assay-gate", "gate.toml", "-rs")
    assert code == 0
    assert "1 passed, 1 skipped" in said
    assert "not distinguishable from the limit (n = 40)" in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (NAMED + "[rules]\nmmr = { min = 1 }\n", "no figure 'mmr'"),
        ('run = "new"\n[rules]\nmrr = { min = 1 }\n', "name `run = ...` and `baseline = ...`"),
        ('run = "gone"\nbaseline = "base.json"\n[rules]\nmrr = { min = 1 }\n', "gone: no such folder"),
        ("[rules]\n", "no rules"),
    ],
)
def test_what_cannot_be_judged_is_an_error(
    gate: Callable[[str], None], run_pytest: Callable[..., Outcome], text: str, said: str
) -> None:
    gate(text)
    code, output = run_pytest("--assay-gate", "gate.toml")
    assert code == 2
    assert said in output
    assert "passed" not in output


def test_without_the_option_it_does_nothing(
    gate: Callable[[str], None], run_pytest: Callable[..., Outcome]
) -> None:
    gate(NAMED + "[rules]\nmrr = { max_drop = 0.06 }\n")
    assert run_pytest()[0] == 5  # no test was collected
    code, said = run_pytest("--assay-gate", "none.toml")
    assert code == 4
    assert "none.toml: no such file" in said
