"""Index files are derived data: checked when opened, rebuilt and said so when missing, stale or damaged."""

from __future__ import annotations

import json
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import Protocol, Self, TypeVar

FORMAT = 1
MANIFEST = "manifest.json"
SWAP_TRIES = 20


class Savable(Protocol):
    """An index that can be written to a folder and read back."""

    def save(self, folder: Path) -> None: ...

    @classmethod
    def load(cls, folder: Path) -> Self: ...


Index = TypeVar("Index", bound=Savable)


def opened(
    kind: type[Index],
    folder: Path | None,
    label: str,
    stamp: dict[str, object],
    build: Callable[[], Index],
    notice: Callable[[str], None],
) -> Index:
    """The index in ``folder`` if its stamp and files are as they were written; else a new one, written there.

    ``stamp`` says what it was made of (rows, model, parameters). ``notice`` is told why an index that was there could
    not be used, or why it cannot be kept. ``folder`` None: work in memory.
    """
    if folder is None:
        return build()
    fault = _fault(folder, stamp)
    if fault is None:
        try:
            return kind.load(folder)
        except (OSError, ValueError, KeyError, RuntimeError, EOFError) as error:
            fault = f"it cannot be read ({type(error).__name__})"
    if fault:
        notice(f"{label} rebuilt: {fault}.")
    index = build()
    try:
        _write(index, folder, stamp)
    except (OSError, RuntimeError) as error:  # FAISS says RuntimeError where the disk is full
        why = error.strerror if isinstance(error, OSError) else "the disk may be full"
        notice(f"{label} is kept in memory only: {folder} cannot be written ({why}).")
    return index


def _fault(folder: Path, stamp: dict[str, object]) -> str | None:
    """Why the files cannot be used; "" if there are none yet, None if they can."""
    if not folder.is_dir():
        return ""
    try:
        manifest = json.loads((folder / MANIFEST).read_text())
        sums = dict(manifest["files"])
        written = dict(manifest["stamp"])
    except (OSError, ValueError, KeyError, TypeError):
        return "its manifest is damaged"
    for key, value in {**stamp, "format": FORMAT}.items():
        if written.get(key) != value:
            return f"it was made for another {key} ({_short(written.get(key))}, now {_short(value)})"
    for name, expected in sums.items():
        try:
            if _checksum(folder / name) != expected:
                return f"its file {name} is damaged"
        except FileNotFoundError:
            return f"its file {name} is missing"
        except OSError as error:
            return f"its file {name} cannot be read ({error.strerror})"
    return None if sums else "its manifest is damaged"


def _write(index: Savable, folder: Path, stamp: dict[str, object]) -> None:
    """All files into a folder of their own, then renamed into place; a reader sees the old or the new, whole."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        index.save(fresh)
        files = {
            file.relative_to(fresh).as_posix(): _checksum(file) for file in fresh.rglob("*") if file.is_file()
        }
        manifest = {"stamp": {**stamp, "format": FORMAT}, "files": files}
        (fresh / MANIFEST).write_text(json.dumps(manifest, indent=1))
        _replace(fresh, folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _replace(fresh: Path, folder: Path) -> None:
    """Swaps ``fresh`` in. Another process may be doing the same: one of the two stays, and tries repeat until then."""
    old = Path(mkdtemp(prefix=f".{folder.name}.old.", dir=folder.parent))
    try:
        for left in reversed(range(SWAP_TRIES)):
            try:
                if folder.exists():
                    folder.rename(old / str(left))
                fresh.rename(folder)
                return
            except OSError:
                if folder.is_dir():
                    return
                if not left:
                    raise
    finally:
        shutil.rmtree(old, ignore_errors=True)


def _checksum(file: Path) -> int:
    """CRC-32 of the content: it guards against damage, not against malice."""
    value = 0
    with file.open("rb") as stream:
        while block := stream.read(1 << 22):
            value = zlib.crc32(block, value)
    return value


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "…"
