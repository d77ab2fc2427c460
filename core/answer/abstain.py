"""Abstentions: a reason code, a sentence for people, and what would have let the closest candidate through."""

from __future__ import annotations

from core.trace import Answer, Drop, Evidence, ReasonCode

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
    closest: tuple[Evidence, ...] = (),
    fell: Drop | None = None,
    confidence: float | None = None,
    confidence_space: str | None = None,
) -> Answer:
    """An abstention. ``fell`` is why the closest candidate did not pass; it is put into words.
    ``text`` replaces the reason's usual sentence."""
    return Answer(
        text=text or SENTENCES[reason],
        abstained=True,
        reason=reason,
        explanation=explained(fell) if fell else "",
        closest=closest,
        confidence=confidence,
        confidence_space=confidence_space,
    )


def explained(fell: Drop) -> str:
    """The closest candidate's fall in one sentence."""
    unit = f" in {fell.space}" if fell.space else ""
    return (
        f"The closest candidate scored {fell.value:.3f}{unit}, {fell.threshold} asks for {fell.cut:.3f}: "
        f"{abs(fell.margin):.3f} short. {fell.threshold} just below {fell.value:.3f} would have let it pass this check."
    )
