"""Curves of a run as tables: by hand, against scikit-learn, and at their ends."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import auc, roc_curve

from evals.curves import of_run
from evals.metrics.abstention import auroc

MakeRow = Callable[..., dict[str, Any]]
ROWS = [
    {"case_id": "a", "answerable": True, "would_be_right": True, "confidence": 0.9, "abstained": False, "correct": True},
    {"case_id": "b", "answerable": False, "would_be_right": False, "confidence": 0.7, "abstained": False,
     "correct": False, "why_unanswerable": "near-miss"},
    {"case_id": "c", "answerable": True, "would_be_right": False, "confidence": 0.7, "abstained": True, "correct": False},
    {"case_id": "d", "answerable": False, "would_be_right": False, "confidence": None, "abstained": True,
     "correct": True, "why_unanswerable": None},
    {"case_id": "e", "answerable": None, "would_be_right": None, "confidence": 0.8, "abstained": False, "correct": None},
]  # fmt: skip


def test_risk_coverage_by_hand() -> None:
    table = of_run.risk_coverage(ROWS)
    assert table.to_dict("list") == {
        "cut": [0.9, 0.7], "coverage": [0.25, 0.75], "risk": [0.0, pytest.approx(2 / 3)],
    }  # fmt: skip


def test_shares_answered_by_hand() -> None:
    table = of_run.answered(ROWS)
    assert table.to_dict("list") == {
        "cut": [0.9, 0.7], "answered_answerable": [0.5, 1.0], "answered_unanswerable": [0.0, 0.5],
    }  # fmt: skip


def test_where_the_run_stands() -> None:
    stands = of_run.chosen(ROWS)
    assert stands == {
        "coverage": 0.5, "risk": 0.5, "answered_answerable": 0.5, "answered_unanswerable": 0.5,
    }  # fmt: skip
    assert all(math.isnan(value) for value in of_run.chosen([]).values())


def test_confidences_by_kind() -> None:
    table = of_run.confidences(ROWS)
    assert list(table["kind"]) == ["answerable", "near-miss", "answerable"]
    assert of_run.kind_of(ROWS[3]) == "not stated"
    assert list(table["correct"]) == [True, False, False]


def test_without_cases_every_table_is_empty() -> None:
    for table in (of_run.risk_coverage([]), of_run.answered([]), of_run.confidences([])):
        assert len(table) == 0
    only = of_run.answered([ROWS[0]])
    assert only["answered_unanswerable"].isna().all()


@given(st.lists(st.tuples(st.sampled_from([0.1, 0.2, 0.5, 0.9]), st.booleans()), min_size=2, max_size=30))
def test_the_roc_curve_is_scikit_learns(cases: list[tuple[float, bool]]) -> None:
    if len({flag for _, flag in cases}) < 2:
        return
    rows = [{"answerable": flag, "confidence": value} for value, flag in cases]
    table = of_run.answered(rows)
    confidence, flags = np.array([c for c, _ in cases]), np.array([f for _, f in cases])
    false, true, cuts = roc_curve(flags, confidence, drop_intermediate=False)
    np.testing.assert_allclose(table["cut"], cuts[1:])
    np.testing.assert_allclose(table["answered_unanswerable"], false[1:])
    np.testing.assert_allclose(table["answered_answerable"], true[1:])
    area = auc([0, *table["answered_unanswerable"]], [0, *table["answered_answerable"]])
    assert area == pytest.approx(auroc(confidence, flags))
