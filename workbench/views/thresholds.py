"""The thresholds in the sidebar, grouped by stage. A change acts at once and is marked until it is reset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from core import profile as profiles
from core.profile import Profile, Value
from core.thresholds import Setting, Threshold, for_recipe
from workbench import state
from workbench.plain import number
from workbench.state import View
from workbench.views.controls import knob_key

STAGES = ("keywords", "similar", "recall", "graph", "fuse", "rerank", "floor", "diversify", "gate", "select")
"""The groups, in the order a question meets them."""
OPEN_STAGES = ("floor", "gate", "select")
"""Where an answer is let through or not: open at the start."""
SLIDER_SPAN = 2.5
"""Thresholds of a wider range are typed, not slid."""
Knob = Threshold | Setting


def sidebar(view: View) -> View:
    """Draws the controls; the view with what was changed."""
    profile = profiles.load(view.profile, view.recipe)
    knobs = for_recipe(view.recipe)
    for knob in knobs:
        st.session_state.setdefault(knob_key(view, knob.name), profile.values[knob.name])
    now = {knob.name: st.session_state[knob_key(view, knob.name)] for knob in knobs}
    changed = state.differing(profile, now)
    view = replace(view, changes=changed)
    _head(view, profile)
    stages = dict.fromkeys(knob.stage for knob in knobs)
    for stage in sorted(stages, key=STAGES.index):
        _stage(view, profile, stage, [knob for knob in knobs if knob.stage == stage])
    return view


def put(view: View, values: dict[str, Value]) -> None:
    """Sets thresholds from elsewhere on the page (a callback: before the controls are drawn)."""
    st.session_state.update({knob_key(view, name): value for name, value in values.items()})


def _head(view: View, profile: Profile) -> None:
    side = st.sidebar
    side.subheader("Thresholds", anchor=False, divider="grey")
    if not view.changes:
        side.caption("As the profile has them. Move one: the answer follows at once.")
        return
    row = side.container(horizontal=True, vertical_alignment="center")
    row.caption(f"**{len(view.changes)} changed** from profile {view.profile}")
    base = {name: profile.values[name] for name in view.changes}
    row.button("Reset all", key="reset-all", icon=":material/undo:", on_click=put, args=(view, base))
    side.download_button(
        "Save as profile (TOML)",
        profiles.to_toml(view.tuned()),
        file_name=f"{view.profile}-changed.toml",
        mime="application/toml",
        icon=":material/download:",
        key="save-profile",
        on_click="ignore",
        width="stretch",
    )


def _stage(view: View, profile: Profile, stage: str, knobs: Sequence[Knob]) -> None:
    changed = sum(knob.name in view.changes for knob in knobs)
    label = stage.capitalize() + (f"  ·  **{changed} changed**" if changed else "")
    with st.sidebar.expander(
        label, expanded=stage in OPEN_STAGES or changed > 0, key=f"stage:{view.recipe}:{stage}"
    ):
        for knob in knobs:
            _control(view, knob)
            if knob.name in view.changes:
                _changed(view, knob.name, profile.values[knob.name])


def _control(view: View, knob: Knob) -> None:
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


def _changed(view: View, name: str, base: Value) -> None:
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
