"""Figures of whole runs by hand: model answers, calibration, kinds of unanswerable cases, and the two extremes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from evals import figures
from evals.metrics.decision import HEADLINE
from evals.scoring import PER_CASE, detailed, summarised

Row = dict[str, Any]


def row_of(number: int, *, answerable: bool | None, abstained: bool, right: bool | None, **more: Any) -> Row:
    """A row as ``scored`` makes it; ``right``: answering would be."""
    correct = None if right is None else (right and not abstained if answerable else abstained)
    return {
        "case_id": str(number), "dataset": "main", "cluster": str(number), "answerable": answerable,
        "why_unanswerable": None, "gold_answers": [], "confidence": None, "confidence_space": "cosine/bag",
        "abstained": abstained, "writer": "deterministic", "correct": correct, "would_be_right": right,
        "metric_errors": {}, **dict.fromkeys(PER_CASE), **more,
    }  # fmt: skip


def test_decisions_by_hand() -> None:
    rows = [
        row_of(0, answerable=True, abstained=False, right=True),
        row_of(1, answerable=True, abstained=False, right=False),
        row_of(2, answerable=True, abstained=True, right=True),
        row_of(3, answerable=False, abstained=True, right=False),
        row_of(4, answerable=False, abstained=False, right=False),
        row_of(5, answerable=None, abstained=True, right=None),
        row_of(6, answerable=True, abstained=True, right=None),  # no gold to judge by
    ]
    told = {
        name: (each.value, each.n, each.missing) for name, each in figures.decisions(rows, seed=0).items()
    }
    assert told["balanced_correct"] == (pytest.approx((1 / 3 + 1 / 2) / 2), 5, 2)
    assert told["g_mean"] == (pytest.approx((1 / 3 * 1 / 2) ** 0.5), 5, 2)
    assert told["reliability"] == (pytest.approx((0 / 3 - 1 / 2) / 2), 5, 2)
    assert told["false_answer_rate"] == (1 / 2, 2, 1)
    assert told["answered_unanswerable"] == (1 / 2, 2, 0)
    assert told["over_refusal_rate"] == (1 / 2, 4, 1)
    assert told["abstention_precision"] == (pytest.approx(1 / 3), 3, 1)
    assert told["abstention_recall"] == (1 / 2, 2, 1)
    assert told["abstention_f1"] == (pytest.approx(2 / 5), 6, 1)
    assert told["decision_f1"] == (pytest.approx((2 / 5 + 2 * 2 / (4 + 3)) / 2), 6, 1)
    assert told["balanced_accuracy"] == (1 / 2, 6, 1)


def clapnq_like(random: np.random.Generator, cut: float) -> list[Row]:
    """300 and 300 cases; scores as far apart as near misses are (AUROC about 0.88), three answers in four right."""
    rows = []
    for number in range(600):
        answerable = number < 300
        score = float(random.normal(1.66 if answerable else 0.0))
        right = answerable and bool(random.random() < 0.75)
        rows.append(
            row_of(number, answerable=answerable, abstained=score < cut, right=right, confidence=score)
        )
    return rows


def test_no_headline_can_be_had_without_looking() -> None:
    runs = {cut: clapnq_like(np.random.default_rng(5), cut) for cut in (float("inf"), float("-inf"), 0.8)}
    always, never, tuned = (figures.headline(rows, seed=0) for rows in runs.values())
    for name in HEADLINE:
        best = max(value for value in (always[name].value, never[name].value) if value is not None)
        assert tuned[name].low is not None
        assert tuned[name].low > best + 0.05, name
    # what is said beside a run is what such runs have
    beside = figures.extremes(runs[0.8])
    for name in HEADLINE:
        assert beside[name].abstaining == pytest.approx(always[name].value)
        assert beside[name].answering == pytest.approx(never[name].value)
    assert beside["correct"].abstaining == 1 / 2


def test_extremes_of_one_kind_are_no_numbers() -> None:
    rows = [row_of(0, answerable=True, abstained=False, right=True)]
    assert figures.extremes(rows)["g_mean"] == figures.Extremes(abstaining=None, answering=None)
    assert figures.extremes([])["correct"] == figures.Extremes(abstaining=None, answering=None)
    assert figures.headline(rows, seed=0)["g_mean"].value is None


@pytest.mark.parametrize(
    ("space", "brier", "missing"), [("probability/gate", (0.1**2 + 0.6**2) / 2, 3), ("cosine/bag", None, 5)]
)
def test_only_a_probability_is_calibrated(space: str, brier: float | None, missing: int) -> None:
    rows = [
        row_of(0, answerable=True, abstained=False, right=True, confidence=0.9, confidence_space=space),
        row_of(1, answerable=False, abstained=False, right=False, confidence=0.6, confidence_space=space),
        row_of(2, answerable=None, abstained=False, right=None, confidence=0.7, confidence_space=space),
        row_of(3, answerable=True, abstained=True, right=False, confidence=None, confidence_space=space),
        row_of(4, answerable=True, abstained=True, right=False, confidence=0.3),
    ]
    told = figures.of_confidence(rows, seed=0)
    assert told["brier"].value == (None if brier is None else pytest.approx(brier))
    assert told["brier"].missing == told["calibration_error"].missing == missing


def test_an_abstention_is_the_empty_answer_where_a_model_writes() -> None:
    rows = [
        row_of(0, answerable=True, abstained=False, right=True, writer="m", gold_answers=["a"], exact_match=1.0,
               token_f1=0.5, rouge_l=0.5, contains_gold=1.0),
        row_of(1, answerable=True, abstained=True, right=True, gold_answers=["a"]),
        row_of(2, answerable=False, abstained=True, right=False),
        row_of(3, answerable=True, abstained=True, right=True),  # without a gold answer
        row_of(4, answerable=None, abstained=True, right=None, gold_answers=["a"]),
    ]  # fmt: skip
    told = {name: (each.value, each.n) for name, each in figures.of_model(rows, seed=0).items()}
    assert told["exact_match"] == (pytest.approx(2 / 3), 3)
    assert told["token_f1"] == (pytest.approx(1.5 / 3), 3)
    assert told["rouge_l"] == (0.25, 2)
    assert told["contains_gold"] == (0.5, 2)
    quoting = [row | {"writer": "deterministic"} for row in rows[1:]]
    assert all(figures.of_model(quoting, seed=0)[name].value is None for name in ("exact_match", "rouge_l"))


def test_kinds_of_unanswerable_stand_apart() -> None:
    rows = [
        row_of(0, answerable=True, abstained=False, right=True, confidence=0.9),
        row_of(1, answerable=True, abstained=True, right=True, confidence=0.4),
        row_of(2, answerable=False, abstained=False, right=False, confidence=0.5, why_unanswerable="swapped"),
        row_of(3, answerable=False, abstained=True, right=False, confidence=0.1, why_unanswerable="absent"),
        row_of(4, answerable=False, abstained=True, right=False, confidence=0.3, why_unanswerable="absent"),
        row_of(5, answerable=False, abstained=True, right=False, confidence=None),
        row_of(6, answerable=None, abstained=True, right=None, why_unanswerable="hidden"),
    ]
    kinds = figures.by_kind(rows, seed=0)
    assert list(kinds) == ["absent", "not stated", "swapped"]
    assert [kinds[kind]["answered"].value for kind in kinds] == [0, 0, 1]
    assert [kinds[kind]["answered"].n for kind in kinds] == [2, 1, 1]
    assert [kinds[kind]["auroc"].value for kind in kinds] == [1, 1, 1 / 2]
    assert kinds["absent"]["balanced_correct"].value == pytest.approx((1 / 2 + 1) / 2)
    assert kinds["swapped"]["balanced_correct"].value == pytest.approx((1 / 2 + 0) / 2)
    assert figures.by_kind(rows[:2], seed=0) == {}


def test_no_row_at_all() -> None:
    told = summarised([], seed=0)
    assert all((each.value, each.n, each.missing) == (None, 0, 0) for each in told.values())
    assert detailed([], seed=0).by_kind == {}
