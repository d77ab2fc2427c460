"""The regression gate: a run held against a baseline, rule by rule, on the cases they share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.errors import DataError
from evals.aggregates import Row, figures_of
from evals.gate_rules import Rules
from evals.gate_verdicts import Sides, Verdict, verdict
from evals.row_reading import case_of
from evals.run_folder import Run, refuse_other_data

PASS, REGRESSION, MISUSE, INCONCLUSIVE = 0, 1, 2, 3
"""Exit codes."""
_SETTINGS = ("recipe", "profile", "fingerprint", "embedder", "levels")


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """The verdicts with what they are about. ``failed_cases`` broke in the run, ``shared`` were scored in both, and
    ``changes`` are settings that differ (baseline's, run's)."""

    run: str
    baseline: str
    rules: Rules
    verdicts: Sequence[Verdict]
    shared: int
    failed_cases: int
    changes: Mapping[str, tuple[Any, Any]]

    @property
    def exit_code(self) -> int:
        """0 all pass, 1 a regression, 3 open; ``inconclusive`` makes 0 or 1 of what is open."""
        statuses = {verdict.status for verdict in self.verdicts}
        if "regression" in statuses:
            return REGRESSION
        if "not enough evidence" in statuses:
            return {"exit 3": INCONCLUSIVE, "pass": PASS, "fail": REGRESSION}[self.rules.inconclusive]
        return PASS


def judge(run: Run, baseline: Run, rules: Rules, *, seed: int = 0) -> GateResult:
    """Every rule on the cases both runs scored.

    A rule passes only where its bound clears the margin, at ``rules.confidence``; it is a regression where the other
    bound lies beyond the margin, at a confidence raised for the number of rules (Bonferroni, at least two), so that a
    change of nothing is called one in at most 1 − confidence of all gates, however many rules they have. What lies
    between is open.

    Raises:
        DataError: other data, cases that only one run has, or a figure that one run lacks. UsageError: no such figure.
    """
    refuse_other_data(baseline, run)
    before, after = _matched(baseline, run)
    figures = figures_of([*baseline.rows, *run.rows])
    tails = (1 - rules.confidence, 1 - rules.regression_confidence)
    sides = Sides(before=before, after=after, failed=run.failures, figures=figures, tails=tails, seed=seed)
    verdicts = [verdict(check, sides, run.source) for check in rules.checks]
    return GateResult(
        run=run.source,
        baseline=baseline.source,
        rules=rules,
        verdicts=verdicts,
        shared=len(before),
        failed_cases=run.failures,
        changes={
            name: (baseline.manifest.get(name), run.manifest.get(name))
            for name in _SETTINGS
            if baseline.manifest.get(name) != run.manifest.get(name)
        },
    )


def _matched(baseline: Run, run: Run) -> tuple[list[Row], list[Row]]:
    """The rows of the cases both scored, side by side. What failed in either is counted, what is nowhere is refused."""
    old, new = baseline.by_case, run.by_case
    broken = baseline.failed | run.failed
    for one, other in ((baseline, run), (run, baseline)):
        lacking = {key for key in one.by_case.keys() - other.by_case.keys() if key[:2] not in broken}
        lacking |= {(*case, 0) for case in one.failed - other.failed - set(map(case_of, other.rows))}
        if lacking:
            dataset, case_id, repeat = min(lacking)
            again = f" (repeat {repeat})" if repeat else ""
            raise DataError(
                f"{other.source} lacks {len(lacking)} cases that {one.source} has, the first is {case_id!r} of "
                f"{dataset!r}{again}: evaluate the same cases (--split, --filter, --limit, --repeats), or update the "
                "baseline"
            )
    shared = sorted(old.keys() & new.keys())
    return [old[key] for key in shared], [new[key] for key in shared]
