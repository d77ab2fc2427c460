"""From rows to figures with intervals: what was decided, what confidence is worth, what a model wrote; also by kind."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.answer.write import WRITER
from evals.metrics import abstention, calibration, decision
from evals.metrics.abstention import Flags, Floats
from evals.stats import Estimate, estimate, mean

Rows = Sequence[Mapping[str, Any]]
RISK, COVERAGE = 0.1, 0.8
"""Where the risk-coverage curve is read off."""
COUNTING_ABSTENTION = ("exact_match", "token_f1")
OF_TEXT = ("rouge_l", "contains_gold")
OF_SENTENCES = ("support", "unsupported_sentence_rate", "invalid_citation_rate")
_DECIDED: Mapping[str, tuple[Callable[[Flags, Flags], float], Callable[[Mapping[str, Any]], bool]]] = {
    "false_answer_rate": (decision.false_answer_rate, lambda row: not row["answerable"]),
    "over_refusal_rate": (decision.over_refusal_rate, lambda row: bool(row["answerable"])),
    "balanced_accuracy": (decision.balanced_accuracy, lambda row: True),
    "abstention_precision": (decision.abstention_precision, lambda row: bool(row["abstained"])),
    "abstention_recall": (decision.abstention_recall, lambda row: not row["answerable"]),
    "abstention_f1": (decision.abstention_f1, lambda row: True),
}
"""Figures of what was decided, and which cases of known kind enter them."""
_JUDGED: Mapping[str, Callable[[Flags, Flags, Flags], float]] = {
    "balanced_correct": lambda answerable, abstained, correct: decision.balanced_correct(answerable, correct),
    "decision_f1": lambda answerable, abstained, correct: decision.decision_f1(answerable, abstained),
    "g_mean": lambda answerable, abstained, correct: decision.g_mean(answerable, correct),
    "reliability": decision.reliability,
    "correct": lambda answerable, abstained, correct: float(correct.mean()) if len(correct) else math.nan,
}
"""Figures of answerable, abstained and correct."""
_RISK: Mapping[str, Callable[[Floats, Flags], float]] = {
    "aurc": abstention.aurc,
    "e_aurc": abstention.e_aurc,
    f"coverage@risk{RISK}": lambda confidence, wrong: abstention.coverage_at_risk(confidence, wrong, RISK),
    f"risk@coverage{COVERAGE}": lambda confidence, wrong: abstention.risk_at_coverage(
        confidence, wrong, COVERAGE
    ),
}
_CALIBRATION: Mapping[str, Callable[[Floats, Flags], float]] = {
    "brier": calibration.brier,
    "calibration_error": calibration.calibration_error,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Extremes:
    """What a figure would be had everything been abstained from, or everything been answered; None where it has none."""

    abstaining: float | None
    answering: float | None


def mean_of(rows: Rows, name: str, *, seed: int) -> Estimate:
    """The mean of what the rows say under ``name``; null is missing."""
    return mean(_numbers(rows, name), _clusters(rows), seed=seed)


def decisions(rows: Rows, *, seed: int) -> dict[str, Estimate]:
    """``decision.HEADLINE`` first, then what they are made of."""
    return {
        **headline(rows, seed=seed),
        "correct": mean_of(rows, "correct", seed=seed),
        "reliability": _of_judgement("reliability", rows, seed=seed),
        "coverage": _answered(rows, seed=seed),
        "selective_risk": _selective_risk(rows, seed=seed),
        "answered_answerable": _answered([row for row in rows if row["answerable"] is True], seed=seed),
        "answered_unanswerable": _answered([row for row in rows if row["answerable"] is False], seed=seed),
        **{name: _of_decision(*figure, rows, seed=seed) for name, figure in _DECIDED.items()},
    }


def headline(rows: Rows, *, seed: int) -> dict[str, Estimate]:
    """The figures a system may be ranked by, see ``decision``."""
    return {name: _of_judgement(name, rows, seed=seed) for name in decision.HEADLINE}


def of_confidence(rows: Rows, *, seed: int) -> dict[str, Estimate]:
    """Figures of the order of confidence, at any cut, and of its calibration where it is a probability."""
    judged = [row for row in rows if row["would_be_right"] is not None]
    said = [row for row in judged if is_probability(row)]
    return {
        "auroc": _auroc(rows, seed=seed),
        **{
            name: _of_wrong(figure, judged, len(rows) - len(judged), seed=seed)
            for name, figure in _RISK.items()
        },
        **{
            name: _of_arrays(figure, said, "would_be_right", missing=len(rows) - len(said), seed=seed)
            for name, figure in _CALIBRATION.items()
        },
    }


def of_model(rows: Rows, *, seed: int) -> dict[str, Estimate]:
    """Figures of answers that a model wrote. In a run in which one wrote any answer, an abstention is the empty answer:
    right of an unanswerable case, wrong of one that has gold answers. Otherwise there is nothing to judge."""
    wrote = model_wrote(rows)
    counted = {
        name: [or_silence(row, name) if wrote else math.nan for row in rows]
        for name in (*COUNTING_ABSTENTION, *OF_TEXT)
    }
    return {
        **{name: mean(values, _clusters(rows), seed=seed) for name, values in counted.items()},
        **{name: mean_of(rows, name, seed=seed) for name in OF_SENTENCES},
    }


def by_kind(rows: Rows, *, seed: int) -> dict[str, dict[str, Estimate]]:
    """For each kind of unanswerable case, by name, the figures of its cases beside all answerable ones.

    The kind is the tag ``kind`` where cases carry one (then ``why_unanswerable`` may be a sentence), else
    ``why_unanswerable``. ``answered`` is the share of the kind that was answered (false answers), the others are as for
    all.
    """
    answerable = [row for row in rows if row["answerable"] is True]
    kinds: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["answerable"] is False:
            kind = (row.get("tags") or {}).get("kind") or row.get("why_unanswerable") or "not stated"
            kinds.setdefault(kind, []).append(row)
    return {
        kind: {
            "answered": _answered(of_kind, seed=seed),
            **headline([*answerable, *of_kind], seed=seed),
            "auroc": _auroc([*answerable, *of_kind], seed=seed),
        }
        for kind, of_kind in sorted(kinds.items())
    }


def extremes(rows: Rows) -> dict[str, Extremes]:
    """What the headline figures and ``correct`` would be for two who do not look, on the same cases."""
    cases = [row for row in rows if row["answerable"] is not None and row["would_be_right"] is not None]
    answerable, right = _flags(cases, "answerable"), _flags(cases, "would_be_right")
    never = np.zeros(len(cases), dtype=bool)
    return {
        name: Extremes(
            abstaining=_number(_JUDGED[name](answerable, ~never, ~answerable)),
            answering=_number(_JUDGED[name](answerable, never, right)),
        )
        for name in (*decision.HEADLINE, "correct")
    }


def _of_judgement(name: str, rows: Rows, *, seed: int) -> Estimate:
    needed = "answerable" if name == "decision_f1" else "correct"
    cases = [row for row in rows if row["answerable"] is not None and row[needed] is not None]
    answerable, abstained = _flags(cases, "answerable"), _flags(cases, "abstained")
    correct = _flags(cases, "correct")
    return estimate(
        lambda at: _JUDGED[name](answerable[at], abstained[at], correct[at]),
        _clusters(cases),
        missing=len(rows) - len(cases),
        seed=seed,
    )


def _of_decision(
    figure: Callable[[Flags, Flags], float],
    enters: Callable[[Mapping[str, Any]], bool],
    rows: Rows,
    *,
    seed: int,
) -> Estimate:
    known = [row for row in rows if row["answerable"] is not None]
    cases = [row for row in known if enters(row)]
    answerable, abstained = _flags(cases, "answerable"), _flags(cases, "abstained")
    return estimate(
        lambda at: figure(answerable[at], abstained[at]),
        _clusters(cases),
        missing=len(rows) - len(known),
        seed=seed,
    )


def _auroc(rows: Rows, *, seed: int) -> Estimate:
    known = [row for row in rows if row["answerable"] is not None]
    return _of_arrays(abstention.auroc, known, "answerable", missing=len(rows) - len(known), seed=seed)


def _of_arrays(
    figure: Callable[[Floats, Flags], float], rows: Rows, flag: str, *, missing: int, seed: int
) -> Estimate:
    confidence = abstention.ordered_confidence([row["confidence"] for row in rows])
    flags = _flags(rows, flag)
    return estimate(lambda at: figure(confidence[at], flags[at]), _clusters(rows), missing=missing, seed=seed)


def _of_wrong(figure: Callable[[Floats, Flags], float], rows: Rows, missing: int, *, seed: int) -> Estimate:
    return _of_arrays(
        lambda confidence, right: figure(confidence, ~right),
        rows,
        "would_be_right",
        missing=missing,
        seed=seed,
    )


def _selective_risk(rows: Rows, *, seed: int) -> Estimate:
    answered = [row for row in rows if not row["abstained"]]
    return mean([1 - right for right in _numbers(answered, "correct")], _clusters(answered), seed=seed)


def _answered(rows: Rows, *, seed: int) -> Estimate:
    return mean([float(not row["abstained"]) for row in rows], _clusters(rows), seed=seed)


def model_wrote(rows: Rows) -> bool:
    """Whether a model wrote any answer of the run."""
    return any(not row["abstained"] and row.get("writer", WRITER) != WRITER for row in rows)


def or_silence(row: Mapping[str, Any], name: str) -> float:
    """The row's figure; of an abstention that no model decided, what saying nothing has."""
    if row.get(name) is not None:
        return float(row[name])
    if not row["abstained"] or row["answerable"] is None:
        return math.nan
    if not row["answerable"]:
        return 1.0 if name in COUNTING_ABSTENTION else math.nan
    return 0.0 if row.get("gold_answers") else math.nan


def is_probability(row: Mapping[str, Any]) -> bool:
    """Whether the row's confidence claims to be a probability."""
    return calibration.is_probability(row.get("confidence_space")) and row["confidence"] is not None


def _numbers(rows: Rows, name: str) -> list[float]:
    return [math.nan if row.get(name) is None else float(row[name]) for row in rows]


def _flags(rows: Rows, name: str) -> Flags:
    return np.array([bool(row[name]) for row in rows], dtype=bool)


def _clusters(rows: Rows) -> list[str]:
    return [row["cluster"] for row in rows]


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
