"""What a replay gives: arrays of profiles × cases, and the figures of each profile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.profile import Profile
from evals import replay_confidence
from evals.metrics.abstention import Flags, Floats
from evals.recording import RecordedCase
from evals.scoring import RETRIEVAL, Row, cluster

FIGURES = (
    *RETRIEVAL, "citation_precision", "citation_recall", "correct", "coverage", "selective_risk", "answered_answerable",
    "answered_unanswerable", "over_refusal", "false_answer_rate", "auroc", "aurc",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """P profiles × Q cases. ``correct`` and ``would_be_right`` mean something where ``judgeable`` (Q,) only,
    ``answerable`` (Q,) is 1, 0 or NaN (unknown).

    ``confidence`` is NaN where nothing was found, a metric is NaN where there is nothing to judge. ``retrieval`` holds
    one row for each distinct ranking, ``ranking_of`` (P,) says which a profile has.
    """

    profiles: tuple[Profile, ...]
    cases: tuple[RecordedCase, ...]
    answerable: Floats
    judgeable: Flags
    abstained: Flags
    correct: Flags
    would_be_right: Flags
    confidence: NDArray[np.float32]
    citation_precision: Floats
    citation_recall: Floats
    retrieval: Mapping[str, Floats]
    ranking_of: NDArray[np.int64]

    def figures(self) -> dict[str, Floats]:
        """Each of ``FIGURES`` as (P,): the values of ``scoring.summarised``; NaN where a figure has none.

        ``over_refusal`` is the share abstained of the answerable, ``false_answer_rate`` the share answered of the
        unanswerable.
        """
        answered, labelled = ~self.abstained, ~np.isnan(self.answerable)
        with_gold = {name: _mean(values)[self.ranking_of] for name, values in self.retrieval.items()}
        known = self.judgeable & answered
        wrong = np.where(known, ~self.correct, False).sum(axis=1)
        yes, no = (_share(answered[:, self.answerable == value]) for value in (1, 0))
        return with_gold | {
            "citation_precision": _mean(self.citation_precision),
            "citation_recall": _mean(self.citation_recall),
            "correct": _share(self.correct[:, self.judgeable]),
            "coverage": _share(answered),
            "selective_risk": _over(wrong, known.sum(axis=1)),
            "answered_answerable": yes,
            "answered_unanswerable": no,
            "over_refusal": 1 - yes,
            "false_answer_rate": no,
            "auroc": replay_confidence.auroc(self._ordered(labelled), self.answerable[labelled] == 1),
            "aurc": replay_confidence.aurc(
                self._ordered(self.judgeable), ~self.would_be_right[:, self.judgeable]
            ),
        }

    def rows(self, profile: int) -> list[Row]:
        """One profile's cases as ``scoring.summarised`` takes them, in the order of the cases."""
        retrieval = {name: values[self.ranking_of[profile]] for name, values in self.retrieval.items()}
        return [self._row(profile, number, retrieval) for number in range(len(self.cases))]

    def _row(self, profile: int, number: int, retrieval: Mapping[str, Floats]) -> Row:
        case, judgeable = self.cases[number], bool(self.judgeable[number])
        metrics = {name: values[number] for name, values in retrieval.items()}
        metrics["citation_precision"] = self.citation_precision[profile, number]
        metrics["citation_recall"] = self.citation_recall[profile, number]
        return {
            "case_id": case.case.case_id,
            "dataset": case.dataset,
            "split": case.case.split,
            "tags": dict(case.case.tags),
            "cluster": f"{case.dataset}\x1f{cluster(case.case)}",
            "answerable": case.case.answerable,
            "why_unanswerable": case.case.why_unanswerable,
            "abstained": bool(self.abstained[profile, number]),
            "confidence": _number(self.confidence[profile, number]),
            "correct": bool(self.correct[profile, number]) if judgeable else None,
            "would_be_right": bool(self.would_be_right[profile, number]) if judgeable else None,
            **{name: _number(value) for name, value in metrics.items()},
        }

    def _ordered(self, cases: Flags) -> Floats:
        """(P, n) confidence in some cases, nothing found below every number."""
        confidence = self.confidence[:, cases].astype(np.float64)
        return np.where(np.isnan(confidence), -np.inf, confidence)


def known(cases: Sequence[RecordedCase]) -> Floats:
    """(Q,) 1 answerable, 0 not, NaN unknown."""
    return np.array(
        [np.nan if case.case.answerable is None else float(case.case.answerable) for case in cases]
    )


def _number(value: Any) -> float | None:
    return None if np.isnan(value) else float(value)


def _mean(values: Floats) -> Floats:
    """(P,) mean of what is not NaN; NaN where nothing is."""
    there = ~np.isnan(values)
    return _over(np.where(there, values, 0).sum(axis=1), there.sum(axis=1))


def _share(flags: Flags) -> Floats:
    return _over(flags.sum(axis=1), np.full(len(flags), flags.shape[1]))


def _over(total: NDArray[Any], count: NDArray[Any]) -> Floats:
    return np.asarray(np.where(count > 0, total / np.maximum(count, 1), np.nan), dtype=np.float64)
