"""A running job on a page: its bar, polled twice a second without drawing the rest again, and the way to stop it."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.show.plain import literal
from workbench.jobs import Job, jobs

EVERY_S = 0.5
ICON = {
    "done": ":material/check_circle:",
    "cancelled": ":material/stop_circle:",
    "failed": ":material/error:",
}


def show(key: str) -> bool:
    """Draws the job of that key, if there is one; whether it is still running."""
    job = jobs().get(key)
    if job is None:
        return False
    if job.state == "running":
        _bar(key)
        return True
    _ended(key, job)
    return False


def result(key: str, patience_s: float = 1.0) -> Any:
    """What the job of that key gave; while it runs its bar is drawn and this is None, where it failed its message."""
    job = jobs().get(key)
    if job is None:
        return None
    job.wait(patience_s)
    if job.state == "done":
        return job.result
    show(key)
    return None


@st.fragment(run_every=EVERY_S)
def _bar(key: str) -> None:
    job = jobs().get(key)
    if job is None or job.state != "running":
        st.rerun()
        return
    of = f" of {job.total:,}" if job.total else ""
    share = min(1.0, job.finished / job.total) if job.total else 0.0
    if job.finished or job.total:
        st.progress(share, text=f"{literal(job.label)}: {job.finished:,}{of}")
    else:
        st.info(f"{literal(job.label)} …", icon=":material/hourglass_top:")
        return  # one piece, which cannot be stopped half way
    st.button(
        "Stopping …" if job.stopping else "Stop",
        key=f"stop:{key}",
        icon=":material/stop_circle:",
        on_click=job.cancel,
        disabled=job.stopping,
    )


def _ended(key: str, job: Job) -> None:
    show_as = {"done": st.success, "cancelled": st.warning, "failed": st.error}[job.state]
    row = st.container(horizontal=True, vertical_alignment="center")
    with row:
        show_as(f"{literal(job.label)}: {literal(job.said)}", icon=ICON[job.state])
    row.button("Dismiss", key=f"dismiss:{key}", type="tertiary", on_click=jobs().forget, args=(key,))
