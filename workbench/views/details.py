"""For those who take it further: what ran, and the Trace and the profile as files."""

from __future__ import annotations

import streamlit as st

from core import profile as profiles
from core.profile import Profile
from core.trace import Trace


def show(trace: Trace, profile: Profile) -> None:
    """What ran, the Trace as JSON and the profile in force as TOML."""
    with st.expander("Identity of this run", icon=":material/fingerprint:"):
        st.code(_identity(trace), language=None, wrap_lines=True)
    row = st.container(horizontal=True)
    row.download_button(
        "Trace (JSON)",
        trace.to_json(),
        file_name=f"trace-{trace.trace_id}.json",
        mime="application/json",
        key="trace-json",
        icon=":material/download:",
        on_click="ignore",
    )
    row.download_button(
        "Profile (TOML)",
        profiles.to_toml(profile),
        file_name=f"{profile.name}.toml",
        mime="application/toml",
        key="profile-toml",
        icon=":material/download:",
        on_click="ignore",
    )


def _identity(trace: Trace) -> str:
    spaces = "\n".join(f"  {family}: {space}" for family, space in trace.spaces.items())
    return (
        f"trace        {trace.trace_id}\ndata set     {', '.join(trace.datasets)}\nrecipe       {trace.recipe}\n"
        f"profile      {trace.profile}\nfingerprint  {trace.fingerprint}\nscore spaces\n{spaces}"
    )
