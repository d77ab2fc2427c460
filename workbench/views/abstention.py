"""An abstention says as much as an answer: what was closest, what felled it, by how much, what would let it through."""

from __future__ import annotations

import math

import streamlit as st

from core.profile import Value
from core.thresholds import BY_NAME, Threshold
from core.trace import Drop, Evidence, Trace
from workbench import cards
from workbench.plain import markup, number, shortened
from workbench.views.answer import verdict

STEP = 1000
"""Suggestions are rounded to one part in this many."""


def show(trace: Trace) -> None:
    """Draws the abstention."""
    verdict(trace)
    st.html(
        f'<div class="assay-answer abstained"><p dir="auto">{markup(trace.answer.text)}</p>{_why(trace)}</div>'
    )
    closest = trace.answer.closest[0] if trace.answer.closest else None
    drop = trace.candidate(closest.candidate_id).dropped if closest else None
    if drop:
        _offer(trace, drop)
    if trace.notices:
        st.html(cards.notices(trace.notices))


def letting_pass(drop: Drop) -> Value | None:
    """The value in the declared range, nearest to the cut, that lets ``drop`` pass this check; None if there is none."""
    knob = BY_NAME.get(drop.threshold)
    if not isinstance(knob, Threshold):
        return None
    if drop.margin > 0:  # a cap was exceeded
        return math.ceil(drop.value) if drop.value <= knob.high else None
    below = math.floor((drop.value - 1e-9) * STEP) / STEP
    return below if below >= knob.low else None


def fall_sentence(item: Evidence, drop: Drop) -> str:
    """What felled the closest candidate, in one sentence of plain words."""
    what = f"“{shortened(item.quote or item.text, 120)}”"
    unit = f" in {drop.space}" if drop.space else ""
    if drop.margin > 0:
        return f"The closest was {what}. It came {number(drop.value)}th, {drop.threshold} takes {number(drop.cut)}."
    return (
        f"The closest was {what}. It scored {drop.value:.3f}{unit}; {drop.threshold} asks for {drop.cut:.3f}: "
        f"{-drop.margin:.3f} short."
    )


def _why(trace: Trace) -> str:
    for item in trace.answer.closest[:1]:
        drop = trace.candidate(item.candidate_id).dropped
        if drop:
            return f'<p dir="auto">{markup(fall_sentence(item, drop))}</p>'
    return f'<p dir="auto">{markup(trace.answer.explanation)}</p>' if trace.answer.explanation else ""


def _offer(trace: Trace, drop: Drop) -> None:
    value = letting_pass(drop)
    if value is None:
        st.caption(f"No value of `{drop.threshold}` in its range would have let it through.")
        return
    row = st.container(horizontal=True, vertical_alignment="center")
    row.button(
        f"Try {drop.threshold} = {number(value)}",
        key="let-pass",
        icon=":material/tune:",
        on_click=_set,
        args=(drop.threshold, value),
    )
    row.caption(
        f"The nearest value that lets it pass this check (now {number(drop.cut)}). Other checks may follow.",
        width="content",
    )


def _set(name: str, value: Value) -> None:
    session = st.session_state
    session[f"knob:{session['recipe']}:{session['profile']}:{name}"] = value
