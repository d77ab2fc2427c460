"""What recording one case gives, kept on disk until the recording is whole: a kill loses no case that was done."""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from glob import escape
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import UsageError
from core.index.corpus import Corpus
from core.records import Dataset
from core.store import CorpusKind, Store
from core.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One case's ``arrays``; ``idf`` weighs its question's stems, ``whole`` says for each width whether it held all there
    was, ``exact`` whether its vector search looked at every vector."""

    arrays: Mapping[str, NDArray[Any]]
    idf: Mapping[str, float]
    whole: Mapping[str, bool]
    exact: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Universe:
    """The datasets that some of the cases are asked of, and the hash of all they hold."""

    workspace: Workspace
    datasets: tuple[Dataset, ...]
    content: str

    @classmethod
    def opened(cls, workspace: Workspace, pattern: str, user_id: str) -> Universe:
        """Raises NotFoundError: no such dataset."""
        found = tuple(workspace.store.matching(pattern, user_id))
        return cls(workspace=workspace, datasets=found, content=_content(workspace.store, found))

    @property
    def store(self) -> Store:
        """Where the rows are."""
        return self.workspace.store

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the datasets."""
        return tuple(one.name for one in self.datasets)

    @property
    def dataset_ids(self) -> list[int]:
        """Row numbers of the datasets."""
        return [one.dataset_id for one in self.datasets]

    def corpus(self, kind: CorpusKind) -> Corpus:
        """The searchable rows of one kind."""
        return self.workspace.corpus(kind, list(self.datasets))

    def changed(self) -> bool:
        """Whether any of it was written to since."""
        return _content(self.store, self.datasets) != self.content


def _content(store: Store, datasets: Sequence[Dataset]) -> str:
    return "\x1f".join(store.content_hash(one.dataset_id) for one in datasets)


class Draft:
    """Pieces of a recording that is being made, in a folder beside it which is named by what is recorded of what."""

    def __init__(self, out: Path, stamp: Mapping[str, object]) -> None:
        text = json.dumps(stamp, sort_keys=True, ensure_ascii=True)
        self._folder = out.with_name(f".{out.name}.draft-{sha256(text.encode()).hexdigest()[:16]}")
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"{out}: cannot be written: {error.strerror}; choose another --out") from error

    def get(self, number: int) -> Piece | None:
        """A case's piece; None where it was not recorded yet, or its file is damaged."""
        file = self._folder / f"{number:07}.npz"
        try:
            with np.load(file, allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in stored.files}
            body = json.loads(arrays.pop("body").tobytes())
        except (OSError, ValueError, KeyError, zipfile.BadZipFile):
            return None
        return Piece(arrays=arrays, **body)

    def put(self, number: int, piece: Piece) -> None:
        """Keeps a case's piece; when this returns, it is on disk."""
        body = {"idf": dict(piece.idf), "whole": dict(piece.whole), "exact": piece.exact}
        packed = np.frombuffer(json.dumps(body).encode(), dtype=np.uint8)
        whole = self._folder / f"{number:07}.npz"
        part = whole.with_suffix(".part")
        with part.open("wb") as file:
            np.savez(file, allow_pickle=False, body=packed, **piece.arrays)
            file.flush()
            os.fsync(file.fileno())
        part.replace(whole)


def forget(out: Path) -> None:
    """Removes what was kept beside the folder while it was recorded: the recording is whole."""
    for folder in out.parent.glob(f".{escape(out.name)}.draft-*"):
        shutil.rmtree(folder, ignore_errors=True)
