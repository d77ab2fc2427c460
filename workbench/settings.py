"""What the app was started with: where evaluations lie, and whether anything may be changed."""

from __future__ import annotations

import os
from pathlib import Path

DEFAULT_RUNS = "out"
READ_ONLY = "Shared read-only: nothing can be labelled, brought in, embedded or deleted here."


def runs_folder() -> Path:
    """``ASSAY_RUNS``, else ``out`` in the working folder: where the README's commands write evaluations."""
    return Path(os.environ.get("ASSAY_RUNS") or DEFAULT_RUNS)


def read_only() -> bool:
    """Whether the app was started with ``--read-only``."""
    return os.environ.get("ASSAY_READ_ONLY", "") not in ("", "0")
