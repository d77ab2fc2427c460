"""The choosers at the top of the sidebar: data set, recipe, profile, levels, time."""

from __future__ import annotations

import streamlit as st

from core import profile as profiles
from core.geo.sphere import MAX_RADIUS_KM
from core.records import Dataset
from core.trace import RECIPES
from core.workspace import Workspace
from workbench import data, state
from workbench.state import View

ABOUT_RECIPE = {
    "graph": "graph: facts and passages of a bi-temporal knowledge graph",
    "memory": "memory: notes and syntheses, recalled wide and reranked",
    "brain": "brain: cites what clears a relevance floor, or abstains",
}


def dataset(workspace: Workspace) -> Dataset:
    """The chosen data set; another one starts with an example of its own."""
    names = [found.name for found in workspace.store.datasets()]
    chosen = st.sidebar.selectbox(
        "Data set",
        names,
        key="dataset",
        on_change=_forget_question,
        help="What is asked; `assay datasets` lists them.",
    )
    return workspace.store.dataset(str(chosen))


def view(workspace: Workspace, dataset: Dataset) -> View:
    """Recipe, profile, levels and time as chosen; the question as it stands; no changes yet."""
    side = st.sidebar
    recipe = side.segmented_control(
        "Recipe",
        RECIPES,
        key="recipe",
        required=True,
        width="stretch",
        help="\n\n".join(ABOUT_RECIPE.values()),
    )
    recipe = recipe if recipe in RECIPES else state.DEFAULT_RECIPE
    side.caption(ABOUT_RECIPE[recipe].split(": ", 1)[1].capitalize() + ".")
    name = side.selectbox(
        "Profile", profiles.shipped(), key="profile", help="A set of values for every threshold below."
    )
    levels = () if recipe == "graph" else _levels(workspace, dataset, recipe)
    as_of, known_at, nearby_km = _time_and_place(workspace) if recipe == "graph" else ("", "", 0.0)
    session = st.session_state
    return View(
        dataset=dataset.name,
        recipe=recipe,
        profile=str(name),
        question=st.session_state.get("question", ""),
        levels=levels,
        as_of=as_of,
        known_at=known_at,
        nearby_km=nearby_km,
        section=str(session.get("section") or state.SECTIONS[0]),
        picture=str(session.get("picture") or state.PICTURES[0]),
        beside=_beside(str(name)),
        superseded=bool(session.get("superseded")),
    )


def _beside(name: str) -> str:
    """The profile that is compared with, where two are."""
    if st.session_state.get("section") != "compare":
        return ""
    return str(st.session_state.setdefault("beside", state.other_profile(name)))


def _levels(workspace: Workspace, dataset: Dataset, recipe: str) -> tuple[str, ...]:
    there = data.levels_of(workspace, dataset)
    if len(there) < 2 and recipe == "brain":
        return ()
    key = f"levels:{recipe}"
    kept = [level for level in st.session_state.get(key, []) if level in there]
    if kept != st.session_state.get(key):
        st.session_state[key] = kept
    if recipe == "memory" and not kept and there and not {"L1", "L2"} & there.keys():
        st.session_state[key] = list(there)  # this data set has raw turns only: better asked than silent
    chosen = st.sidebar.pills(
        "Levels",
        list(there),
        selection_mode="multi",
        key=key,
        format_func=lambda level: f"{level} ({there[level]:,})",
        help="L0 raw evidence, L1 notes, L2 syntheses. None chosen: the recipe's own (memory: L1 and L2; brain: all).",
    )
    return tuple(chosen)


def _time_and_place(workspace: Workspace) -> tuple[str, str, float]:
    with st.sidebar.expander("Time and place", icon=":material/history:"):
        about = "A year, a day or a moment: 2023, 2023-03-01, 2023-03-01T09:00:00Z. Empty: now."
        as_of = st.text_input(
            "True as of", key="as_of", help=f"Valid time: what held in the world then. {about}"
        )
        known_at = st.text_input(
            "Known at", key="known_at", help=f"Transaction time: what was on record then. {about}"
        )
        if workspace.geo is None:
            return as_of.strip(), known_at.strip(), 0.0
        nearby_km = st.number_input(
            "Places within (km)",
            0.0,
            MAX_RADIUS_KM,
            step=10.0,
            key="nearby_km",
            help="Also searches what is stored near the places the question names. 0: off.",
        )
    return as_of.strip(), known_at.strip(), nearby_km


def _forget_question() -> None:
    st.session_state["question"] = ""
