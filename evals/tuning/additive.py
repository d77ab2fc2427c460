"""Figures as ratios of sums over cases, for many settings at once: what resampling them needs.

A figure is the mean (of ``g_mean`` the geometric one) of its ratios, each the sum of what cases add above a line over the
sum of what they add below it. Figures of the order of confidence have no such sums.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evals.replay_figures import FIGURES, OF_CONFIDENCE
from evals.replayed import Replayed

Floats = NDArray[np.float64]
Part = tuple[NDArray[np.floating | np.bool_], NDArray[np.floating | np.bool_]]
ADDITIVE = tuple(name for name in FIGURES if name not in OF_CONFIDENCE)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sums:
    """Of one figure: what the cases of each cluster add above and below the line, (parts, P, clusters) float32 each."""

    name: str
    above: NDArray[np.float32]
    below: NDArray[np.float32]

    def under(self, weights: Floats) -> Floats:
        """(P, draws) the figure where cluster c counts ``weights[d, c]`` times; NaN where no case is left."""
        above, below = self.above @ weights.T, self.below @ weights.T
        with np.errstate(invalid="ignore", divide="ignore"):
            ratios = np.asarray(above / below, dtype=np.float64)
        if self.name == "g_mean":
            return np.asarray(np.sqrt(np.prod(ratios, axis=0)))
        return np.asarray(ratios.mean(axis=0))

    def among(self, chosen: NDArray[np.intp]) -> Sums:
        """The same of some settings only."""
        return Sums(name=self.name, above=self.above[:, chosen], below=self.below[:, chosen])


def sums(name: str, replayed: Replayed, codes: NDArray[np.intp], clusters: int) -> Sums:
    """A figure's sums by cluster; ``codes`` (Q,) says which cluster each case is in."""
    parts = _parts(name, replayed)
    membership = np.zeros((len(codes), clusters), dtype=np.float32)
    membership[np.arange(len(codes)), codes] = 1
    shape = replayed.abstained.shape
    above, below = (
        np.stack([np.broadcast_to(part[side], shape).astype(np.float32) @ membership for part in parts])
        for side in (0, 1)
    )
    return Sums(name=name, above=above, below=below)


def joined(parts: list[Sums]) -> Sums:
    """The settings of all, one after another."""
    return Sums(
        name=parts[0].name,
        above=np.concatenate([part.above for part in parts], axis=1),
        below=np.concatenate([part.below for part in parts], axis=1),
    )


def _parts(name: str, replayed: Replayed) -> list[Part]:
    decided = _decided(replayed)
    if name in decided:
        return decided[name]
    values = replayed.metric(name)
    there = ~np.isnan(values)
    return [(np.where(there, values, 0.0), there)]


def _decided(replayed: Replayed) -> Mapping[str, list[Part]]:
    answered, abstained, right = ~replayed.abstained, replayed.abstained, replayed.correct
    yes, no, judged = replayed.answerable == 1, replayed.answerable == 0, replayed.judgeable
    known = answered & judged
    balanced: list[Part] = [(right & judged & kind, judged & kind) for kind in (yes, no)]
    gain = np.where(abstained, 0.0, np.where(right, 1.0, -1.0))
    can, cannot = (answered & yes, yes), (answered & no, no)
    refused, due = (abstained & yes, yes), (abstained & no, no)
    f1_no: Part = (2.0 * (abstained & no), 1.0 * (abstained & (yes | no)) + no)
    f1_yes: Part = (2.0 * (answered & yes), 1.0 * (answered & (yes | no)) + yes)
    return {
        "balanced_correct": balanced,
        "g_mean": balanced,
        "correct": [(right & judged, judged)],
        "reliability": [(gain * (judged & kind), judged & kind) for kind in (yes, no)],
        "coverage": [(answered, np.ones_like(yes))],
        "selective_risk": [(known & ~right, known)],
        "answered_answerable": [can],
        "answered_unanswerable": [cannot],
        "false_answer_rate": [cannot],
        "over_refusal_rate": [refused],
        "balanced_accuracy": [can, due],
        "abstention_precision": [(abstained & no, abstained & (yes | no))],
        "abstention_recall": [due],
        "abstention_f1": [f1_no],
        "decision_f1": [f1_yes, f1_no],
    }
