"""The files of a run: written whole or not at all, and a log of finished cases from which a killed run goes on."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

from core.errors import UsageError
from evals.drafts import draft_of, settle

Entry = dict[str, Any]
"""What came of one case: ``row`` and ``timing``, or ``failure``."""
Key = tuple[str, str, int]
"""A case: dataset, case id, repeat."""
LOG = ".unfinished.jsonl"


def line(row: Mapping[str, Any]) -> str:
    """One line of JSON. ValueError for NaN or infinity, which JSON has not."""
    return json.dumps(row, ensure_ascii=False, sort_keys=True, allow_nan=False) + "\n"


@contextmanager
def written(path: Path) -> Iterator[IO[str]]:
    """A file that appears whole, when the block ends, under its name.

    Raises:
        UsageError: it cannot be written; nothing of it is left then.
    """
    draft = draft_of(path)
    try:
        with draft.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        raise UsageError(
            f"{path}: cannot be written: {error.strerror}; make room for it, or choose another --out"
        ) from error
    finally:
        with suppress(OSError):  # a folder that may not be written holds no draft either
            draft.unlink(missing_ok=True)
        settle(path)


class RunLog:
    """Finished cases of a run that is not finished. One of other settings is not gone on with, but begun anew."""

    def __init__(self, out: Path, manifest: Mapping[str, Any]) -> None:
        self._path = out / LOG
        self._run = sha256(line(manifest).encode("utf-8", "backslashreplace")).hexdigest()
        self.done: dict[Key, Entry] = self._read()
        self._file: IO[str] | None = None

    def add(self, key: Key, entry: Entry) -> None:
        """Acknowledges a case: a kill after this does not lose it."""
        try:
            if self._file is None:
                self._file = self._opened()
            self._file.write(line({"key": key, "entry": entry}))
            self._file.flush()
        except OSError as error:
            raise UsageError(
                f"{self._path}: cannot be written: {error.strerror}; make room and run again to go on"
            ) from error

    def close(self) -> None:
        """Leaves the log for a later run to go on from."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def finish(self) -> None:
        """The run is written: the log is not needed any more."""
        self.close()
        with suppress(OSError):
            self._path.unlink(missing_ok=True)

    def _opened(self) -> IO[str]:
        if not self.done:
            self._path.write_text(line({"run": self._run}), encoding="utf-8", newline="\n")
        elif not self._path.read_bytes().endswith(b"\n"):  # the kill cut a line
            os.truncate(self._path, self._path.read_bytes().rfind(b"\n") + 1)
        return self._path.open("a", encoding="utf-8", errors="backslashreplace", newline="\n")

    def _read(self) -> dict[Key, Entry]:
        """What an earlier run of the same settings scored; failures are tried again, a cut line is left out."""
        if not self._path.is_file():
            return {}
        with self._path.open(encoding="utf-8", errors="replace") as file:
            if next(file, "") != line({"run": self._run}):
                return {}
            found = [parsed for text in file if (parsed := _parsed(text))]
        return {(str(key[0]), str(key[1]), int(key[2])): entry for key, entry in found if "row" in entry}


def _parsed(text: str) -> tuple[list[Any], Entry] | None:
    try:
        body = json.loads(text)
        return body["key"], body["entry"]
    except (ValueError, KeyError, TypeError):
        return None
