"""An abstention says as much as an answer: what was closest, what felled it, by how much, what would let it through."""

from __future__ import annotations

import streamlit as st

from core.show.plain import markup, number, shortened
from core.trace import Candidate, Drop, Evidence, Trace
from workbench import cards, remedy
from workbench.views.answer import verdict
from workbench.views.link import put_now


def show(trace: Trace) -> None:
    """Draws the abstention."""
    verdict(trace)
    st.html(
        f'<div class="assay-answer abstained"><p dir="auto">{markup(trace.answer.text)}</p>{_why(trace)}</div>'
    )
    for item in trace.answer.closest[:1]:
        _offer(trace, trace.candidate(item.candidate_id))
    if trace.notices:
        st.html(cards.notices(trace.notices))


def fall_sentence(item: Evidence, drop: Drop) -> str:
    """What felled the closest candidate, in one sentence of plain words."""
    what = f"“{shortened(item.quote or item.text, 120).rstrip('.')}”"
    if drop.margin > 0:
        return f"The closest, {what}, came in place {number(drop.value)}; {drop.threshold} takes {number(drop.cut)}."
    unit = f" in {drop.space}" if drop.space else ""
    return (
        f"The closest, {what}, scored {drop.value:.3f}{unit}; {drop.threshold} asks for {drop.cut:.3f}: "
        f"{-drop.margin:.3f} short."
    )


def _why(trace: Trace) -> str:
    for item in trace.answer.closest[:1]:
        drop = trace.candidate(item.candidate_id).dropped
        if drop:
            return f'<p dir="auto">{markup(fall_sentence(item, drop))}</p>'
    return f'<p dir="auto">{markup(trace.answer.explanation)}</p>' if trace.answer.explanation else ""


def _offer(trace: Trace, closest: Candidate) -> None:
    if closest.dropped is None:
        return
    changes = remedy.letting_through(trace, closest)
    if changes is None:
        st.caption("No values in their declared ranges would have let it through.")
        return
    said = ", ".join(
        f"`{name}` {number(trace.values[name])} → **{number(value)}**" for name, value in changes.items()
    )
    row = st.container(horizontal=True, vertical_alignment="center")
    row.button("Let it through", key="let-through", icon=":material/tune:", on_click=put_now, args=(changes,))
    row.caption(f"The least change that does: {said}", width="content")
