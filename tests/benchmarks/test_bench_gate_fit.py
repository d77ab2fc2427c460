"""What a learned gate does on documents held out, beside a floor on the best score, on public data.

Each set is imported with MiniLM into a store of its own (CLAPnq a minute, LoCoMo three, SciFact six on two cores); a
store that holds them already under the names below is taken from ASSAY_BENCH_DB and only read.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pytest

from core import profile as profiles
from core.workspace import Workspace
from evals.cases import Variant
from evals.cli import import_, stored_cases
from evals.gate_examples import Examples, collect
from evals.gate_fit import FOLDS, cut_at, folds
from evals.gate_heldout import REPEATS, HeldOut, boosting_wins, held_out
from evals.metrics.abstention import auroc

COVERAGE = 0.91
"""Share of the answerable wanted in training: a point above what is to be held on documents held out."""


def examples(public_data: Path, folder: Path, name: str, dataset: str, variant: Variant) -> Examples:
    """Every labelled question of a set, asked under ``seed`` in recipe `brain`."""
    ready = os.environ.get("ASSAY_BENCH_DB")
    place = Path(ready) if ready else folder / "assay.db"
    if not ready:
        import_(name, public_data / name, dataset=name, db=place)
    with Workspace.open(place, create=False) as workspace:
        cases, broken = stored_cases(workspace, dataset, "local")
        return collect(
            workspace,
            cases,
            recipe="brain",
            profile=profiles.load("seed", "brain"),
            variants=(variant,),
            broken=broken,
        )


def floor(data: Examples) -> tuple[float, float, float]:
    """AUROC of the best evidence score alone, and coverage and false answers of a cut on it chosen on other documents."""
    score, known = data.values[:, data.names.index("best_score")], data.answerable
    answered = np.zeros((REPEATS, len(data)), dtype=bool)
    for split in range(REPEATS):
        dealt = folds(data.clusters, seed=split, count=FOLDS)
        for fold in np.unique(dealt).tolist():
            out = dealt == fold
            answered[split, out] = score[out] >= cut_at(score[~out], data.at(~out), COVERAGE)
    return auroc(score, known), float(answered[:, known].mean()), float(answered[:, ~known].mean())


def show(title: str, data: Examples, out: HeldOut, seconds: float) -> None:
    figures = out.figures()
    before = floor(data)
    print(f"\n{title}: {int(data.answerable.sum())} answerable, {int((~data.answerable).sum())} not, "
          f"{len(set(data.clusters))} groups, {REPEATS} splits, {seconds:.0f} s")  # fmt: skip
    print("| figure | floor on the best score | learned gate, mean and 95 % interval |\n|---|---|---|")
    for name, alone in zip(("auroc", "coverage", "false_answers"), before, strict=True):
        one = figures[name]
        print(f"| {name} | {alone:.3f} | {one.value:.3f} [{one.low:.3f}, {one.high:.3f}] |")
    for name in ("brier", "calibration_error", "boosting_gain"):
        one = figures[name]
        print(f"| {name} | | {one.value:+.3f} [{one.low:+.3f}, {one.high:+.3f}] |")
    print(
        f"splits: AUROC {min(out.splits):.4f} to {max(out.splits):.4f}; boosted trees win: {boosting_wins(figures)}"
    )


@pytest.mark.bench
@pytest.mark.data
@pytest.mark.parametrize(
    ("title", "name", "dataset", "variant", "targets"),
    [
        (
            "CLAPnq, passage absent",
            "clapnq",
            "clapnq",
            "absent",
            {"coverage": (">=", 0.90), "false_answers": ("<=", 0.04)},
        ),
        ("CLAPnq, near miss", "clapnq", "clapnq", "near-miss", {"auroc": (">=", 0.91)}),
        ("SciFact, no evidence", "scifact", "scifact", "near-miss", {"auroc": (">=", 0.72)}),
        (
            "LoCoMo, category 5, whole conversations held out",
            "locomo",
            "locomo/*",
            "near-miss",
            {"auroc": (">=", 0.85)},
        ),
    ],
)
def test_on_documents_held_out(public_data, tmp_path, title, name, dataset, variant, targets):
    data = examples(public_data, tmp_path, name, dataset, variant)
    start = time.perf_counter()
    out = held_out(data, "brain", coverage=COVERAGE)
    show(title, data, out, time.perf_counter() - start)
    figures = out.figures()
    for figure, (sign, target) in targets.items():
        value = figures[figure].value
        assert value >= target if sign == ">=" else value <= target, (
            f"{figure} {value:.4f}, target {sign} {target}"
        )
