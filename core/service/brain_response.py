"""What `brain` answers over HTTP: its sentence, or its silence with a reason, and what it stands on."""

from __future__ import annotations

from pydantic import BaseModel

from core.trace import ReasonCode, Trace


class BrainCitation(BaseModel):
    """A memory the answer cites as ``[mem:id]``; ``source`` says where it comes from."""

    id: str
    text: str
    source: str


class BrainAnswer(BaseModel):
    """``reason`` is null unless ``abstained``; ``grounding`` are the ids of ``citations``, in their order; ``trace_id``
    is null where there was no dataset to search."""

    answer: str
    abstained: bool
    reason: ReasonCode | None
    citations: list[BrainCitation]
    grounding: list[str]
    trace_id: str | None


def brain_answer(trace: Trace) -> BrainAnswer:
    """The response of a Trace; no citations where it abstained."""
    cited = () if trace.answer.abstained else trace.answer.evidence
    return BrainAnswer(
        answer=trace.answer.text,
        abstained=trace.answer.abstained,
        reason=trace.answer.reason,
        citations=[BrainCitation(id=item.candidate_id, text=item.text, source=item.source) for item in cited],
        grounding=[item.candidate_id for item in cited],
        trace_id=trace.trace_id,
    )
