"""The answer: the verdict in one line, then the text with numbered citations."""

from __future__ import annotations

import streamlit as st

from core.answer.write import NOTICE
from core.show.plain import markup, number
from core.trace import Trace
from workbench import cards

REASONS = {
    "no_evidence": "nothing in this data set came up for the question",
    "below_floor": "something came up, but none of it was relevant enough",
    "no_terms": "the question has no words to search for",
    "not_supported": "the evidence does not support an answer",
    "model_declined": "the model declined to answer from this evidence",
}


def show(trace: Trace) -> None:
    """Draws the answer."""
    verdict(trace)
    st.html(cards.answer(trace.answer))
    others = [said for said in trace.notices if said != NOTICE]
    if others:
        st.html(cards.notices(others))


def verdict(trace: Trace) -> None:
    """Answered or abstained, why, how sure, by whom written, how long it took."""
    given = trace.answer
    word = "Abstained" if given.abstained else "Answered"
    icon = "∅" if given.abstained else "✓"
    said = [
        REASONS.get(given.reason or "", "") if given.abstained else _cited(len(given.evidence)),
        _confidence(trace),
        "" if given.abstained else _writer(given.writer),
        f"{sum(trace.times_ms.values()):,.0f} ms" if trace.times_ms else "",
    ]
    details = "".join(f"<small>{markup(text)}</small>" for text in said if text)
    st.html(
        f'<div class="assay-head"><span class="assay-verdict {word.lower()}">{icon} {word}</span>{details}</div>'
    )


def _cited(count: int) -> str:
    return f"{count} {'citation' if count == 1 else 'citations'}"


def _confidence(trace: Trace) -> str:
    if trace.answer.confidence is None:
        return ""
    space = trace.answer.confidence_space or "no stated space"
    return f"confidence {number(round(trace.answer.confidence, 3))} in {space}"


def _writer(writer: str) -> str:
    return "no model: the best sentences, quoted" if writer == "deterministic" else f"written by {writer}"
