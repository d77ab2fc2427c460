"""One threshold or setting as a control."""

from __future__ import annotations

import streamlit as st

from core import profile as profiles
from core.profile import Value
from core.show.plain import number
from core.thresholds import Setting, Threshold
from workbench.state import View
from workbench.views.link import knob_key, put

SLIDER_SPAN = 2.5
"""Thresholds of a wider range are typed, not slid."""
Knob = Threshold | Setting


def control(view: View, knob: Knob) -> None:
    """Draws it; a changed one carries a dot."""
    mark = "● " if knob.name in view.changes else ""
    label = f"{mark}{knob.name.removeprefix(f'{knob.stage}.').replace('_', ' ').replace('.', ' · ')}"
    key, about = knob_key(view, knob.name), help_text(knob, view)
    if isinstance(knob, Setting):
        st.selectbox(label, _choices(knob, str(st.session_state[key])), key=key, help=about)
    elif knob.integer:
        st.number_input(label, int(knob.low), int(knob.high), step=1, key=key, help=about)
    elif knob.high - knob.low <= SLIDER_SPAN:
        st.slider(label, float(knob.low), float(knob.high), step=0.005, format="%.3f", key=key, help=about)
    else:
        st.number_input(
            label, float(knob.low), float(knob.high), step=0.1, format="%.3f", key=key, help=about
        )


def help_text(knob: Knob, view: View) -> str:
    """What a threshold does, in which unit and range, which way it works and which score it is compared with."""
    if isinstance(knob, Setting):
        return f"`{knob.name}`: {knob.about}. Another choice is another search, not only another cut."
    space = profiles.load(view.profile, view.recipe).spaces.get(knob.name)
    compared = f" Compared with the score in `{space}`." if space else ""
    way = "" if knob.direction == "neither" else f" {knob.direction.capitalize()}."
    return f"`{knob.name}`: {knob.about}. In {knob.unit}, from {number(knob.low)} to {number(knob.high)}.{way}{compared}"


def changed(view: View, name: str, base: Value) -> None:
    """What the profile says, and the way back to it."""
    row = st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute")
    row.caption(f"profile: {number(base)}")
    row.button(
        "Reset",
        key=f"reset:{name}",
        type="tertiary",
        icon=":material/undo:",
        on_click=put,
        args=(view, {name: base}),
    )


def _choices(knob: Setting, current: str) -> list[str]:
    return list(dict.fromkeys([*knob.choices, current]))
