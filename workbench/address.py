"""Controls and the address: what a link names becomes the state of a control, and the page writes its state back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from core.show.plain import literal

MAX_SEARCH = 200
"""Characters of a search that a link carries."""


def take(key: str, known: Sequence[str], default: str) -> None:
    """Sets a control's state from the parameter of its name, once; says so where that names nothing there is.

    A state that names nothing any more (a deleted data set) falls back to ``default`` too.
    """
    session = st.session_state
    wanted = session[key] if key in session else st.query_params.get(_param(key), default)
    if wanted not in known:
        if key not in session:
            st.warning(
                f"The link names {_param(key)} {literal(str(wanted)[:MAX_SEARCH])}, which is not here.",
                icon=":material/link_off:",
            )
        session[key] = default
    elif key not in session:
        session[key] = wanted


def take_text(key: str) -> None:
    """Sets a text control's state from the parameter of its name, once."""
    if key not in st.session_state:
        st.session_state[key] = st.query_params.get(_param(key), "")[:MAX_SEARCH]


def picked(key: str, known: Sequence[str]) -> str | None:
    """What is picked in a list: by the session, else by the link; None where it is not among ``known``."""
    wanted = st.session_state[key] if key in st.session_state else st.query_params.get(_param(key))
    return str(wanted) if wanted in known else None


def write(values: Mapping[str, str | None]) -> None:
    """Makes the address say what is shown; what is empty is left out."""
    st.query_params.from_dict({name: value for name, value in values.items() if value})


def _param(key: str) -> str:
    """Keys are ``page:parameter``."""
    return key.rpartition(":")[2]
