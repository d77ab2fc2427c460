"""What a gate does on questions held out: repeated splits by document, nothing judged by a gate that saw it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from core.progress import Progress, quiet
from core.trace import Recipe
from evals.gate_examples import Examples
from evals.gate_fit import FOLDS, boosted, fit_logistic, folds
from evals.metrics.abstention import Flags, Floats, auroc
from evals.metrics.calibration import brier, calibration_error
from evals.stats import Estimate, estimate, mean

REPEATS = 10
BOOSTED = 3
"""Splits in which boosted trees are fitted too; they are slow, and the difference is paired."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut:
    """``probability`` (r, n) and ``answered`` (r, n) by split; ``boosted`` (b, n) the z of boosted trees in the first b.
    ``figures`` are means over the splits with intervals over clusters; ``splits`` AUROC of each split."""

    probability: Floats
    answered: NDArray[np.bool_]
    boosted: Floats
    splits: tuple[float, ...]
    figures: Mapping[str, Estimate] = field(default_factory=dict)

    @property
    def boosting_wins(self) -> bool:
        """Whether boosted trees separate better, by more than chance explains."""
        low = self.figures["boosting_gain"].low
        return low is not None and low > 0


def cut_at(probability: Floats, answerable: Flags, coverage: float) -> float:
    """The highest cut at which at least ``coverage`` of the answerable are answered (``probability ≥ cut``)."""
    ranked = np.sort(probability[answerable])[::-1]
    return float(ranked[max(int(np.ceil(coverage * len(ranked))), 1) - 1])


def held_out(
    examples: Examples,
    recipe: Recipe,
    *,
    coverage: float,
    repeats: int = REPEATS,
    seed: int = 0,
    progress: Progress = quiet,
) -> HeldOut:
    """In each of ``repeats`` splits every cluster is held out once: strength, calibration and cut are chosen on the rest.

    Deterministic for a seed. Fewer clusters than folds: as many folds as clusters.
    """
    n = len(examples)
    probability = np.zeros((repeats, n))
    answered = np.zeros((repeats, n), dtype=bool)
    trees = np.zeros((min(BOOSTED, repeats), n))
    for split in range(repeats):
        dealt = folds(examples.clusters, seed=seed + split, count=_count(examples))
        for fold in np.unique(dealt).tolist():
            out = dealt == fold
            seen, values = examples.at(~out), examples.values[out]
            fitted = fit_logistic(seen, recipe, {}, seed=seed + split)
            rows = (dict(zip(examples.names, row, strict=True)) for row in values.tolist())
            probability[split, out] = [fitted.gate.probability(row) for row in rows]
            cut = cut_at(fitted.held_out, seen.answerable, coverage)
            answered[split, out] = probability[split, out] >= cut
            if split < len(trees):
                fit = boosted(examples.names, seed=seed)
                trees[split, out] = fit(seen.values, seen.answerable).z(values)
            progress(1)
    found = HeldOut(
        probability=probability,
        answered=answered,
        boosted=trees,
        splits=tuple(auroc(one, examples.answerable) for one in probability),
    )
    return HeldOut(
        probability=probability,
        answered=answered,
        boosted=trees,
        splits=found.splits,
        figures=figures(found, examples, seed=seed),
    )


def figures(found: HeldOut, examples: Examples, *, seed: int) -> dict[str, Estimate]:
    """AUROC, coverage of the answerable, share of the unanswerable answered, Brier score, calibration error, and how much
    AUROC boosted trees gain over the logistic regression in the same splits."""
    answerable, clusters = examples.answerable, list(examples.clusters)
    decided = found.answered.mean(axis=0)

    def over_splits(
        figure: Callable[[Floats, Flags], float], scores: Floats
    ) -> Callable[[NDArray[np.int64]], float]:
        return lambda at: float(np.mean([figure(one[at], answerable[at]) for one in scores]))

    first = found.probability[: len(found.boosted)]
    gain_of, gain_over = over_splits(auroc, found.boosted), over_splits(auroc, first)
    return {
        "auroc": estimate(over_splits(auroc, found.probability), clusters, seed=seed),
        "coverage": _mean(decided, answerable, clusters, seed=seed),
        "false_answers": _mean(decided, ~answerable, clusters, seed=seed),
        "brier": estimate(over_splits(brier, found.probability), clusters, seed=seed),
        "calibration_error": estimate(over_splits(calibration_error, found.probability), clusters, seed=seed),
        "boosting_gain": estimate(lambda at: gain_of(at) - gain_over(at), clusters, seed=seed),
    }


def _mean(values: Floats, which: Flags, clusters: list[str], *, seed: int) -> Estimate:
    chosen = [name for name, counts in zip(clusters, which.tolist(), strict=True) if counts]
    return mean(values[which].tolist(), chosen, seed=seed)


def _count(examples: Examples) -> int:
    return min(FOLDS, len(set(examples.clusters)))
