"""Reading JSON Lines, plain or gzipped, with every fault said by file and line."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NoReturn, cast

from core.bounded import MAX_LINE, too_long
from core.bounded import lines as bounded_lines
from core.errors import DataError
from core.ingest.items import Problem


def json_lines(path: Path) -> Iterator[tuple[str, dict[str, Any] | Problem]]:
    """``(file:line, object or problem)`` for each line that is not blank. ``NaN`` and ``Infinity`` are no JSON."""
    for where, line in text_lines(path):
        if isinstance(line, Problem):
            yield where, line
        elif line.strip():
            yield where, _object(line, where)


def text_lines(path: Path, longest: int = MAX_LINE) -> Iterator[tuple[str, str | Problem]]:
    """``(file:line, line without its end or problem)``; a cut-off gzip file is a problem at its last line, a line of more
    than ``longest`` bytes is one too."""
    with _open(path) as file:
        rows = bounded_lines(file, longest)
        number = 0
        while True:
            number += 1
            where = f"{path}:{number}"
            try:
                line = next(rows, b"")
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                yield where, Problem(where=where, what=f"the compressed file is cut off or damaged: {error}")
                return
            if line == b"":
                return
            yield where, _decoded(line, where, longest, first=number == 1)


def found(folder: Path, *names: str) -> Path:
    """The first of ``names`` that is a file in ``folder``.

    Raises:
        DataError: none is; the message says what was expected.
    """
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise DataError(f"{folder}: expected a file {' or '.join(names)}")


def _decoded(line: bytes | int, where: str, longest: int, *, first: bool) -> str | Problem:
    if isinstance(line, int):
        return Problem(where=where, what=too_long(line, longest))
    try:
        return line.decode("utf-8-sig" if first else "utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        return Problem(where=where, what=f"not UTF-8 at byte {error.start + 1} of the line")


def _open(path: Path) -> IO[bytes]:
    try:
        return cast(IO[bytes], gzip.open(path)) if path.suffix == ".gz" else path.open("rb")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from error


def parsed(text: str) -> Any:
    """The JSON value of a text.

    Raises:
        ValueError: ``NaN`` or ``Infinity``, which JSON has not; malformed (JSONDecodeError) or nested too deeply.
    """
    try:
        return json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("not JSON that can be read: nested too deeply") from None


def words(value: object, what: str) -> str:
    """``value`` as it is, where it is a text with something in it.

    Raises:
        ValueError: it is no text, blank, or holds what cannot be stored: NUL, or half of a character (a lone surrogate).
    """
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{what} must be a text, got {_short(value)}")
    if "\x00" in value:
        raise ValueError(f"{what} holds NUL characters: {_short(value)}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{what} holds half of a character (a lone surrogate): {_short(value)}") from None
    return value


def identifier(value: object, what: str) -> str:
    """An id: a text, or a whole number as its digits spell it.

    Raises:
        ValueError: it is neither.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{what} must be a name or a whole number, got {_short(value)}")
    return words(value, what)


def title_of(row: dict[str, Any]) -> str:
    """The title of a document, "" where it has none. ValueError: it is no text."""
    title = row.get("title")
    return "" if title is None or title == "" else words(title, "title")


def _short(value: object) -> str:
    return repr(value)[:60]


def _object(line: str, where: str) -> dict[str, Any] | Problem:
    try:
        row = parsed(line)
    except json.JSONDecodeError as error:
        return Problem(
            where=where, what=f"not JSON, cut off or malformed: {error.msg} at column {error.colno}"
        )
    except ValueError as error:
        return Problem(where=where, what=str(error))
    if not isinstance(row, dict):
        return Problem(where=where, what=f"expected a JSON object, got {type(row).__name__}")
    return row


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
