"""What a replay gives: arrays of profiles × cases, and the figures of each profile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.profile import Profile
from evals import replay_figures
from evals.metrics.abstention import Flags, Floats
from evals.recording import RecordedCase
from evals.scoring import PER_CASE, Row, cluster

BY_PROFILE = ("abstained", "correct", "would_be_right", "confidence", "citation_precision", "citation_recall")


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
    confidence_space: str | None

    def among(self, chosen: Flags) -> Replayed:
        """The same of the cases that are ``chosen`` (Q,) only: a split, a fold, a kind.

        Raises:
            ValueError: not one flag for each case.
        """
        if chosen.shape != self.judgeable.shape:
            raise ValueError(f"{len(self.cases)} cases were replayed, got {chosen.shape} flags")
        kept = np.flatnonzero(chosen)
        return replace(
            self,
            cases=tuple(self.cases[number] for number in kept.tolist()),
            answerable=self.answerable[kept],
            judgeable=self.judgeable[kept],
            retrieval={name: values[:, kept] for name, values in self.retrieval.items()},
            **{name: getattr(self, name)[:, kept] for name in BY_PROFILE},
        )

    def of_profiles(self, chosen: slice) -> Replayed:
        """The same of some of the profiles."""
        return replace(
            self,
            profiles=self.profiles[chosen],
            ranking_of=self.ranking_of[chosen],
            **{name: getattr(self, name)[chosen] for name in BY_PROFILE},
        )

    def metric(self, name: str) -> Floats:
        """(P, Q) of one metric by its name: of retrieval, or ``citation_precision``, ``citation_recall``,
        ``citation_f1``; NaN where there is nothing to judge.

        Raises:
            ValueError: no such metric; the message lists what there is.
        """
        if name in self.retrieval:
            return self.retrieval[name][self.ranking_of]
        if name in ("citation_precision", "citation_recall"):
            return np.asarray(getattr(self, name), dtype=np.float64)
        if name != "citation_f1":
            there = ", ".join([*self.retrieval, *replay_figures.CITED])
            raise ValueError(f"no metric {name!r} is replayed; there are {there}")
        precision, recall = self.citation_precision, self.citation_recall
        total = precision + recall
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(total != 0, 2 * precision * recall / total, 0.0)

    def figures(self) -> dict[str, Floats]:
        """Each of ``replay_figures.FIGURES`` as (P,): the values of ``scoring.summarised``; NaN where one has none."""
        return replay_figures.figures(self)

    def rows(self, profile: int) -> list[Row]:
        """One profile's cases as ``scoring.summarised`` takes them, in the order of the cases.

        What is read off the answer's words (``stale``, and all of a model's text) is null; a Trace has it, see
        ``Replayer.trace``.
        """
        metrics = {name: values[self.ranking_of[profile]] for name, values in self.retrieval.items()}
        alone = self.of_profiles(slice(profile, profile + 1))
        metrics |= {name: alone.metric(name)[0] for name in replay_figures.CITED}
        return [self._row(profile, number, metrics) for number in range(len(self.cases))]

    def _row(self, profile: int, number: int, metrics: Mapping[str, Floats]) -> Row:
        case, judgeable = self.cases[number], bool(self.judgeable[number])
        return {
            "case_id": case.case.case_id,
            "dataset": case.dataset,
            "split": case.case.split,
            "tags": dict(case.case.tags),
            "cluster": f"{case.dataset}\x1f{cluster(case.case)}",
            "answerable": case.case.answerable,
            "why_unanswerable": case.case.why_unanswerable,
            "gold_answers": list(case.case.answers),
            "abstained": bool(self.abstained[profile, number]),
            "confidence": _number(self.confidence[profile, number]),
            "confidence_space": self.confidence_space,
            "correct": bool(self.correct[profile, number]) if judgeable else None,
            "would_be_right": bool(self.would_be_right[profile, number]) if judgeable else None,
            **dict.fromkeys(PER_CASE),
            **{name: _number(values[number]) for name, values in metrics.items()},
        }


def known(cases: Sequence[RecordedCase]) -> Floats:
    """(Q,) 1 answerable, 0 not, NaN unknown."""
    return np.array(
        [np.nan if case.case.answerable is None else float(case.case.answerable) for case in cases]
    )


def _number(value: Any) -> float | None:
    return None if np.isnan(value) else float(value)
