"""The rules of a regression gate, from a TOML file in which nothing unknown passes."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from core.errors import UsageError
from evals.aggregates import FIGURES
from evals.row_reading import read_text

Kind = Literal["max_drop", "max_rise", "max", "min"]
Inconclusive = Literal["exit 3", "pass", "fail"]
FAILURES = "failures"
_PAIRED: tuple[Kind, ...] = ("max_drop", "max_rise")
_ABSOLUTE: tuple[Kind, ...] = ("max", "min")
_SETTINGS = {"run", "baseline", "confidence", "inconclusive", "rules"}
_WRONG_WAY = {"max_drop": ("down", "max_rise"), "max_rise": ("up", "max_drop")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One limit of one figure. ``max_drop`` and ``max_rise`` are margins ≥ 0 on the difference to the baseline; ``max``
    and ``min`` hold for the run alone, by the interval's bound or, where ``point``, by the figure as it is."""

    figure: str
    kind: Kind
    limit: float
    point: bool = False

    @property
    def label(self) -> str:
        """The rule as it stands in the file."""
        return f"{self.figure} {self.kind} = {self.limit:g}{' (point)' if self.point else ''}"

    @property
    def paired(self) -> bool:
        """Whether it is about the difference to the baseline."""
        return self.kind in _PAIRED


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """``run`` and ``baseline`` are where the file says they lie (for the pytest plugin), relative to the file.
    ``confidence`` in (0.5, 1) is that of the one-sided bounds."""

    checks: tuple[Check, ...]
    source: str = "the default rules"
    run: Path | None = None
    baseline: Path | None = None
    confidence: float = 0.95
    inconclusive: Inconclusive = "exit 3"

    @property
    def regression_confidence(self) -> float:
        """That of the bound a regression is called by: raised for the number of rules (Bonferroni), at least two."""
        return 1 - (1 - self.confidence) / max(2, len(self.checks))


DEFAULT = Rules(
    checks=(
        Check(figure=FAILURES, kind="max", limit=0),
        Check(figure="ndcg@10", kind="max_drop", limit=0.02),
        Check(figure="citation_f1", kind="max_drop", limit=0.02),
        Check(figure="correct", kind="max_drop", limit=0.02),
        Check(figure="false_answer_rate", kind="max_rise", limit=0.02),
    )
)


def load_rules(path: Path) -> Rules:
    """The rules of a file. Without a rule on ``failures``, none may fail.

    Raises:
        UsageError: not TOML, an unknown key, a limit that is no number or the wrong way round; DataError: no such file.
    """
    try:
        document = tomllib.loads(read_text(path, "name the file of rules with --rules"))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: not valid TOML: {error}") from None
    unknown = sorted(document.keys() - _SETTINGS)
    if unknown:
        raise UsageError(
            f"{path}: unknown key {unknown[0]!r}; there are {', '.join(sorted(_SETTINGS))}, and figures stand in [rules]"
        )
    table = document.get("rules")
    if not isinstance(table, dict) or not table:
        raise UsageError(f"{path}: no rules; write e.g. [rules] with citation_f1 = {{ max_drop = 0.02 }}")
    checks = [check for name, rule in table.items() for check in _checks(name, rule, path)]
    if FAILURES not in table:
        checks.insert(0, DEFAULT.checks[0])
    return Rules(
        checks=tuple(checks),
        source=str(path),
        run=_place(document, "run", path),
        baseline=_place(document, "baseline", path),
        confidence=_confidence(document.get("confidence", DEFAULT.confidence), path),
        inconclusive=_inconclusive(document.get("inconclusive", DEFAULT.inconclusive), path),
    )


def _checks(name: str, rule: Any, path: Path) -> Iterator[Check]:
    where = f"{path}: {name}"
    kinds = _ABSOLUTE[:1] if name == FAILURES else (*_PAIRED, *_ABSOLUTE)
    allowed = {*kinds, *(() if name == FAILURES else ("point",))}
    if not isinstance(rule, dict) or not rule.keys() & set(kinds):
        raise UsageError(f"{where}: expected {{ {' or '.join(kinds)} = number }}, got {rule!r}")
    unknown = sorted(rule.keys() - allowed)
    if unknown:
        raise UsageError(f"{where}: unknown key {unknown[0]!r}; there are {', '.join(sorted(allowed))}")
    point = rule.get("point", False)
    if not isinstance(point, bool) or ("point" in rule and not rule.keys() & set(_ABSOLUTE)):
        raise UsageError(f"{where}: point is true or false and goes with max or min, got {point!r}")
    for kind in kinds:
        if kind in rule:
            yield _check(name, kind, rule[kind], where, point=point and kind in _ABSOLUTE)


def _check(name: str, kind: Kind, limit: Any, where: str, *, point: bool) -> Check:
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not math.isfinite(limit):
        raise UsageError(f"{where}: {kind} must be a finite number, got {limit!r}")
    if limit < 0 and (kind in _PAIRED or name == FAILURES):
        raise UsageError(f"{where}: {kind} must be 0 or more, got {limit!r}")
    figure = FIGURES.get(name)
    if figure and kind in _WRONG_WAY and figure.better == _WRONG_WAY[kind][0]:
        raise UsageError(
            f"{where}: {kind} would stop an improvement, since {name} is better {figure.better}; did you mean "
            f"{_WRONG_WAY[kind][1]}?"
        )
    return Check(figure=name, kind=kind, limit=float(limit), point=point)


def _place(document: Mapping[str, Any], name: str, path: Path) -> Path | None:
    value = document.get(name)
    if value is not None and (not isinstance(value, str) or not value):
        raise UsageError(f"{path}: {name} must be a path, got {value!r}")
    return None if value is None else path.parent / value


def _confidence(value: Any, path: Path) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.5 < value < 1:
        raise UsageError(f"{path}: confidence must lie between 0.5 and 1, got {value!r}")
    return float(value)


def _inconclusive(value: Any, path: Path) -> Inconclusive:
    if value not in ("pass", "fail", DEFAULT.inconclusive):
        raise UsageError(
            f"{path}: inconclusive must be 'pass' or 'fail' (or left out: exit code 3), got {value!r}"
        )
    return cast(Inconclusive, value)
