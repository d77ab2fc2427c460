"""The address and the controls: what a link asks for becomes their state, once a session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from core.profile import Value
from workbench import state
from workbench.state import View


def open_link(datasets: Sequence[str]) -> list[str]:
    """Once a session: what the address asks for becomes the state of the controls. Says what it could not take."""
    session = st.session_state
    if "opened" not in session:
        view, said = state.from_query(st.query_params.to_dict(), datasets)
        session["opened"] = said
        session.update(
            dataset=view.dataset,
            recipe=view.recipe,
            profile=view.profile,
            question=view.question,
            as_of=view.as_of,
            known_at=view.known_at,
            section=view.section,
            picture=view.picture,
            beside=view.beside or state.other_profile(view.profile),
            superseded=view.superseded,
            nearby_km=view.nearby_km,
        )
        session[f"levels:{view.recipe}"] = list(view.levels)
        session.update({knob_key(view, name): value for name, value in view.changes.items()})
    if session.get("dataset") not in datasets:
        session["dataset"] = datasets[0]
    return list(session["opened"])


def knob_key(view: View, name: str) -> str:
    """The key of a threshold's control: each recipe and profile keeps its own."""
    return f"knob:{view.recipe}:{view.profile}:{name}"


def put(view: View, values: Mapping[str, Value]) -> None:
    """Sets thresholds from elsewhere on the page (a callback: before the controls are drawn)."""
    st.session_state.update({knob_key(view, name): value for name, value in values.items()})


def put_now(values: Mapping[str, Value]) -> None:
    """The same for the recipe and profile that are chosen now."""
    chosen = f"knob:{st.session_state['recipe']}:{st.session_state['profile']}"
    st.session_state.update({f"{chosen}:{name}": value for name, value in values.items()})
