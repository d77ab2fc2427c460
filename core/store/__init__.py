"""The store: everything acknowledged is in one SQLite file, or on a PostgreSQL server, and survives a kill; indexes are
derived from it."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

from core.store.base import Database
from core.store.connection import SqliteDatabase
from core.store.datasets import Datasets
from core.store.embeddings import Embeddings
from core.store.journals import Journals
from core.store.labels import Labels
from core.store.location import default_path, is_server
from core.store.reading import CORPUS_KINDS, Columns, CorpusKind, Reading

__all__ = ["CORPUS_KINDS", "Columns", "CorpusKind", "Store", "default_path"]


class Store(Datasets, Reading):
    """One database. Safe to share between threads; several processes may read and write it at once."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.embeddings = Embeddings(database)
        self.journals = Journals(database)
        self.labels = Labels(database)
        self._hashes = {}

    @classmethod
    def open(cls, path: Path | str, *, create: bool = True) -> Store:
        """Opens the store at ``path`` (a file or a ``postgresql://`` address), making it unless ``create`` is False.

        Raises:
            StoreError: it cannot be opened, is damaged, is no Assay database or of a newer version.
        """
        if is_server(path):
            from core.store.postgres import PostgresDatabase

            return cls(PostgresDatabase(str(path), create=create))
        return cls(SqliteDatabase(Path(path), create=create))

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes all connections."""
        self.database.close()
