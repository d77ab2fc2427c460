"""What the gate found, for people (Markdown), programs (JSON) and CI (JUnit XML)."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any
from xml.etree import ElementTree

from core.render import printable
from evals.gate import PASS, GateResult
from evals.gate_verdicts import Verdict

_SIGN = {"pass": "✅", "regression": "❌", "not enough evidence": "❔"}
_HEADLINE = {0: "passed", 1: "regression", 3: "not enough evidence"}


def to_json(result: GateResult) -> str:
    """``exit_code``, ``outcome`` and each rule's verdict; figures unrounded, null where there is none."""
    body = {
        "exit_code": result.exit_code,
        "outcome": outcome(result),
        "run": result.run,
        "baseline": result.baseline,
        "rules": result.rules.source,
        "confidence": result.rules.confidence,
        "regression_confidence": result.rules.regression_confidence,
        "inconclusive": result.rules.inconclusive,
        "cases": {"shared": result.shared, "failed": result.failed_cases},
        "changes": {name: {"baseline": old, "run": new} for name, (old, new) in result.changes.items()},
        "verdicts": [_as_json(verdict) for verdict in result.verdicts],
    }
    return json.dumps(body, ensure_ascii=False, indent=2, allow_nan=False)


def to_markdown(result: GateResult) -> str:
    """A headline, one line a rule, and what else differs between the runs."""
    rules = result.rules
    lines = [
        f"# Gate: {outcome(result)}",
        "",
        f"{_plain(result.run)} against {_plain(result.baseline)} by {_plain(rules.source)}: {result.shared} cases in "
        f"both, {result.failed_cases} failed. A rule passes by its one-sided bound "
        f"at {rules.confidence:.4g}, and is a regression by the other, at {rules.regression_confidence:.4g}.",
        "",
        "| | rule | baseline | run | difference | bounds | n | why |",
        "|---|---|---|---|---|---|---|---|",
        *(_line(verdict) for verdict in result.verdicts),
        "",
        "Bounds are of the difference for `max_drop` and `max_rise`, of the run's own figure for `max` and `min`.",
    ]
    if result.changes:
        lines += ["", "What differs between the runs:", ""]
        lines += [f"- {name}: {_plain(old)} → {_plain(new)}" for name, (old, new) in result.changes.items()]
    return "\n".join(lines) + "\n"


def to_junit(result: GateResult) -> str:
    """One test case a rule. What is open is a failure, or skipped where the rules let it pass."""
    suite = _suite(result.run, len(result.verdicts))
    failures = skipped = 0
    for verdict in result.verdicts:
        case = _case(suite, verdict.check.label)
        if verdict.status == "pass":
            continue
        if verdict.status == "not enough evidence" and result.rules.inconclusive == "pass":
            skipped += 1
            ElementTree.SubElement(case, "skipped", message=printable(sentence(verdict)))
        else:
            failures += 1
            ElementTree.SubElement(case, "failure", type=verdict.status, message=printable(sentence(verdict)))
    suite.set("failures", str(failures))
    suite.set("skipped", str(skipped))
    return _xml(suite)


def error_junit(run: str, message: str) -> str:
    """A suite with one error, for data the gate could not judge: CI must not mistake it for an empty pass."""
    suite = _suite(run, 1)
    suite.set("errors", "1")
    ElementTree.SubElement(_case(suite, "the runs can be compared"), "error", message=printable(message))
    return _xml(suite)


def error_json(run: str, baseline: str, message: str, exit_code: int) -> str:
    """The JSON report of data the gate could not judge."""
    body = {"exit_code": exit_code, "outcome": "bad data", "run": run, "baseline": baseline, "error": message}
    return json.dumps(body, ensure_ascii=False, indent=2)


def error_markdown(message: str) -> str:
    """The Markdown report of data the gate could not judge."""
    return f"# Gate: bad data\n\n{_plain(message)}\n"


def outcome(result: GateResult) -> str:
    """In words; what is open is said even where it is let pass."""
    open_ = any(verdict.status == "not enough evidence" for verdict in result.verdicts)
    if result.exit_code == PASS and open_:
        return "passed, with rules for which there is not enough evidence"
    return _HEADLINE[result.exit_code]


def sentence(verdict: Verdict) -> str:
    """The verdict in one line: rule, figures, why."""
    figures = f"baseline {_number(verdict.baseline)}, run {_number(verdict.run)}, bounds {_bounds(verdict)}"
    return f"{verdict.check.label}: {verdict.status}: {figures}: {verdict.reason}"


def _as_json(verdict: Verdict) -> dict[str, Any]:
    fields = asdict(verdict)
    return {"rule": verdict.check.label, **fields.pop("check"), **fields}


def _line(verdict: Verdict) -> str:
    difference = None if verdict.run is None or verdict.baseline is None else verdict.run - verdict.baseline
    signed = "–" if difference is None else f"{difference:+z.3f}"
    return (
        f"| {_SIGN[verdict.status]} {verdict.status} | `{verdict.check.label}` | {_number(verdict.baseline)} | "
        f"{_number(verdict.run)} | {signed} | {_bounds(verdict)} | {verdict.n} | {_plain(verdict.reason)} |"
    )


def _bounds(verdict: Verdict) -> str:
    if verdict.low is None and verdict.high is None:
        return "–"
    sign = "+" if verdict.check.paired else ""
    low, high = (
        end if value is None else f"{value:{sign}z.3f}"
        for value, end in ((verdict.low, "−∞"), (verdict.high, "∞"))
    )
    return f"{low} to {high}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _plain(value: object) -> str:
    return printable(str(value)).replace("|", "\\|").replace("`", "'").replace("<", "&lt;")


def _suite(run: str, tests: int) -> ElementTree.Element:
    counts = {"tests": str(tests), "failures": "0", "errors": "0", "skipped": "0"}
    return ElementTree.Element("testsuite", {"name": printable(f"assay gate {run}"), **counts})


def _case(suite: ElementTree.Element, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(suite, "testcase", classname="assay.gate", name=printable(name))


def _xml(suite: ElementTree.Element) -> str:
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=False) + "\n"
