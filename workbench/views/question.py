"""The question box, filled with an example so that the first screen is an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from core.show.plain import shortened
from core.workspace import MAX_QUESTION
from workbench.data import Example
from workbench.state import View


def box(view: View, examples: Sequence[Example]) -> View:
    """The view with the question as it now stands."""
    if not st.session_state.get("question") and examples:
        st.session_state["question"] = examples[0].question
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    asked = left.text_input(
        "Question",
        key="question",
        max_chars=MAX_QUESTION,
        placeholder="What do you want to know? Enter asks.",
    )
    if examples:
        right.selectbox(
            "Examples",
            range(len(examples)),
            index=None,
            key="example",
            format_func=lambda place: _label(examples[place]),
            placeholder=f"{len(examples)} to try",
            on_change=_take,
            args=(tuple(examples),),
            help="Questions of this data set. Those marked ∅ have no answer in it: the right outcome is an abstention.",
        )
    return replace(view, question=asked)


def _label(example: Example) -> str:
    return ("∅ " if example.answerable is False else "") + shortened(example.question, 120)


def _take(examples: tuple[Example, ...]) -> None:
    place = st.session_state.get("example")
    if place is not None:
        st.session_state["question"] = examples[place].question
        st.session_state["example"] = None
