"""Long work beside the pages: one thread a job, its progress read by the page, ended between two steps when asked to.

What a job does is committed step by step, so a cancelled one has kept what it finished and the same job goes on from it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import streamlit as st

from core.errors import AssayError
from core.progress import Progress

State = Literal["running", "done", "cancelled", "failed"]


class CancelledError(Exception):
    """Ends a job at its next step."""


@dataclass(slots=True, kw_only=True)
class Job:
    """One piece of work. ``total`` None: not known. ``result``: what the work gave; ``said``: that where it is a text, or
    what went wrong."""

    label: str
    total: int | None
    finished: int = 0
    state: State = "running"
    said: str = ""
    result: Any = None
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def cancel(self) -> None:
        """Asks it to end; it does at its next step."""
        self._stop.set()

    @property
    def stopping(self) -> bool:
        """Whether it was asked to end."""
        return self._stop.is_set()

    def wait(self, seconds: float) -> None:
        """Waits until it ended, at most so long."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _step(self, count: int) -> None:
        self.finished += count
        if self._stop.is_set():
            raise CancelledError

    def _run(self, work: Callable[[Progress], Any]) -> None:
        try:
            self.result = work(self._step)
            self.said = self.result if isinstance(self.result, str) else "done"
            self.state = "done"
        except CancelledError:
            self.said = (
                f"stopped after {self.finished:,}; what was finished is kept, the same again goes on from it"
            )
            self.state = "cancelled"
        except AssayError as error:
            self.said, self.state = str(error), "failed"
        except Exception as error:  # noqa: BLE001 (a thread's error would be seen by nobody)
            self.said, self.state = f"{type(error).__name__}: {error}", "failed"

    def _start(self, work: Callable[[Progress], Any]) -> None:
        self._thread = threading.Thread(target=self._run, args=(work,), name=self.label[:40], daemon=True)
        self._thread.start()


class Jobs:
    """The jobs of this app by key, the latest of each; shared by all sessions, so that nobody starts one twice."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()

    def start(
        self, key: str, label: str, work: Callable[[Progress], Any], *, total: int | None = None
    ) -> Job:
        """Starts it, unless that key's is still running: then that one is returned."""
        with self._lock:
            running = self._jobs.get(key)
            if running is not None and running.state == "running":
                return running
            job = self._jobs[key] = Job(label=label, total=total)
            job._start(work)
            return job

    def get(self, key: str) -> Job | None:
        """The latest of that key."""
        return self._jobs.get(key)

    def forget(self, key: str) -> None:
        """Drops one that ended."""
        with self._lock:
            job = self._jobs.get(key)
            if job is not None and job.state != "running":
                del self._jobs[key]


@st.cache_resource(show_spinner=False)
def jobs() -> Jobs:
    """The jobs of this process."""
    return Jobs()
