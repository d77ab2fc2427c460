"""Where the vector index of a corpus lies, by choice: in files (FAISS), or kept by a server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from core.errors import ChangedError, StoreError, UsageError
from core.index.base import Rows
from core.index.choice import FaissSettings, IndexChoice, MilvusSettings, PgvectorSettings
from core.index.served import ServedIndex
from core.index.source import StoreCorpus
from core.index.syncing import bring, current
from core.index.table import VectorTable
from core.models.base import Embedder
from core.store import Store


@dataclass(frozen=True, slots=True)
class Serving:
    """A server that keeps the vectors of a store."""

    store: Store
    choice: IndexChoice

    def table(self, kind: str, embedder: Embedder) -> VectorTable:
        """The vectors of one kind of rows by one model.

        Raises:
            StoreError: the server cannot be used. UsageError: the choice does not fit the store, an extra is missing.
        """
        match self.choice.settings:
            case PgvectorSettings() as settings:
                from core.index.pgvector import PgvectorTable
                from core.store.postgres import PostgresDatabase

                database = self.store.database
                if not isinstance(database, PostgresDatabase):
                    raise UsageError(
                        "index pgvector needs a store in PostgreSQL: name one with --db postgresql://…"
                    )
                return PgvectorTable(database, kind, embedder.model_id, embedder.dim, settings)
            case MilvusSettings() as settings:
                from core.index.milvus import MilvusTable

                return MilvusTable(self.choice.address, kind, embedder.model_id, embedder.dim, settings)
            case FaissSettings():
                raise UsageError("FAISS keeps its vectors in files, not in a server")

    def opened(
        self, source: StoreCorpus, embedder: Embedder, row_ids: Rows, notice: Callable[[str], None]
    ) -> ServedIndex | None:
        """The index of rows (n,), brought to what the store holds.

        None, and a notice, where this user may not write and what is kept is not as the store is now.

        Raises:
            ChangedError: the store changed meanwhile. StoreError, UsageError: as ``table``.
        """
        writable = self.store.database.writable
        try:
            table = self.table(source.kind, embedder)
            if writable:
                bring(source, table, embedder)
            elif not current(source.datasets, table):
                raise StoreError(f"what {table.place} keeps is of another revision")
        except ChangedError:
            raise
        except StoreError as error:
            if writable:
                raise
            notice(f"vector index of {source.kind}s is kept in memory only: {error}.")
            return None
        left_out = np.flatnonzero(np.isin(row_ids, table.without_vector(source.datasets), assume_unique=True))
        return ServedIndex(table, source.datasets, row_ids, left_out, embedder.dim)
