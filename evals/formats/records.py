"""Files of records: JSON Lines or one JSON array, plain or gzipped, each record by its file and line."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from core.bounded import MAX_WHOLE
from core.errors import DataError
from core.ingest.items import Item, Problem
from evals.formats.lines import json_lines, parsed, text_lines

Record = dict[str, Any]
Placed = tuple[str, Item | Problem]
FAULTS = (KeyError, TypeError, IndexError, AttributeError, ValueError, OverflowError)
"""What a record of another shape raises."""
_SPLITS = {"train": "train", "dev": "dev", "validation": "dev", "valid": "dev", "val": "dev", "test": "test"}
SPLIT = "split the file, or write it as JSON Lines, which may have any length"
_BETWEEN = re.compile(r"[\s,]*")


def files_of(path: Path, names: Sequence[str], what: str) -> list[Path]:
    """``path`` where it is a file, else those of ``names`` (or gzipped, ``.gz``) that are files in the folder.

    Raises:
        DataError: there is nothing, or nothing of that name; the message says what was expected.
    """
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise DataError(f"{path}: no such file or folder; {what} is {' or '.join(names)}")
    there = [file for name in names for file in (path / name, path / f"{name}.gz") if file.is_file()]
    if not there:
        raise DataError(f"{path}: expected a file {' or '.join(names)}")
    return there


def split_of(file: Path) -> str | None:
    """``train``, ``dev`` or ``test`` where the file's name says so (``hotpot_dev_distractor_v1.json``)."""
    parts = re.split(r"[^a-z]+", file.name.lower())
    return next((_SPLITS[part] for part in parts if part in _SPLITS), None)


def records(path: Path) -> Iterator[tuple[str, Record | Problem]]:
    """``(file:line, object or problem)`` for each record of a JSON Lines file or of one JSON array.

    Several records on one line are told apart by their number (``file:1[7]``). Of an array that is cut off, what stands
    before the cut is whole.
    """
    if _starts_with(path, "["):
        yield from _array(path)
    else:
        yield from json_lines(path)


def whole_text(path: Path) -> tuple[str, list[Problem]]:
    """All lines of a file; what cannot be read is a problem and ends it."""
    lines, problems, size = list[str](), list[Problem](), 0
    for where, line in text_lines(path, MAX_WHOLE):
        size += len(line) + 1 if isinstance(line, str) else 0
        if size > MAX_WHOLE:
            line = Problem(where=where, what=f"more than {MAX_WHOLE} characters up to here; {SPLIT}")
        if isinstance(line, Problem):
            problems.append(line)
            break
        lines.append(line)
    return "\n".join(lines), problems


def document(path: Path, what: str) -> Any:
    """The JSON value of a whole file.

    Raises:
        DataError: it cannot be read, or is no JSON.
    """
    text, problems = whole_text(path)
    if problems:
        raise DataError(f"{problems[0].where}: {problems[0].what}; expected {what}")
    try:
        return parsed(text)
    except json.JSONDecodeError as error:
        raise DataError(
            f"{path}:{error.lineno}: not JSON, cut off or malformed: {error.msg}; expected {what}"
        ) from error
    except ValueError as error:
        raise DataError(f"{path}:1: {error}; expected {what}") from error


def each(
    rows: Iterable[tuple[str, Record | Problem]], make: Callable[[str, Record], Iterator[Placed]], what: str
) -> Iterator[Placed]:
    """What ``make`` makes of each record; a malformed record is a problem of its own and takes nothing else down."""
    for where, row in rows:
        if isinstance(row, Problem):
            yield where, row
            continue
        try:
            made = list(make(where, row))
        except FAULTS as error:
            yield where, Problem(where=where, what=f"not {what}: {type(error).__name__} {error}")
        else:
            yield from made


def listed(value: object, what: str) -> list[Any]:
    """``value`` where it is a list. Raises TypeError otherwise."""
    if not isinstance(value, list):
        raise TypeError(f"{what} must be a list, got {type(value).__name__}")
    return value


def left_over(
    rows: Iterable[tuple[str, Record | Problem]], known: frozenset[str], seen: Counter[str]
) -> Iterator[tuple[str, Record | Problem]]:
    """The rows without fields that are not ``known``; ``seen`` counts what was dropped, by field."""
    for where, row in rows:
        if isinstance(row, dict):
            seen.update(str(key) for key in row if key not in known)
            yield where, {key: value for key, value in row.items() if key in known}
        else:
            yield where, row


def dropped(file: Path, seen: Counter[str]) -> Iterator[Problem]:
    """One problem for each field that was dropped from a file."""
    for name, count in sorted(seen.items()):
        what = f"{count} records carry {name!r}, which is no label of this format"
        yield Problem(where=f"{file}:1", what=what, action="dropped")


def _starts_with(path: Path, mark: str) -> bool:
    for _, line in text_lines(path, MAX_WHOLE):
        if isinstance(line, Problem):
            return False
        if line.strip():
            return line.lstrip().startswith(mark)
    return False


def _array(path: Path) -> Iterator[tuple[str, Record | Problem]]:
    text, unread = whole_text(path)
    place, line, last, index = text.index("[") + 1, 1, 0, 0
    line += text.count("\n", 0, place)
    strict, lenient = json.JSONDecoder(parse_constant=_not_json), json.JSONDecoder()
    while True:
        start = _BETWEEN.match(text, place)
        begin = start.end() if start else place
        line += text.count("\n", place, begin)
        where = f"{path}:{line}" if line != last else f"{path}:{line}[{index}]"
        if text.startswith("]", begin):
            if text[begin + 1 :].strip():
                yield where, Problem(where=where, what="more stands behind the end of the array")
            return
        if begin >= len(text):
            where = f"{path}:{line}"
            yield where, unread[0] if unread else Problem(where=where, what="the array is cut off")
            return
        try:
            value, end = lenient.raw_decode(text, begin)
        except (json.JSONDecodeError, RecursionError) as error:
            what = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deeply"
            yield where, Problem(where=where, what=f"not JSON, cut off or malformed from here on: {what}")
            return
        yield where, _sound(strict, text[begin:end], value, where)
        place, last, index = end, line, index + 1
        line += text.count("\n", begin, end)


def _sound(strict: json.JSONDecoder, text: str, value: Any, where: str) -> Record | Problem:
    if not isinstance(value, dict):
        return Problem(where=where, what=f"expected a JSON object, got {type(value).__name__}")
    try:
        strict.decode(text)
    except ValueError as error:
        return Problem(where=where, what=str(error))
    return value


def _not_json(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")
