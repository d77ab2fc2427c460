"""What would have let a candidate through: by hand, and against the floor itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as some

from core.stages.floor import CHECKS, PASSED, Floor
from core.trace import Drop
from tests.workbench import traces
from workbench.remedy import letting_through

UNIT = some.floats(0, 1, width=32)


def test_the_closest_of_an_abstention_needs_one_change() -> None:
    trace = traces.below_floor()
    assert letting_through(trace, trace.candidates[0]) == {"floor.min_score": 0.309}


def test_what_it_would_have_met_next_is_changed_too() -> None:
    trace = traces.below_floor()
    drop = Drop(stage="floor", threshold="floor.min_overlap", cut=0.12, value=0.05)
    scores = {**trace.candidates[0].scores, "overlap": 0.05}
    candidate = replace(trace.candidates[0], scores=scores, dropped=drop)
    assert letting_through(trace, candidate) == {"floor.min_overlap": 0.05, "floor.min_score": 0.309}


def test_what_did_not_fall_needs_nothing() -> None:
    trace = traces.brain_answered()
    assert letting_through(trace, trace.candidate("n1")) == {}


@given(overlap=UNIT, score=UNIT, cosine=UNIT, cuts=some.tuples(UNIT, UNIT, UNIT, UNIT))
def test_the_floor_itself_agrees(
    overlap: float, score: float, cosine: float, cuts: tuple[float, float, float, float]
) -> None:
    names = ("min_overlap", "min_score", "strong_overlap", "min_cosine")
    values = dict(zip(names, cuts, strict=True))
    read = [np.array([number], dtype=np.float32) for number in (overlap, score, cosine)]
    verdict = int(Floor(**values).verdicts(*read)[0])
    trace = traces.below_floor()
    trace = replace(
        trace, values={**trace.values, **{f"floor.{name}": value for name, value in values.items()}}
    )
    drop = None
    if verdict != PASSED:
        name = CHECKS[verdict]
        drop = Drop(
            stage="floor", threshold=name, cut=float(trace.values[name]), value=float(read[verdict][0])
        )
    scores = {"overlap": overlap, traces.BLEND: score, traces.COSINE: cosine}
    changes = letting_through(trace, replace(trace.candidates[0], scores=scores, dropped=drop))
    if changes is None:  # only a score of (nearly) nothing cannot be let through by min_score
        assert score < 0.001
        return
    after = values | {name.removeprefix("floor."): float(value) for name, value in changes.items()}
    assert Floor(**after).verdicts(*read)[0] == PASSED
