"""Drafts: what is being written stands beside its place, named by the process that writes it, until it is whole."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from glob import escape
from pathlib import Path


def draft_of(path: Path) -> Path:
    """Where this process writes what will be ``path``."""
    return path.with_name(f".{path.name}.{os.getpid()}")


def replace_folder(draft: Path, folder: Path) -> None:
    """Puts a whole draft in the place of ``folder``. What stood there is moved aside first, so that a kill leaves the old
    or the new, or for a moment neither (see ``settle``), and never a part.

    Raises:
        OSError: it cannot be done; what was there is still there then.
    """
    aside = draft.with_name(f"{draft.name}.old")
    shutil.rmtree(aside, ignore_errors=True)
    if folder.exists():
        folder.rename(aside)
    try:
        draft.rename(folder)
    except OSError:
        if aside.exists():
            aside.rename(folder)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def settle(path: Path) -> None:
    """Clears up after processes that were killed while they wrote ``path``: what they had moved aside goes back where
    nothing stands, their drafts are removed. Those of processes on other machines are taken for dead."""
    for draft, aside in _of_dead(path):
        with suppress(OSError):
            if aside and not path.exists():
                draft.rename(path)
            elif draft.is_dir():
                shutil.rmtree(draft, ignore_errors=True)
            else:
                draft.unlink(missing_ok=True)


def _of_dead(path: Path) -> Iterator[tuple[Path, bool]]:
    """Drafts of ``path`` whose process is no more, and whether each is what was moved aside."""
    for draft in sorted(path.parent.glob(f".{escape(path.name)}.*")):
        number, _, rest = draft.name.removeprefix(f".{path.name}.").partition(".")
        if number.isascii() and number.isdigit() and rest in ("", "old") and not _alive(int(number)):
            yield draft, rest == "old"


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
