"""How much of an input is read. What is longer is refused with the limit in the message; memory never follows the input.

Files of one record a line are read line by line and may have any length; everything else is held in memory as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO

from core.errors import DataError

MAX_LINE = 16 * 1024 * 1024
"""Bytes of one line of a file of records."""
MAX_SKIPPED = 512 * 1024 * 1024
"""Bytes of a line too long that are passed over to reach the next one; behind a longer one nothing is read."""
MAX_WHOLE = 256 * 1024 * 1024
"""Bytes of a file that is one value: a JSON document or array, a script of replies, a baseline."""
MAX_SETTINGS = 1024 * 1024
"""Bytes of a file of settings: a profile, rules, tokens."""
_PIECE = 1024 * 1024


def read_whole(path: Path, limit: int = MAX_WHOLE) -> bytes:
    """The bytes of a file, at most ``limit``.

    Raises:
        DataError: it holds more. OSError: it cannot be read.
    """
    with path.open("rb") as file:
        return read_stream(file, str(path), limit)


def read_stream(stream: IO[bytes], name: str, limit: int) -> bytes:
    """All of a stream, which may be endless. DataError: it holds more than ``limit`` bytes."""
    pieces, size = [], 0
    while size <= limit and (piece := stream.read(min(_PIECE, limit + 1 - size))):
        pieces.append(piece)
        size += len(piece)
    if size > limit:
        raise DataError(f"{name}: more than {limit} bytes, the most that is read of it; bring it in parts")
    return b"".join(pieces)


def lines(file: IO[bytes], longest: int = MAX_LINE) -> Iterator[bytes | int]:
    """Each line with its end. In place of one of more than ``longest`` bytes: how many were passed over to its end; where
    that were more than ``MAX_SKIPPED`` it is the last."""
    while line := file.readline(longest + 1):
        if len(line) <= longest:
            yield line
            continue
        size = len(line)
        while not line.endswith(b"\n") and size <= MAX_SKIPPED and (line := file.readline(_PIECE)):
            size += len(line)
        yield size
        if size > MAX_SKIPPED:
            return


def too_long(size: int, longest: int = MAX_LINE) -> str:
    """What is wrong with a line that was passed over."""
    rest = "; nothing behind it was read" if size > MAX_SKIPPED else ""
    return f"the line is longer than {longest} bytes{rest}"
