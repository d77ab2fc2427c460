"""Folders and files: Markdown and text become artifacts, ``.jsonl`` is the native format."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from core.errors import DataError
from core.ingest.items import ArtifactItem, Item, Problem
from core.ingest.native import read_native

TEXT_SUFFIXES = (".md", ".markdown", ".txt")
NATIVE_SUFFIX = ".jsonl"
MAX_FILE = 64 * 1024 * 1024
"""Bytes a text file may have."""
_HEADING = re.compile(r"^# +(.+?) *#*$", re.MULTILINE)


def read_paths(paths: Sequence[Path]) -> Iterator[tuple[str, Item | Problem]]:
    """Everything under ``paths`` in sorted order. What cannot be read is a problem.

    Hidden files are passed over, and a README beside native files. Facts, links and parents may point forward.

    Raises:
        DataError: a path does not exist, or no file of a known kind is under them.
    """
    found = False
    for path in paths:
        if not path.exists():
            raise DataError(f"{path}: no such file or folder")
        for root, file in _files(path):
            found = True
            yield from _read(root, file)
    if not found:
        listed = ", ".join(map(str, paths))
        kinds = ", ".join((*TEXT_SUFFIXES, NATIVE_SUFFIX))
        raise DataError(f"{listed}: no file to read; files that end in {kinds} are")


def _files(path: Path) -> Iterator[tuple[Path, Path]]:
    if path.is_file():
        yield path.parent, path
        return
    for file in sorted(path.rglob("*")):
        hidden = any(part.startswith(".") for part in file.relative_to(path).parts) or _describes(file)
        if not hidden and not file.is_dir() and file.suffix.lower() in (*TEXT_SUFFIXES, NATIVE_SUFFIX):
            yield path, file


def _describes(file: Path) -> bool:
    """A README beside native files tells people about them; it is none of the data."""
    return file.stem.lower() == "readme" and any(file.parent.glob(f"*{NATIVE_SUFFIX}"))


def _read(root: Path, file: Path) -> Iterator[tuple[str, Item | Problem]]:
    where = os.fsencode(file).decode("utf-8", "replace")
    try:
        if where != str(file):
            yield where, Problem(where=where, what="the name is not UTF-8; rename it")
        elif not Path(os.path.realpath(file, strict=True)).is_relative_to(root.resolve()):
            yield where, Problem(where=where, what="a link that leads out of the folder")
        elif not file.is_file():
            yield where, Problem(where=where, what="no regular file")
        elif file.suffix.lower() == NATIVE_SUFFIX:
            yield from read_native(file)
        else:
            yield where, _artifact(root, file)
    except OSError as error:
        yield where, Problem(where=where, what=f"cannot be read: {error.strerror or error}")


def _artifact(root: Path, file: Path) -> ArtifactItem | Problem:
    where = str(file)
    if file.stat().st_size > MAX_FILE:
        return Problem(where=where, what=f"larger than {MAX_FILE} bytes; split it")
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return Problem(where=where, what=f"not UTF-8 at byte {error.start + 1}; save it as UTF-8")
    if "\x00" in text:
        return Problem(where=where, what="holds NUL characters; it is no text file")
    if not text.strip():
        return Problem(where=where, what="the file is empty")
    heading = _HEADING.search(text)
    title = heading.group(1).strip() if heading else file.stem
    return ArtifactItem(source=file.relative_to(root).as_posix(), text=text, title=title)
