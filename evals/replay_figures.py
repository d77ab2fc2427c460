"""The figures of many profiles at once: point values of ``scoring.summarised``, profile by profile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evals import replay_confidence
from evals.figures import COVERAGE, RISK
from evals.metrics.abstention import Flags, Floats
from evals.scoring import RETRIEVAL

if TYPE_CHECKING:
    from evals.replayed import Replayed

DECIDED = (
    "balanced_correct", "decision_f1", "g_mean", "correct", "reliability", "coverage", "selective_risk",
    "answered_answerable", "answered_unanswerable", "false_answer_rate", "over_refusal_rate", "balanced_accuracy",
    "abstention_precision", "abstention_recall", "abstention_f1",
)  # fmt: skip
OF_CONFIDENCE = ("auroc", "aurc", "e_aurc", f"coverage@risk{RISK}", f"risk@coverage{COVERAGE}")
CITED = ("citation_precision", "citation_recall", "citation_f1")
FIGURES = (*DECIDED, *OF_CONFIDENCE, *RETRIEVAL, *CITED)
"""What a replay knows of ``scoring.summarised``: all but what is read off a model's text."""


BLOCK = 512
"""Profiles at a time: what is sorted and compared on the way stays small however many there are."""


def figures(replayed: Replayed) -> dict[str, Floats]:
    """Each of ``FIGURES`` as (P,), NaN where a figure has none. Sources: see the metrics of the same names."""
    count = len(replayed.profiles)
    blocks = [_of_block(replayed.of_profiles(slice(at, at + BLOCK))) for at in range(0, count, BLOCK)]
    found = {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]} if blocks else {}
    return found | {name: _ranked(values)[replayed.ranking_of] for name, values in replayed.retrieval.items()}


def _of_block(replayed: Replayed) -> dict[str, Floats]:
    return {
        **_decided(replayed),
        **_of_confidence(replayed),
        **{name: _mean(replayed.metric(name)) for name in CITED},
    }


def _ranked(values: Floats) -> Floats:
    """(R,) means of one retrieval metric."""
    parts = [_mean(values[at : at + BLOCK]) for at in range(0, len(values), BLOCK)]
    return np.concatenate([np.empty(0), *parts])


def _decided(replayed: Replayed) -> dict[str, Floats]:
    answered, judged = ~replayed.abstained, replayed.judgeable
    known = answered & judged
    right_yes, right_no = (
        _share(replayed.correct[:, judged & (replayed.answerable == kind)]) for kind in (1, 0)
    )
    yes, no = (_share(answered[:, replayed.answerable == kind]) for kind in (1, 0))
    gain = np.where(replayed.abstained, 0, np.where(replayed.correct, 1, -1))
    gain_yes, gain_no = (_share(gain[:, judged & (replayed.answerable == kind)]) for kind in (1, 0))
    return {
        "balanced_correct": (right_yes + right_no) / 2,
        "g_mean": np.sqrt(right_yes * right_no),
        "correct": _share(replayed.correct[:, judged]),
        "reliability": (gain_yes + gain_no) / 2,
        "coverage": _share(answered),
        "selective_risk": _over((known & ~replayed.correct).sum(axis=1), known.sum(axis=1)),
        "answered_answerable": yes,
        "answered_unanswerable": no,
        "false_answer_rate": no,
        "over_refusal_rate": 1 - yes,
        "balanced_accuracy": (yes + 1 - no) / 2,
        **_abstentions(replayed.answerable, replayed.abstained),
    }


def _abstentions(answerable: Floats, abstained: Flags) -> Mapping[str, Floats]:
    """Precision, recall and F1 of abstaining, and the mean F1 of both decisions."""
    can, cannot = answerable == 1, answerable == 0
    due = abstained[:, cannot].sum(axis=1)
    refused = due + abstained[:, can].sum(axis=1)
    held = (~abstained[:, can]).sum(axis=1)
    answered = held + (~abstained[:, cannot]).sum(axis=1)
    f1 = _over(2 * due, refused + cannot.sum())
    both = (_over(2 * held, answered + can.sum()) + f1) / 2
    return {
        "abstention_precision": _over(due, refused),
        "abstention_recall": _share(abstained[:, cannot]),
        "abstention_f1": f1,
        "decision_f1": both if can.any() and cannot.any() else np.full(len(abstained), np.nan),
    }


def _of_confidence(replayed: Replayed) -> dict[str, Floats]:
    labelled, judged = ~np.isnan(replayed.answerable), replayed.judgeable
    confidence = np.where(np.isnan(replayed.confidence), -np.inf, replayed.confidence).astype(np.float64)
    risks = replay_confidence.Risks(confidence[:, judged], ~replayed.would_be_right[:, judged])
    return {
        "auroc": replay_confidence.auroc(confidence[:, labelled], replayed.answerable[labelled] == 1),
        "aurc": risks.aurc(),
        "e_aurc": risks.e_aurc(),
        f"coverage@risk{RISK}": risks.coverage_at_risk(RISK),
        f"risk@coverage{COVERAGE}": risks.risk_at_coverage(COVERAGE),
    }


def _mean(values: Floats) -> Floats:
    """(P,) mean of what is not NaN; NaN where nothing is."""
    there = ~np.isnan(values)
    return _over(np.where(there, values, 0).sum(axis=1), there.sum(axis=1))


def _share(flags: NDArray[Any]) -> Floats:
    return _over(flags.sum(axis=1), np.full(len(flags), flags.shape[1]))


def _over(total: NDArray[Any], count: NDArray[Any]) -> Floats:
    return np.asarray(np.where(count > 0, total / np.maximum(count, 1), np.nan), dtype=np.float64)
