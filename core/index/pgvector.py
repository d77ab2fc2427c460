"""Vectors in the store's own PostgreSQL server, by pgvector. The only module that knows the package of that name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from weakref import WeakSet

import numpy as np

from core.errors import UsageError
from core.index.base import Rows, Scores
from core.index.choice import PgvectorSettings
from core.index.pgvector_schema import migrate, table_id
from core.index.table import Scope
from core.records import Dataset
from core.store.postgres import PostgresDatabase

FULL_DIM, HALF_DIM = 2000, 4000
"""Dimensions up to which pgvector makes a graph of float32 and of float16."""
MOST_DEPTH, DEPTH_FACTOR = 1000, 4
LISTED = 5000
"""Members of a filter up to which they are sent one by one; more go as a bitmap."""
SCAN_MEMORY = 8
"""How many times ``work_mem`` a scan that goes on may take."""


class PgvectorTable:
    """One table for each kind of rows and model: row id, dataset, hash of the text, vector or NULL."""

    def __init__(
        self, database: PostgresDatabase, kind: str, model_id: str, dim: int, settings: PgvectorSettings
    ) -> None:
        self._library = _library()
        self._database = database
        self._settings = settings
        self._dim = dim
        self._known: WeakSet[Any] = WeakSet()
        migrate(database)
        self._number = table_id(database, kind, model_id, dim)
        self._name = f"vectors_{self._number}"
        self._graph = f"{self._name}_graph"
        self.exact = not self._has_graph()

    @property
    def place(self) -> str:
        """The database, without a password."""
        return self._database.place

    def revisions(self, datasets: Sequence[Dataset]) -> dict[str, int]:
        """Dataset uid → the revision it was last brought to."""
        by_id = {dataset.dataset_id: dataset.uid for dataset in datasets}
        found = self._rows(
            "SELECT dataset_id, revision FROM vector_revision WHERE table_id = $1 AND dataset_id = ANY($2::bigint[])",
            [self._number, list(by_id)],
        )
        return {by_id[dataset_id]: revision for dataset_id, revision in found}

    @contextmanager
    def writing(self, dataset: Dataset) -> Iterator[None]:
        """A transaction that no other of the same table and dataset may overlap."""
        with self._database.transaction(f"{self._name} {dataset.uid}"):
            yield

    def hashes(self, dataset: Dataset) -> Iterator[tuple[int, str]]:
        """Row id and text hash of every row that is kept."""
        return iter(
            self._rows(
                f"SELECT row_id, text_hash FROM {self._name} WHERE dataset_id = $1", [dataset.dataset_id]
            )
        )

    def put(self, dataset: Dataset, row_ids: Rows, hashes: Sequence[str], vectors: Scores) -> None:
        """Adds rows; a vector of zeros becomes NULL."""
        into = f"COPY {self._name} (row_id, dataset_id, text_hash, vector) FROM STDIN WITH (FORMAT BINARY)"
        with self._connected() as connection, connection.cursor() as cursor, cursor.copy(into) as copy:
            copy.set_types(["int8", "int8", "text", "vector"])
            for row_id, text_hash, vector in zip(row_ids.tolist(), hashes, vectors, strict=True):
                kept = self._library.Vector(vector) if vector.any() else None
                copy.write_row((row_id, dataset.dataset_id, text_hash, kept))

    def drop(self, dataset: Dataset, row_ids: Rows) -> None:
        """Removes rows."""
        with self._connected() as connection:
            connection.execute(
                f"DELETE FROM {self._name} WHERE row_id = ANY($1::bigint[]) AND dataset_id = $2",
                [row_ids.tolist(), dataset.dataset_id],
            )

    def finish(self, dataset: Dataset) -> None:
        """Notes that the dataset is here as of its revision."""
        with self._connected() as connection:
            connection.execute(
                "INSERT INTO vector_revision VALUES ($1, $2, $3) "
                "ON CONFLICT (table_id, dataset_id) DO UPDATE SET revision = excluded.revision",
                [self._number, dataset.dataset_id, dataset.revision],
            )

    def prepare(self) -> None:
        """Makes the graph where there is none and more rows than are searched exactly."""
        self.exact = not self._has_graph()
        if self.exact and self._dim <= HALF_DIM and self._count() > self._settings.exact_below:
            with self._database.transaction(f"{self._name} graph"), self._connected() as connection:
                connection.execute(
                    "SELECT set_config('maintenance_work_mem', $1, true)", [f"{self._settings.build_mb}MB"]
                )
                connection.execute(
                    f"CREATE INDEX IF NOT EXISTS {self._graph} ON {self._name} USING hnsw ({self._operand()} "
                    f"{'vector' if self._dim <= FULL_DIM else 'halfvec'}_ip_ops) "
                    f"WITH (m = {self._settings.m}, ef_construction = {self._settings.ef_construction})"
                )
                connection.execute(f"ANALYZE {self._name}")
            self.exact = False

    def forget(self, datasets: Sequence[Dataset]) -> None:
        """Removes the rows of these datasets, and the graph, which ``prepare`` makes anew."""
        ids = [dataset.dataset_id for dataset in datasets]
        with self._database.transaction(f"{self._name} graph"), self._connected() as connection:
            connection.execute(f"DROP INDEX IF EXISTS {self._graph}")
            connection.execute(f"DELETE FROM {self._name} WHERE dataset_id = ANY($1::bigint[])", [ids])
            connection.execute(
                "DELETE FROM vector_revision WHERE table_id = $1 AND dataset_id = ANY($2::bigint[])",
                [self._number, ids],
            )
        self.exact = True

    def without_vector(self, datasets: Sequence[Dataset]) -> Rows:
        """Ids of the rows that are kept without a vector, ascending."""
        rows = self._rows(
            f"SELECT row_id FROM {self._name} WHERE dataset_id = ANY($1::bigint[]) AND vector IS NULL ORDER BY 1",
            [[dataset.dataset_id for dataset in datasets]],
        )
        return np.array([row_id for (row_id,) in rows], dtype=np.int64)

    def fetch(self, datasets: Sequence[Dataset], row_ids: Rows) -> tuple[Rows, Scores]:
        """Those of the rows that have a vector, with it, in any order."""
        return self._vectors(
            f"SELECT row_id, vector FROM {self._name} WHERE row_id = ANY($1::bigint[]) AND vector IS NOT NULL",
            [row_ids.tolist()],
        )

    def nearest(self, query: Scores, count: int, scope: Scope) -> tuple[Rows, Scores]:
        """The ``count`` best of all there are. The order is by an expression that no graph answers."""
        where, values = _filter(scope)
        return self._vectors(
            f"SELECT row_id, vector FROM {self._name} WHERE {where} AND vector IS NOT NULL "
            "ORDER BY (vector <#> $1) + 0.0 LIMIT $2",
            [self._library.Vector(query), count, *values],
        )

    def near(self, query: Scores, count: int, scope: Scope) -> tuple[Rows, Scores] | None:
        """The same by the graph, which goes on until the filter is filled or enough rows were seen."""
        if self.exact or scope.count <= self._settings.exact_below:
            return None
        where, values = _filter(scope)
        kind = f"{'vector' if self._dim <= FULL_DIM else 'halfvec'}({self._dim})"
        return self._vectors(
            f"SELECT row_id, vector FROM {self._name} WHERE {where} "
            f"ORDER BY {self._operand()} <#> $1::{kind} LIMIT $2",
            [self._library.Vector(query), count, *values],
            self._scan(count),
        )

    def _scan(self, count: int) -> dict[str, str]:
        return {
            "hnsw.ef_search": str(min(MOST_DEPTH, max(self._settings.ef_search, DEPTH_FACTOR * count))),
            "hnsw.iterative_scan": self._settings.iterative_scan,
            "hnsw.max_scan_tuples": str(self._settings.max_scan_tuples),
            "hnsw.scan_mem_multiplier": str(SCAN_MEMORY),
            # there are always other ways to sort a filter's rows; here it is settled that the graph is asked
            "enable_seqscan": "off",
            "enable_bitmapscan": "off",
            "enable_sort": "off",
        }

    def _operand(self) -> str:
        """What the graph is of."""
        return "vector" if self._dim <= FULL_DIM else f"(vector::halfvec({self._dim}))"

    def _has_graph(self) -> bool:
        return bool(self._rows("SELECT to_regclass($1) IS NOT NULL", [self._graph])[0][0])

    def _count(self) -> int:
        return int(self._rows(f"SELECT count(vector) FROM {self._name}", [])[0][0])

    def _vectors(
        self, sql: str, values: list[Any], settings: dict[str, str] | None = None
    ) -> tuple[Rows, Scores]:
        with self._connected() as connection, connection.transaction():
            if settings:
                places = ", ".join(
                    f"set_config(${2 * n + 1}, ${2 * n + 2}, true)" for n in range(len(settings))
                )
                connection.execute(f"SELECT {places}", [part for pair in settings.items() for part in pair])
            found = connection.execute(sql, values, binary=True).fetchall()
        row_ids = np.array([row_id for row_id, _ in found], dtype=np.int64)
        vectors = np.array([vector.to_numpy() for _, vector in found], dtype=np.float32)
        return row_ids, vectors.reshape(len(found), self._dim)

    def _rows(self, sql: str, values: list[Any]) -> list[Any]:
        with self._connected() as connection:
            rows: list[Any] = connection.execute(sql, values).fetchall()
        return rows

    @contextmanager
    def _connected(self) -> Iterator[Any]:
        """A connection that knows pgvector's types."""
        with self._database.connected() as connection:
            if connection not in self._known:
                self._library.psycopg.register_vector(connection)
                self._known.add(connection)
            yield connection


def _filter(scope: Scope) -> tuple[str, list[Any]]:
    """A condition with its values, which are numbered from 3."""
    ids = [dataset.dataset_id for dataset in scope.datasets]
    if scope.members is None:
        return "dataset_id = ANY($3::bigint[]) AND row_id <= $4::bigint", [ids, scope.last_row]
    if len(scope.members) <= LISTED:
        return "row_id = ANY($3::bigint[])", [scope.members.tolist()]
    first, last = int(scope.members[0]), int(scope.members[-1])
    bits = np.zeros(last - first + 1, dtype=bool)
    bits[scope.members - first] = True
    return (
        # a CASE, since conditions may be looked at in any order and a bit beyond the last is an error
        "CASE WHEN row_id BETWEEN $3::bigint AND $4::bigint "
        "THEN get_bit($5::bytea, row_id - $3::bigint) = 1 ELSE false END",
        [first, last, np.packbits(bits, bitorder="little").tobytes()],
    )


def _library() -> Any:
    try:
        import pgvector
        import pgvector.psycopg
    except ImportError as error:
        raise UsageError("vectors in PostgreSQL need pgvector: run pip install 'assay[postgres]'") from error
    return pgvector
