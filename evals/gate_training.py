"""From labelled questions to a profile with a learned gate in it, and the report that goes with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib.metadata import version
from typing import Any

import numpy as np

from core.errors import UsageError
from core.gate.model import LearnedGate
from core.profile import Profile
from core.progress import Progress, quiet
from core.records import DEFAULT_USER
from core.trace import Recipe
from core.workspace import Workspace
from evals.cases import VARIANTS, Variant
from evals.gate_examples import Examples, collect, without_gate
from evals.gate_fit import Fitted, cut_at, fit_boosted, fit_logistic
from evals.gate_heldout import REPEATS, HeldOut, boosting_wins, held_out
from evals.runs import LabelledCase
from evals.stats import Estimate

COVERAGE = 0.9
"""Share of the answerable that is still answered, unless said otherwise."""
PROBABILITY = "gate.min_probability"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateFit:
    """``profile`` has the gate, and the cut that answers ``coverage`` of the answerable questions trained on, each judged
    by a gate that had not seen it. ``figures`` are those on questions held out, over all and by kind of unanswerable."""

    profile: Profile
    fitted: Fitted
    examples: Examples
    held_out: HeldOut
    figures: Mapping[str, Mapping[str, Estimate]]

    @property
    def gate(self) -> LearnedGate:
        """The gate alone."""
        return self.fitted.gate


def fit_gate(
    workspace: Workspace,
    cases: Sequence[LabelledCase],
    *,
    recipe: Recipe,
    profile: Profile,
    coverage: float = COVERAGE,
    variants: Sequence[Variant] = VARIANTS,
    levels: tuple[str, ...] | None = None,
    broken: Sequence[Mapping[str, str]] = (),
    user_id: str = DEFAULT_USER,
    repeats: int = REPEATS,
    seed: int = 0,
    progress: Progress = quiet,
) -> GateFit:
    """Asks every labelled question once under ``profile`` (an unanswerable one once a variant), and fits.

    Boosted trees are taken only where they separate better on documents held out, by more than chance explains. Equal
    inputs give equal bytes. ``progress`` counts questions, then the folds of the splits.

    Raises:
        UsageError: ``coverage`` is no share, there is one class only, or fewer than two documents.
    """
    if not 0 < coverage <= 1:
        raise UsageError(
            f"coverage must be in (0, 1], the share of the answerable to answer, got {coverage!r}"
        )
    examples = collect(
        workspace,
        cases,
        recipe=recipe,
        profile=profile,
        variants=variants,
        levels=levels,
        broken=broken,
        user_id=user_id,
        progress=progress,
    )
    reads = {"cosine": workspace.spaces(profile)["cosine"]}
    out = held_out(examples, recipe, coverage=coverage, repeats=repeats, seed=seed, progress=progress)
    figures = by_kind(out, seed=seed)
    fit = fit_boosted if boosting_wins(figures["all"]) else fit_logistic
    fitted = fit(examples, recipe, reads, seed=seed)
    asked = {dataset for dataset, _ in cases}
    facts = {
        "datasets": " ".join(sorted(asked)),
        "data_hash": _data_hash(workspace, asked, user_id),
        "embedder": workspace.embedder.model_id,
        "asked_under": profile.name,
        "fingerprint": without_gate(profile).fingerprint,
        "coverage_wanted": coverage,
        "seed": seed,
        "scikit_learn": version("scikit-learn"),
    }
    gate = replace(fitted.gate, report={**facts, **_told(fitted, examples), **_flat(figures)})
    cut = cut_at(fitted.held_out, examples, coverage)
    return GateFit(
        profile=with_gate(profile, gate, cut),
        fitted=replace(fitted, gate=gate),
        examples=examples,
        held_out=out,
        figures=figures,
    )


def with_gate(profile: Profile, gate: LearnedGate, cut: float) -> Profile:
    """The profile with this gate and its cut, a number in the gate's own space; what the gate stands for is opened."""
    opened = without_gate(profile).with_values({PROBABILITY: cut})
    return replace(opened, learned_gate=gate, spaces={**profile.spaces, PROBABILITY: gate.space})


def by_kind(out: HeldOut, *, seed: int) -> dict[str, dict[str, Estimate]]:
    """The figures over all questions, and over the answerable with one kind of unanswerable at a time."""
    found = {"all": out.figures(seed=seed)}
    answerable, variants = out.examples.answerable, np.array(out.examples.variants)
    kinds = [kind for kind in VARIANTS if (~answerable & (variants == kind)).any()]
    if len(kinds) > 1:
        for kind in kinds:
            found[kind] = out.of(answerable | (variants == kind)).figures(seed=seed)
    return found


def _data_hash(workspace: Workspace, names: set[str], user_id: str) -> str:
    """16 hex digits over the contents of the datasets asked, questions and labels included."""
    contents = [
        workspace.store.content_hash(found.dataset_id)
        for name in sorted(names)
        for found in workspace.store.matching(name, user_id)
    ]
    return sha256("".join(contents).encode()).hexdigest()[:16]


def _told(fitted: Fitted, examples: Examples) -> dict[str, Any]:
    chosen = {"penalty": fitted.penalty, "strength": fitted.strength}
    return {
        "model": fitted.kind,
        **{key: value for key, value in chosen.items() if value is not None},
        "calibration": fitted.calibration,
        "answerable": int(examples.answerable.sum()),
        "unanswerable": int((~examples.answerable).sum()),
        "held_out_together": len(set(examples.clusters)),
        "nothing_found": examples.without,
        "failed": len(examples.failures),
    }


def _flat(figures: Mapping[str, Mapping[str, Estimate]]) -> dict[str, Any]:
    """``held_out.all.auroc`` and its interval, rounded to what can be read of them."""
    read: dict[str, Callable[[Estimate], float | None]] = {
        "": lambda one: one.value,
        ".low": lambda one: one.low,
        ".high": lambda one: one.high,
    }
    return {
        f"held_out.{kind}.{name}{suffix}": round(value, 4)
        for kind, table in figures.items()
        for name, one in table.items()
        for suffix, of in read.items()
        if (value := of(one)) is not None
    }
