"""What a finished run's confidence can tell at every cut, as tables: one row a cut or a case, finite numbers only.

A cut answers what has at least that much confidence; what found nothing is never answered, though it counts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from evals.metrics import abstention

Rows = Sequence[Mapping[str, Any]]
ANSWERABLE = "answerable"
UNANSWERABLE = "all unanswerable"
NOT_STATED = "not stated"


def risk_coverage(rows: Rows) -> pd.DataFrame:
    """``cut``, ``coverage`` (share answered) and ``risk`` (share wrong of the answered), both in [0, 1], strictest cut
    first; without rows where nothing can be judged. Source: ``abstention.risk_coverage``."""
    judged = [row for row in rows if row["would_be_right"] is not None]
    confidence = abstention.ordered_confidence([row["confidence"] for row in judged])
    wrong = np.array([not row["would_be_right"] for row in judged], dtype=bool)
    curve = abstention.risk_coverage(confidence, wrong)
    return pd.DataFrame({"cut": curve.cut, "coverage": curve.coverage, "risk": curve.risk})


def answered(rows: Rows) -> pd.DataFrame:
    """``cut``, and the shares of the answerable and of the unanswerable that it answers, both in [0, 1], strictest first:
    the ROC curve's two axes. NaN in a column whose kind of case is missing.

    Source: Fawcett, An Introduction to ROC Analysis, Pattern Recognition Letters 2006, algorithm 1.
    """
    known = [row for row in rows if row["answerable"] is not None]
    confidence = abstention.ordered_confidence([row["confidence"] for row in known])
    answerable = np.array([bool(row["answerable"]) for row in known], dtype=bool)
    found = np.isfinite(confidence)
    cuts = np.unique(confidence[found])[::-1]
    return pd.DataFrame(
        {
            "cut": cuts,
            "answered_answerable": _shares(confidence[answerable], cuts),
            "answered_unanswerable": _shares(confidence[~answerable], cuts),
        }
    )


def confidences(rows: Rows) -> pd.DataFrame:
    """One row a case of known kind that found anything: ``case_id``, ``kind`` (answerable, or why it is not),
    ``confidence``, ``abstained`` and ``correct``."""
    known = [row for row in rows if row["answerable"] is not None and row["confidence"] is not None]
    return pd.DataFrame(
        {
            "case_id": [row["case_id"] for row in known],
            "kind": [kind_of(row) for row in known],
            "confidence": np.array([row["confidence"] for row in known], dtype=np.float64),
            "abstained": np.array([row["abstained"] for row in known], dtype=bool),
            "correct": pd.array([row["correct"] for row in known], dtype="boolean"),
        }
    )


def kind_of(row: Mapping[str, Any]) -> str:
    """``answerable``, or what kind of unanswerable: the tag ``kind``, else ``why_unanswerable``, as in a summary."""
    if row["answerable"]:
        return ANSWERABLE
    return str((row.get("tags") or {}).get("kind") or row.get("why_unanswerable") or NOT_STATED)


def chosen(rows: Rows) -> Mapping[str, float]:
    """Where the run itself stands on these curves: what it answered and how much of that was wrong; NaN for none."""
    judged = [row for row in rows if row["would_be_right"] is not None]
    answers = [row for row in judged if not row["abstained"]]
    return {
        "coverage": len(answers) / len(judged) if judged else math.nan,
        "risk": float(np.mean([not row["would_be_right"] for row in answers])) if answers else math.nan,
        "answered_answerable": _answered_of(rows, True),
        "answered_unanswerable": _answered_of(rows, False),
    }


def _answered_of(rows: Rows, answerable: bool) -> float:
    kind = [not row["abstained"] for row in rows if row["answerable"] is answerable]
    return float(np.mean(kind)) if kind else math.nan


def _shares(confidence: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    """The share of the cases at or above each cut."""
    if not len(confidence):
        return np.full(len(cuts), np.nan)
    ranked = np.sort(confidence)
    return 1 - np.searchsorted(ranked, cuts, side="left") / len(ranked)
