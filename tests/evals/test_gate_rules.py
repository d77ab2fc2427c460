"""Rules: what a file may say, and what it may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import AssayError, UsageError
from evals.gate_rules import DEFAULT, Check, load_rules


def written(folder: Path, text: str) -> Path:
    file = folder / "gate.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_file_of_rules(tmp_path: Path) -> None:
    rules = load_rules(
        written(
            tmp_path,
            """
            run = "out/brain"
            baseline = "../brain.json"
            confidence = 0.9
            inconclusive = "pass"
            [rules]
            citation_f1 = { max_drop = 0.02 }
            false_answer_rate = { max_rise = 0.01, max = 0.1, point = true }
            failures = { max = 2 }
            [rules."ndcg@10"]
            min = 0.5
            """,
        )
    )
    assert rules.checks == (
        Check(figure="citation_f1", kind="max_drop", limit=0.02),
        Check(figure="false_answer_rate", kind="max_rise", limit=0.01),
        Check(figure="false_answer_rate", kind="max", limit=0.1, point=True),
        Check(figure="failures", kind="max", limit=2),
        Check(figure="ndcg@10", kind="min", limit=0.5),
    )
    assert [check.label for check in rules.checks[1:3]] == [
        "false_answer_rate max_rise = 0.01", "false_answer_rate max = 0.1 (point)",
    ]  # fmt: skip
    assert (rules.run, rules.baseline) == (tmp_path / "out" / "brain", tmp_path / ".." / "brain.json")
    assert (rules.confidence, rules.inconclusive) == (0.9, "pass")


def test_no_case_may_fail_unless_it_is_said(tmp_path: Path) -> None:
    rules = load_rules(written(tmp_path, "[rules]\nmrr = { max_drop = 0 }"))
    assert rules.checks[0] == DEFAULT.checks[0] == Check(figure="failures", kind="max", limit=0)
    assert (rules.confidence, rules.inconclusive, rules.run) == (0.95, "exit 3", None)
    assert rules.regression_confidence == pytest.approx(0.975)
    assert DEFAULT.regression_confidence == pytest.approx(0.99)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no rules; write e.g."),
        ("rules = 3", "no rules; write e.g."),
        ("[rules]", "no rules; write e.g."),
        ("[rules", "not valid TOML"),
        ("[mrr]\nmax_drop = 0.1", r"unknown key 'mrr'; there are .*figures stand in \[rules\]"),
        ("[rules]\nmrr = 0.1", r"mrr: expected \{ max_drop or max_rise or max or min = number \}, got 0\.1"),
        ("[rules]\nmrr = {}", "mrr: expected"),
        ("[rules]\nmrr = { max_dorp = 1 }", "mrr: expected"),
        ("[rules]\nmrr = { max_drop = 0.1, mni = 1 }", "mrr: unknown key 'mni'; there are max, max_drop"),
        ("[rules]\nmrr = { max_drop = -0.1 }", r"max_drop must be 0 or more, got -0\.1"),
        ("[rules]\nmrr = { max_drop = nan }", "max_drop must be a finite number, got nan"),
        ("[rules]\nmrr = { min = inf }", "min must be a finite number, got inf"),
        ("[rules]\nmrr = { max_drop = true }", "max_drop must be a finite number, got True"),
        ("[rules]\nmrr = { max_drop = '2 %' }", "max_drop must be a finite number, got '2 %'"),
        ("[rules]\nmrr = { max_rise = 0.1 }", "max_rise would stop an improvement.*did you mean max_drop"),
        ("[rules]\nfalse_answer_rate = { max_drop = 0.1 }", "better down; did you mean max_rise"),
        (
            "[rules]\nmrr = { max_drop = 0.1, point = true }",
            "point is true or false and goes with max or min",
        ),
        ("[rules]\nmrr = { min = 0.1, point = 1 }", "point is true or false and goes with max or min, got 1"),
        ("[rules]\nfailures = { max_rise = 1 }", r"failures: expected \{ max = number \}"),
        ("[rules]\nfailures = { max = 1, point = true }", "failures: unknown key 'point'"),
        ("[rules]\nfailures = { max = -1 }", "max must be 0 or more"),
        ("confidence = 0.5\n[rules]\nmrr = { min = 0 }", r"confidence must lie between 0\.5 and 1, got 0\.5"),
        ("confidence = true\n[rules]\nmrr = { min = 0 }", "confidence must lie between"),
        ("inconclusive = 3\n[rules]\nmrr = { min = 0 }", "inconclusive must be 'pass' or 'fail'"),
        ("run = 3\n[rules]\nmrr = { min = 0 }", "run must be a path, got 3"),
        ("baseline = ''\n[rules]\nmrr = { min = 0 }", "baseline must be a path, got ''"),
    ],
)
def test_rules_that_cannot_be_meant_are_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=rf"gate\.toml.*{said}"):
        load_rules(written(tmp_path, text))


def test_coverage_may_be_held_either_way(tmp_path: Path) -> None:
    rules = load_rules(written(tmp_path, "[rules]\ncoverage = { max_drop = 0.1, max_rise = 0.2 }"))
    assert [check.kind for check in rules.checks] == ["max", "max_drop", "max_rise"]


def test_no_file_of_rules(tmp_path: Path) -> None:
    with pytest.raises(AssayError, match=r"none\.toml: cannot be read"):
        load_rules(tmp_path / "none.toml")
