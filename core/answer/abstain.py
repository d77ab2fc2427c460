"""Abstentions: a reason code, a sentence for people, and what would have let the closest candidate through."""

from __future__ import annotations

import math

import numpy as np

from core.thresholds import BY_NAME, Threshold
from core.trace import Answer, Drop, Evidence, ReasonCode

STEP = 1000
"""Suggested scores are rounded to one part in this many, towards letting pass."""
STRICT = "floor.min_score"
"""The one check that asks for more than its value, not for as much."""
SENTENCES: dict[ReasonCode, str] = {
    "no_evidence": "I don't have any information in memory to answer that.",
    "below_floor": "I found nothing relevant enough in memory to answer that.",
    "no_terms": "The question has no words to search for, only stop words.",
    "not_supported": "I could not support an answer with the evidence I have.",
    "model_declined": "The model declined to answer from the evidence it was given.",
}


def abstention(
    reason: ReasonCode,
    *,
    text: str | None = None,
    explanation: str = "",
    closest: tuple[Evidence, ...] = (),
    fell: Drop | None = None,
    confidence: float | None = None,
    confidence_space: str | None = None,
) -> Answer:
    """An abstention. ``fell`` is why the closest candidate did not pass; it is put into words.
    ``text`` replaces the reason's usual sentence, ``explanation`` what is said of that fall."""
    return Answer(
        text=text or SENTENCES[reason],
        abstained=True,
        reason=reason,
        explanation=explanation or (explained(fell) if fell else ""),
        closest=closest,
        confidence=confidence,
        confidence_space=confidence_space,
    )


def explained(fell: Drop) -> str:
    """The closest candidate's fall in one sentence, and the value that would have let it pass in another."""
    if fell.margin > 0:  # a cap was exceeded
        said = f"The closest candidate came in place {fell.value:.0f}, {fell.threshold} takes {fell.cut:.0f}."
    else:
        digits = 3 if -fell.margin >= 0.0005 else 6
        unit = f" in {fell.space}" if fell.space else ""
        said = (
            f"The closest candidate scored {fell.value:.{digits}f}{unit}, {fell.threshold} asks for "
            f"{fell.cut:.{digits}f}: {abs(fell.margin):.{digits}f} short."
        )
    enough = letting_pass(fell)
    if enough is None:
        return f"{said} No value of {fell.threshold} in its range would have let it pass this check."
    return f"{said} {fell.threshold} = {enough:g} would have let it pass this check."


def letting_pass(drop: Drop) -> float | None:
    """The value in the declared range, nearest to the cut, that lets ``drop`` pass this check; None if there is none."""
    knob = BY_NAME.get(drop.threshold)
    if not isinstance(knob, Threshold):
        return None
    if drop.margin > 0:  # a cap was exceeded
        return math.ceil(drop.value) if drop.value <= knob.high else None
    below = math.floor(drop.value * STEP) / STEP
    if drop.threshold == STRICT and np.float32(below) >= np.float32(drop.value):
        below = (below * STEP - 1) / STEP
    return below if below >= knob.low else None
