"""A fitted gate told in the terminal: what it does on documents held out, and what it goes by."""

from __future__ import annotations

import json
from collections.abc import Iterator

from core.gate.features import BY_NAME
from core.gate.stored import to_table
from evals.gate_training import PROBABILITY, GateFit
from evals.stats import Estimate

FIGURES = {
    "auroc": "AUROC",
    "coverage": "coverage of the answerable",
    "false_answers": "unanswerable answered",
    "brier": "Brier score",
    "calibration_error": "calibration error",
}
STRONGEST = 8
"""Features that are listed."""


def to_markdown(fit: GateFit) -> str:
    """The figures with 95 % intervals, the model, the strongest features."""
    return "\n".join([*_head(fit), "", *_table(fit), "", *_features(fit), ""])


def to_json(fit: GateFit) -> str:
    """The gate's table as it stands in the profile, and the cut."""
    body = {"gate": to_table(fit.gate), PROBABILITY: fit.profile.number(PROBABILITY)}
    return json.dumps(body, ensure_ascii=False, indent=2, allow_nan=False)


def _head(fit: GateFit) -> Iterator[str]:
    examples, fitted = fit.examples, fit.fitted
    answerable = int(examples.answerable.sum())
    chosen = f" ({fitted.penalty}, strength {fitted.strength:g})" if fitted.penalty else ""
    yield (
        f"{fitted.kind}{chosen}, {fitted.calibration} calibration, on {answerable} answerable and "
        f"{len(examples) - answerable} unanswerable questions; {PROBABILITY} = {fit.profile.number(PROBABILITY):.4f}"
    )
    if examples.without:
        yield f"nothing at all was found for {examples.without} questions; a gate is not asked of them"
    if examples.failures:
        yield f"{len(examples.failures)} could not be asked; the first: {examples.failures[0]['message']}"
    gain = fit.figures["all"]["boosting_gain"]
    yield f"boosted trees in place of the logistic regression: AUROC {_told(gain, sign='+')}"


def _table(fit: GateFit) -> Iterator[str]:
    splits = len(fit.held_out.probability)
    together = len(set(fit.examples.clusters))
    yield f"Held out: {splits} repeated splits of {together} documents or datasets, mean and 95 % interval."
    yield ""
    yield f"| figure | {' | '.join(fit.figures)} |"
    yield f"|---|{'---|' * len(fit.figures)}"
    for name, label in FIGURES.items():
        yield f"| {label} | {' | '.join(_told(table[name]) for table in fit.figures.values())} |"


def _features(fit: GateFit) -> Iterator[str]:
    yield "| feature | weight | what it is |"
    yield "|---|---|---|"
    ranked = sorted(fit.gate.features, key=lambda one: (-abs(one.weight), one.name))
    for one in ranked[:STRONGEST]:
        yield f"| {one.name} | {one.weight:+.3f} | {BY_NAME[one.name].about} |"
    if len(ranked) > STRONGEST:
        yield f"| … {len(ranked) - STRONGEST} more | | |"


def _told(one: Estimate, *, sign: str = "") -> str:
    if one.value is None:
        return "not known"
    interval = f" [{one.low:{sign}.3f}, {one.high:{sign}.3f}]" if one.low is not None else ""
    return f"{one.value:{sign}.3f}{interval}"
