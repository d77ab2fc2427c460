"""Bringing data in: files or a path, what they hold and what is wrong by line, then the work beside the page."""

from __future__ import annotations

from functools import partial
from hashlib import sha256
from pathlib import Path

import pandas as pd
import streamlit as st

from core.errors import UsageError
from core.progress import Progress
from core.show.plain import literal
from core.store.datasets import check_name
from core.workspace import Workspace
from workbench import bringing
from workbench.bringing import FORMAT_NAMES, Preview
from workbench.jobs import jobs
from workbench.views import datasets, progress, shown

KEY = "bring"
SAMPLE = "How to read it: the first items as they would be stored, by the file and line they come from."
UPLOAD, PATH = "Upload", "Path on this machine"


def show(workspace: Workspace) -> None:
    """Draws the form, the preview and the running job."""
    with st.expander("Bring data in", icon=":material/upload_file:", expanded=not workspace.store.datasets()):
        if progress.show(KEY):
            return
        left, middle, right = st.columns([1, 1, 1], vertical_alignment="bottom")
        way = left.segmented_control(
            "From", (UPLOAD, PATH), key="bring:way", default=UPLOAD, required=True, width="stretch"
        )
        format_ = middle.selectbox(
            "Format",
            FORMAT_NAMES,
            key="bring:format",
            help="Public data sets by name; else Markdown, text and JSON Lines.",
        )
        name = right.text_input(
            "Into data set", key="bring:name", placeholder="a name; made if there is none"
        )
        path = _uploaded() if way == UPLOAD else _typed()
        if path is None:
            return
        seen = _preview(path, str(format_))
        if seen is not None:
            _look(seen)
            _offer(workspace, path, str(format_), name.strip(), seen)


def _typed() -> Path | None:
    typed = st.text_input("Folder or file", key="bring:path", placeholder="/data/scifact").strip()
    return Path(typed).expanduser() if typed else None


def _uploaded() -> Path | None:
    """The uploaded files in a folder of this session; the same files are not written twice."""
    files = st.file_uploader(
        "Files", accept_multiple_files=True, key="bring:files", label_visibility="collapsed"
    )
    if not files:
        return None
    print_ = sha256()
    for file in files:
        print_.update(file.name.encode("utf-8", "replace") + b"\0" + file.getvalue())
    known: dict[str, str] = st.session_state.setdefault("bring:folders", {})
    if print_.hexdigest() not in known:
        folder = bringing.upload_folder()
        bringing.kept(files, folder)
        known[print_.hexdigest()] = str(folder)
    return Path(known[print_.hexdigest()])


def _preview(path: Path, format_: str) -> Preview | None:
    """What the files hold, read once in a thread of its own; None while that runs or where it failed."""
    seen: dict[tuple[str, str], Preview] = st.session_state.setdefault("bring:seen", {})
    wanted = (str(path), format_)
    if wanted in seen:
        return seen[wanted]
    key = f"preview:{id(seen)}:{path}:{format_}"

    def look(step: Progress) -> str:
        seen[wanted] = bringing.preview(path, format_, "preview", step)
        return "read"

    job = jobs().start(key, "reading", look)
    job.wait(1.0)
    if job.state == "failed":
        st.error(literal(job.said), icon=":material/error:")
        jobs().forget(key)
    elif wanted not in seen:
        progress.show(key)
    return seen.get(wanted)


def _look(seen: Preview) -> None:
    rows = [
        {"data set": name.removeprefix("preview") or "(as named)", **kinds}
        for name, kinds in list(seen.counts.items())[:200]
    ]
    cells = st.columns(3)
    cells[0].metric("Items that can be stored", f"{seen.taken:,}", border=True)
    cells[1].metric("Data sets", f"{len(rows):,}", border=True)
    cells[2].metric("Findings", f"{len(seen.findings):,}", border=True)
    if seen.findings:
        datasets.findings(seen.findings)
    if seen.sample:
        shown.table(pd.DataFrame(seen.sample), SAMPLE, "preview", rows=6)


def _offer(workspace: Workspace, path: Path, format_: str, name: str, seen: Preview) -> None:
    if not seen.taken:
        st.error("Nothing of this can be stored.", icon=":material/error:")
        return
    if not name:
        st.info("Name the data set it goes into.", icon=":material/edit:")
        return
    try:
        check_name(name)
    except UsageError as error:
        st.error(literal(str(error)), icon=":material/error:")
        return
    left_out = " and leave out what is wrong" if seen.findings else ""
    st.button(
        f"Bring in {seen.taken:,} items{left_out}",
        key="bring:go",
        type="primary",
        icon=":material/download_done:",
        on_click=_start,
        args=(workspace, path, format_, name),
    )


def _start(workspace: Workspace, path: Path, format_: str, name: str) -> None:
    st.session_state["data:dataset"] = name
    jobs().start(KEY, f"bringing into {name}", partial(bringing.bring, workspace, path, format_, name))
