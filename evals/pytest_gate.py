"""A pytest plugin: ``pytest --assay-gate gate.toml`` makes each rule of the file a test.

The file names what is compared, relative to itself: ``run = "out/brain"`` and ``baseline = "baselines/brain.json"``.
A rule that the cases cannot settle fails, unless the file says ``inconclusive = "pass"``: then it is skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from evals.gate import GateResult
    from evals.gate_verdicts import Verdict


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds ``--assay-gate``."""
    parser.getgroup("assay").addoption(
        "--assay-gate",
        action="append",
        default=[],
        metavar="GATE.toml",
        help="hold the run this file names against its baseline, each rule a test; repeatable",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Has the files of rules collected beside whatever else is."""
    for path in _files(config):
        if not path.is_file():
            raise pytest.UsageError(f"--assay-gate {path}: no such file")
        if str(path) not in config.args:
            config.args.append(str(path))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """The rules of a file named by ``--assay-gate``; other files are not ours."""
    if file_path in _files(parent.config):
        collector: pytest.Collector = GateFile.from_parent(parent, path=file_path)
        return collector
    return None


class GateFile(pytest.File):
    """A file of rules, judged once when it is collected."""

    def collect(self) -> Iterator[pytest.Item]:
        """A test a rule. Data that cannot be compared is an error of the collection: nothing passes."""
        from core.errors import AssayError

        try:
            result = self._judged()
        except AssayError as error:
            raise self.CollectError(str(error)) from error
        for verdict in result.verdicts:
            yield RuleTest.from_parent(self, name=verdict.check.label, verdict=verdict, result=result)

    def _judged(self) -> GateResult:
        from evals.baseline import load_baseline
        from evals.gate import judge
        from evals.gate_rules import load_rules
        from evals.run_folder import load_run

        rules = load_rules(self.path)
        if rules.run is None or rules.baseline is None:
            raise self.CollectError(
                f"{self.path}: name `run = ...` and `baseline = ...`, relative to the file"
            )
        return judge(load_run(rules.run), load_baseline(rules.baseline), rules)


class RuleTest(pytest.Item):
    """One rule."""

    def __init__(self, *, verdict: Verdict, result: GateResult, **rest: Any) -> None:
        super().__init__(**rest)
        self.verdict = verdict
        self.result = result

    def runtest(self) -> None:
        """Passes, fails or, where what is open may pass, is skipped with the reason."""
        from evals.gate_report import sentence

        if self.verdict.status == "pass":
            return
        if self.verdict.status == "not enough evidence" and self.result.rules.inconclusive == "pass":
            pytest.skip(sentence(self.verdict))
        pytest.fail(sentence(self.verdict), pytrace=False)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Where the rule stands."""
        return self.path, None, f"{self.path.name}: {self.name}"


def _files(config: pytest.Config) -> list[Path]:
    named: list[str] = config.getoption("--assay-gate")
    return [(config.invocation_params.dir / name).resolve() for name in named]
