"""Reading JSON Lines, plain or gzipped, with every fault said by file and line."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NoReturn, cast

from core.errors import DataError
from core.ingest.items import Problem


def json_lines(path: Path) -> Iterator[tuple[str, dict[str, Any] | Problem]]:
    """``(file:line, object or problem)`` for each line that is not blank. ``NaN`` and ``Infinity`` are no JSON."""
    for where, line in text_lines(path):
        if isinstance(line, Problem):
            yield where, line
        elif line.strip():
            yield where, _object(line, where)


def text_lines(path: Path) -> Iterator[tuple[str, str | Problem]]:
    """``(file:line, line without its end or problem)``; a cut-off gzip file is a problem at its last line."""
    with _open(path) as file:
        number = 0
        while True:
            number += 1
            where = f"{path}:{number}"
            try:
                line = file.readline()
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                yield where, Problem(where=where, what=f"the compressed file is cut off or damaged: {error}")
                return
            if not line:
                return
            try:
                yield where, line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                yield where, Problem(where=where, what=f"not UTF-8 at byte {error.start + 1} of the line")


def found(folder: Path, *names: str) -> Path:
    """The first of ``names`` that is a file in ``folder``.

    Raises:
        DataError: none is; the message says what was expected.
    """
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise DataError(f"{folder}: expected a file {' or '.join(names)}")


def _open(path: Path) -> IO[bytes]:
    try:
        return cast(IO[bytes], gzip.open(path)) if path.suffix == ".gz" else path.open("rb")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from error


def _object(line: str, where: str) -> dict[str, Any] | Problem:
    try:
        row = json.loads(line, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        return Problem(
            where=where, what=f"not JSON, cut off or malformed: {error.msg} at column {error.colno}"
        )
    except (ValueError, RecursionError) as error:
        return Problem(where=where, what=str(error) or "nested too deeply")
    if not isinstance(row, dict):
        return Problem(where=where, what=f"expected a JSON object, got {type(row).__name__}")
    return row


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
