"""The thresholds in the sidebar, grouped by stage. A change acts at once and is marked until it is reset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from core import profile as profiles
from core.profile import Profile
from core.thresholds import for_recipe
from workbench import state
from workbench.state import View
from workbench.views import knob
from workbench.views.knob import Knob
from workbench.views.link import knob_key, put

STAGES = (
    "keywords",
    "similar",
    "recall",
    "graph",
    "fuse",
    "rerank",
    "floor",
    "nearby",
    "diversify",
    "gate",
    "select",
)
"""The groups, in the order a question meets them."""
OPEN_STAGES = ("floor", "gate", "select")
"""Where an answer is let through or not: open at the start."""


def sidebar(view: View) -> View:
    """Draws the controls; the view with what was changed."""
    profile = profiles.load(view.profile, view.recipe)
    knobs = for_recipe(view.recipe)
    for each in knobs:
        st.session_state.setdefault(knob_key(view, each.name), profile.values[each.name])
    now = {each.name: st.session_state[knob_key(view, each.name)] for each in knobs}
    view = replace(view, changes=state.differing(profile, now))
    _head(view, profile)
    for stage in sorted({each.stage for each in knobs}, key=STAGES.index):
        _stage(view, profile, stage, [each for each in knobs if each.stage == stage])
    return view


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
    changed = sum(each.name in view.changes for each in knobs)
    label = stage.capitalize() + (f"  ·  **{changed} changed**" if changed else "")
    with st.sidebar.expander(
        label, expanded=stage in OPEN_STAGES or changed > 0, key=f"stage:{view.recipe}:{stage}"
    ):
        for each in knobs:
            knob.control(view, each)
            if each.name in view.changes:
                knob.changed(view, each.name, profile.values[each.name])
