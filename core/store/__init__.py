"""The store: everything acknowledged is in one SQLite file and survives a kill; indexes are derived from it."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType

from core.store.connection import Database
from core.store.datasets import Datasets
from core.store.embeddings import Embeddings
from core.store.journals import Journals
from core.store.labels import Labels
from core.store.reading import CORPUS_KINDS, Columns, CorpusKind, Reading

__all__ = ["CORPUS_KINDS", "Columns", "CorpusKind", "Store", "default_path"]


def default_path() -> Path:
    """``ASSAY_DB``, else ``.assay/assay.db`` in the working folder."""
    return Path(os.environ.get("ASSAY_DB") or Path(".assay") / "assay.db")


class Store(Datasets, Reading):
    """One database. Safe to share between threads; several processes may read and write it at once."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.embeddings = Embeddings(database)
        self.journals = Journals(database)
        self.labels = Labels(database)
        self._hashes = {}

    @classmethod
    def open(cls, path: Path, *, create: bool = True) -> Store:
        """Opens the store at ``path``, making it (and its folder) unless ``create`` is False.

        Raises:
            StoreError: it cannot be opened, is damaged, is no Assay database or of a newer version.
        """
        return cls(Database(path, create=create))

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes all connections."""
        self.database.close()
