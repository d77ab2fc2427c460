"""What would have let a fallen candidate through: the least change of thresholds, found with the stages' own checks."""

from __future__ import annotations

import numpy as np

from core.answer.abstain import letting_pass
from core.profile import Value
from core.stages.floor import CHECKS, PASSED, Floor
from core.trace import Candidate, Drop, Trace


def letting_through(trace: Trace, candidate: Candidate) -> dict[str, Value] | None:
    """Every threshold to change, with its value, so that ``candidate`` passes floor and gate; ``{}`` if it did not fall.

    None where no values in their ranges do it. What it fell by is changed first, then what it would have met next.
    """
    changes: dict[str, Value] = {}
    drop = candidate.dropped
    while drop is not None:
        value = letting_pass(drop)
        if value is None or drop.threshold in changes:
            return None
        changes[drop.threshold] = value
        drop = _next_floor(trace, candidate, changes) or _next_gate(trace, candidate, changes)
    return changes


def _next_floor(trace: Trace, candidate: Candidate, changes: dict[str, Value]) -> Drop | None:
    if trace.recipe == "graph":
        return None
    values = {name: float({**trace.values, **changes}[name]) for name in (*CHECKS, "floor.strong_overlap")}
    scores = {family: candidate.scores.get(space) for family, space in trace.spaces.items()}
    read = [scores.get(family) for family in ("overlap", "tfidf+cosine", "cosine")]
    if None in read:
        return None
    floor = Floor(**{name.removeprefix("floor."): value for name, value in values.items()})
    verdict = int(floor.verdicts(*(np.array([score], dtype=np.float32) for score in read))[0])
    if verdict == PASSED:
        return None
    return _drop("floor", CHECKS[verdict], values[CHECKS[verdict]], float(read[verdict] or 0.0))


def _next_gate(trace: Trace, candidate: Candidate, changes: dict[str, Value]) -> Drop | None:
    read = {
        "gate.min_cosine": candidate.scores.get(trace.spaces["cosine"]),
        "gate.min_rerank": candidate.scores.get(trace.spaces.get("rerank", "")),
        "gate.min_best_cosine": None if trace.judgement else trace.answer.confidence,
        "gate.min_probability": trace.judgement.probability if trace.judgement else None,
    }
    for name, value in read.items():
        cut = {**trace.values, **changes}.get(name)
        if cut is not None and value is not None and value < float(cut):
            return _drop("gate", name, float(cut), value)
    return None


def _drop(stage: str, threshold: str, cut: float, value: float) -> Drop:
    return Drop(stage=stage, threshold=threshold, cut=cut, value=value)
