"""What CI is given: JUnit that a parser reads, JSON without NaN, Markdown that survives odd names."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest

from evals import gate_report
from evals.gate import GateResult
from evals.gate_rules import Check, Rules
from evals.gate_verdicts import Verdict

DROP = Check(figure="mrr", kind="max_drop", limit=0.02)
TOP = Check(figure="false_answer_rate", kind="max", limit=0.1)


@pytest.fixture
def result() -> GateResult:
    """One rule passes, one is a regression, one is open."""
    verdicts = [
        Verdict(check=DROP, status="pass", reason="fine", baseline=0.5, run=0.51, low=-0.01, high=0.03, n=40),
        Verdict(
            check=DROP, status="regression", reason="low", baseline=0.5, run=0.4, low=-0.2, high=-0.05, n=40
        ),
        Verdict(
            check=TOP, status="not enough evidence", reason="a < b | c", run=0.05, high=0.2, n=21, needed=90
        ),
    ]
    return GateResult(
        run="out/\x1b[31m`a|b<c>`\x00", baseline="base.json", rules=Rules(checks=(DROP, DROP, TOP), source="gate.toml"),
        verdicts=verdicts, shared=40, failed_cases=0, changes={"recipe": ("brain", "graph")},
    )  # fmt: skip


def test_junit_has_a_test_case_a_rule(result: GateResult) -> None:
    suite = ElementTree.fromstring(gate_report.to_junit(result)).find("testsuite")
    assert suite is not None
    counts = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "3", "failures": "2", "errors": "0", "skipped": "0"}
    cases = suite.findall("testcase")
    assert [case.get("name") for case in cases] == [DROP.label, DROP.label, TOP.label]
    assert len(list(cases[0])) == 0
    failure = cases[1].find("failure")
    assert failure is not None
    assert failure.get("type") == "regression"
    assert "baseline 0.500, run 0.400, bounds -0.200 to -0.050: low" in str(failure.get("message"))


def test_what_may_stay_open_is_skipped(result: GateResult) -> None:
    lenient = replace(result, rules=replace(result.rules, inconclusive="pass"), verdicts=[result.verdicts[2]])
    suite = ElementTree.fromstring(gate_report.to_junit(lenient)).find("testsuite")
    assert suite is not None
    assert (suite.get("failures"), suite.get("skipped")) == ("0", "1")
    assert gate_report.outcome(lenient) == "passed, with rules for which there is not enough evidence"
    assert json.loads(gate_report.to_json(lenient))["exit_code"] == 0


def test_json_has_every_verdict(result: GateResult) -> None:
    body = json.loads(gate_report.to_json(result), parse_constant=pytest.fail)
    assert (body["exit_code"], body["outcome"], body["rules"]) == (1, "regression", "gate.toml")
    assert body["changes"] == {"recipe": {"baseline": "brain", "run": "graph"}}
    last: dict[str, Any] = body["verdicts"][2]
    assert last["rule"] == "false_answer_rate max = 0.1"
    assert (last["figure"], last["kind"], last["limit"]) == ("false_answer_rate", "max", 0.1)
    assert (last["baseline"], last["low"], last["high"], last["needed"]) == (None, None, 0.2, 90)


def test_markdown_is_one_line_a_rule_whatever_the_names(result: GateResult) -> None:
    text = gate_report.to_markdown(result)
    assert text.startswith("# Gate: regression\n")
    assert "\x1b" not in text
    assert "'a\\|b&lt;c>'" in text
    rows = [line for line in text.splitlines() if line.startswith(("| ✅", "| ❌", "| ❔"))]
    assert len(rows) == 3
    assert "| 0.500 | 0.400 | -0.100 | -0.200 to -0.050 | 40 | low |" in rows[1]
    assert "| – | 0.050 | – | −∞ to 0.200 | 21 | a &lt; b \\| c |" in rows[2]
    assert "- recipe: brain → graph" in text


@pytest.mark.parametrize(
    "write", [gate_report.error_junit, lambda run, said: gate_report.error_markdown(said)]
)
def test_data_that_cannot_be_judged_is_reported(write: Callable[[str, str], str]) -> None:
    said = "rows.jsonl:3: NaN is not JSON \x00 <&>"
    assert "NaN is not JSON" in write("out", said)


def test_data_that_cannot_be_judged_is_an_error_for_ci() -> None:
    suite = ElementTree.fromstring(gate_report.error_junit("out", "cut off \x00 <&>")).find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("errors")) == ("1", "1")
    body = json.loads(gate_report.error_json("out", "base.json", "cut off", 2))
    assert (body["exit_code"], body["outcome"], body["error"]) == (2, "bad data", "cut off")
