"""What a gate does on questions held out: repeated splits by document, nothing judged by a gate that saw it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.progress import Progress, quiet
from core.trace import Recipe
from evals.gate_examples import Examples
from evals.gate_fit import cut_at, fit_logistic, folds
from evals.gate_learners import boosted
from evals.metrics.abstention import Flags, Floats, auroc
from evals.metrics.calibration import brier, calibration_error
from evals.stats import Estimate, estimate, mean

REPEATS = 10
BOOSTED = 3
"""Splits in which boosted trees are fitted too; they are slow, and the difference is paired."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut:
    """``probability`` and ``answered`` (r, n) of each question in each split, by a gate that had not seen its cluster;
    ``boosted`` (b, n) the z of boosted trees in the first b splits."""

    examples: Examples
    probability: Floats
    answered: NDArray[np.bool_]
    boosted: Floats

    @property
    def splits(self) -> tuple[float, ...]:
        """AUROC of each split."""
        return tuple(auroc(one, self.examples.answerable) for one in self.probability)

    def figures(self, *, seed: int = 0) -> dict[str, Estimate]:
        """Means over the splits, intervals over clusters: AUROC, coverage of the answerable and share of the unanswerable
        answered at the cut chosen in training, Brier score, calibration error, and the AUROC that boosted trees gain over
        the logistic regression in the same splits."""
        answerable, clusters = self.examples.answerable, list(self.examples.clusters)
        decided = self.answered.mean(axis=0)
        first = self.probability[: len(self.boosted)]
        trees, weighed = _over(auroc, self.boosted, answerable), _over(auroc, first, answerable)
        return {
            "auroc": estimate(_over(auroc, self.probability, answerable), clusters, seed=seed),
            "coverage": _mean(decided, answerable, clusters, seed=seed),
            "false_answers": _mean(decided, ~answerable, clusters, seed=seed),
            "brier": estimate(_over(brier, self.probability, answerable), clusters, seed=seed),
            "calibration_error": estimate(
                _over(calibration_error, self.probability, answerable), clusters, seed=seed
            ),
            "boosting_gain": estimate(lambda at: trees(at) - weighed(at), clusters, seed=seed),
        }

    def of(self, places: Flags) -> HeldOut:
        """The same splits, of these questions (n,) only."""
        return HeldOut(
            examples=self.examples.at(places),
            probability=self.probability[:, places],
            answered=self.answered[:, places],
            boosted=self.boosted[:, places],
        )


def boosting_wins(figures: Mapping[str, Estimate]) -> bool:
    """Whether boosted trees separate better, by more than chance explains."""
    low = figures["boosting_gain"].low
    return low is not None and low > 0


def held_out(
    examples: Examples,
    recipe: Recipe,
    *,
    coverage: float,
    repeats: int = REPEATS,
    seed: int = 0,
    progress: Progress = quiet,
) -> HeldOut:
    """In each of ``repeats`` splits every cluster is held out once; penalty, strength, features, calibration and cut are
    chosen on the rest. Deterministic for a seed. ``progress`` counts folds."""
    shape = (repeats, len(examples))
    probability, answered = np.zeros(shape), np.zeros(shape, dtype=bool)
    trees = np.zeros((min(BOOSTED, repeats), len(examples)))
    for split in range(repeats):
        dealt = folds(examples.clusters, seed=seed + split)
        for fold in np.unique(dealt).tolist():
            out = dealt == fold
            seen, values = examples.at(~out), examples.values[out]
            fitted = fit_logistic(seen, recipe, {}, seed=seed + split)
            rows = (dict(zip(examples.names, row, strict=True)) for row in values.tolist())
            probability[split, out] = [fitted.gate.probability(row) for row in rows]
            cut = cut_at(fitted.held_out, seen, coverage)
            answered[split, out] = (probability[split, out] >= cut) & examples.passed[out]
            if split < len(trees):
                grown = boosted(examples.names, seed=seed)(seen.values, seen.answerable)
                trees[split, out] = grown.z(values)
            progress(1)
    return HeldOut(examples=examples, probability=probability, answered=answered, boosted=trees)


def _over(
    figure: Callable[[Floats, Flags], float], scores: Floats, answerable: Flags
) -> Callable[[NDArray[np.int64]], float]:
    """The mean over the splits of a figure of the questions at some places; NaN with one class only."""

    def statistic(at: NDArray[np.int64]) -> float:
        if len(set(answerable[at].tolist())) < 2:
            return float("nan")
        return float(np.mean([figure(one[at], answerable[at]) for one in scores]))

    return statistic


def _mean(values: Floats, which: Flags, clusters: list[str], *, seed: int) -> Estimate:
    chosen = [name for name, counts in zip(clusters, which.tolist(), strict=True) if counts]
    return mean(values[which].tolist(), chosen, seed=seed)
