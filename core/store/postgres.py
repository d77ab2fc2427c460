"""A store on a PostgreSQL server: a pool of connections, and locks where SQLite has one writer. The only module that
knows psycopg."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from typing import Any
from uuid import uuid4

from core.errors import StoreError, UnstorableError, UsageError
from core.store import dialect
from core.store.base import ROWS, WHOLE, Connection, Cursor, Result
from core.store.location import shown
from core.store.schema import MIGRATIONS, VERSION, statements

CONNECT_SECONDS = 10
LOCK_SECONDS = 60
"""How long a writer waits for another one, and a thread for a connection, before giving up."""
MOST_CONNECTIONS = 16
TRIES = 6
"""How often a write is done again that lost against another."""
FETCHED = 2000
_STORE_LOCK = 0x0A55A7


class PostgresDatabase:
    """Safe to share between threads; several processes may read and write at once.

    A write takes a lock of its scope: writes of one dataset follow each other, those of different datasets do not wait.
    """

    def __init__(self, url: str, *, create: bool) -> None:
        self.place = shown(url)
        self._url = url
        self._local = threading.local()
        self._psycopg = _library()
        with self.errors():
            with self._connect() as connection:
                _migrate(connection, self.place, create=create)
            self._pool = self._opened_pool()

    @property
    def writable(self) -> bool:
        """Whether this user may write the tables, and the server takes writes."""
        answer = self.rows(
            "SELECT has_table_privilege('trajectory', 'INSERT') AND NOT pg_is_in_recovery() "
            "AND current_setting('default_transaction_read_only') = 'off'"
        )
        return bool(answer[0][0])

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turns the server's errors into a StoreError of one line that names the place and what to do."""
        try:
            yield
        except self._psycopg.Error as error:
            raise StoreError(f"{self.place}: {_advice(error)}") from None

    @contextmanager
    def connected(self) -> Iterator[Any]:
        """A psycopg connection: this thread's own in a transaction, else one of the pool in autocommit."""
        mine = getattr(self._local, "connection", None)
        with self.errors():
            if mine is not None:
                yield mine
            else:
                with self._pool.connection() as connection:
                    yield connection

    @contextmanager
    def transaction(self, scope: str = WHOLE) -> Iterator[Connection]:
        """One write: all of it or nothing, acknowledged when the block ends."""
        with self.connected() as connection, connection.transaction():
            connection.execute(f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'")
            _lock(connection, scope)
            self._local.connection = connection
            try:
                yield _Translating(connection, self._psycopg)
            finally:
                self._local.connection = None

    def write(self, work: Callable[[Connection], Result], scope: str = ROWS) -> Result:
        """``work`` in a transaction; done again where it lost against another writer."""
        for left in reversed(range(TRIES)):
            try:
                with self.transaction(scope) as connection:
                    return work(connection)
            except LostError:
                if not left:
                    raise
        raise AssertionError("unreachable")

    def rows(self, sql: str, values: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
        """All rows of a query; inside a transaction of this thread it sees what that wrote."""
        with self.connected() as connection:
            return _Translating(connection, self._psycopg).execute(sql, values).fetchall()

    def stream(self, sql: str, values: tuple[object, ...] = ()) -> Iterator[tuple[object, ...]]:
        """The rows of a query, one at a time, as they were at the start; through a connection of their own."""
        text, lists = dialect.query(sql)
        with self.errors(), self._pool.connection() as connection, connection.transaction():
            name = f"s{uuid4().hex}"
            with self._psycopg.RawServerCursor(connection, name) as cursor:
                cursor.itersize = FETCHED
                cursor.execute(text, dialect.values(values, lists))
                yield from cursor

    def close(self) -> None:
        """Closes all connections."""
        self._pool.close()

    def _connect(self) -> Any:
        psycopg = self._psycopg
        return psycopg.connect(
            self._url, autocommit=True, connect_timeout=CONNECT_SECONDS, cursor_factory=psycopg.RawCursor
        )

    def _opened_pool(self) -> Any:
        from psycopg_pool import ConnectionPool

        return ConnectionPool(
            self._url,
            kwargs={
                "autocommit": True,
                "cursor_factory": self._psycopg.RawCursor,
                "connect_timeout": CONNECT_SECONDS,
            },
            min_size=0,
            max_size=MOST_CONNECTIONS,
            timeout=LOCK_SECONDS,
            check=ConnectionPool.check_connection,
            open=True,
        )


class LostError(StoreError):
    """The server gave a transaction up for another one's sake (a deadlock, a serialization failure)."""


class _Translating:
    """Takes the store's SQL."""

    def __init__(self, connection: Any, psycopg: Any) -> None:
        self._connection = connection
        self._psycopg = psycopg

    def execute(self, sql: str, values: Sequence[Any] = (), /) -> Cursor:
        text, lists = dialect.query(sql)
        with self._lost():
            cursor: Cursor = self._connection.execute(text, dialect.values(values, lists))
        return cursor

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]], /) -> Cursor:
        text, lists = dialect.query(sql)
        cursor = self._connection.cursor()
        with self._lost():
            cursor.executemany(text, [dialect.values(row, lists) for row in rows])
        made: Cursor = cursor
        return made

    @contextmanager
    def _lost(self) -> Iterator[None]:
        errors = self._psycopg.errors
        try:
            yield
        except (errors.SerializationFailure, errors.DeadlockDetected) as error:
            raise LostError(f"another writer was first ({_line(error)}); run this again") from None
        except (self._psycopg.DataError, UnicodeEncodeError) as error:
            raise UnstorableError(f"PostgreSQL cannot keep it: {_line(error)}") from None


def _library() -> Any:
    try:
        import psycopg
        import psycopg_pool  # noqa: F401 (both are needed; the second is used where the pool is made)
    except ImportError as error:
        raise UsageError("a PostgreSQL database needs psycopg: run pip install 'assay[postgres]'") from error
    return psycopg


def _lock(connection: Any, scope: str) -> None:
    """Held until the transaction ends. The store's lock comes first, so that two writers cannot wait for each other."""
    shared = "" if scope == WHOLE else "_shared"
    connection.execute(f"SELECT pg_advisory_xact_lock{shared}($1::int, 0)", [_STORE_LOCK])
    if scope not in (WHOLE, ROWS):
        key = int.from_bytes(sha256(scope.encode("utf-8", "surrogatepass")).digest()[:4], signed=True)
        connection.execute("SELECT pg_advisory_xact_lock($1::int, $2::int)", [_STORE_LOCK + 1, key])


def _migrate(connection: Any, place: str, *, create: bool) -> None:
    """Brings the database to this version, in one transaction; another process may do it at the same time."""
    if _version(connection, place) == VERSION:
        return
    with connection.transaction():
        connection.execute(f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'")
        _lock(connection, WHOLE)
        version = _version(connection, place)
        if version == 0:
            _refuse_foreign(connection, place, create=create)
            connection.execute("CREATE TABLE assay_schema (version BIGINT NOT NULL)")
            connection.execute("INSERT INTO assay_schema VALUES (0)")
        for step in range(version, VERSION):
            for statement in statements(MIGRATIONS[step]):
                connection.execute(dialect.table(statement))
        connection.execute("UPDATE assay_schema SET version = $1", [VERSION])


def _version(connection: Any, place: str) -> int:
    if connection.execute("SELECT to_regclass('assay_schema')").fetchone()[0] is None:
        return 0
    version = int(connection.execute("SELECT version FROM assay_schema").fetchone()[0])
    if not 0 <= version <= VERSION:
        raise StoreError(
            f"{place} was written by a newer Assay (schema {version}, this one knows {VERSION}); "
            "upgrade Assay, or name another database with --db"
        )
    return version


def _refuse_foreign(connection: Any, place: str, *, create: bool) -> None:
    found = connection.execute(
        "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1 LIMIT 1"
    ).fetchone()
    if found:
        raise StoreError(
            f"{place} is another program's database (it holds a table {found[0]!r}); name another one with --db"
        )
    if not create:
        raise StoreError(
            f"no Assay database at {place} yet; `assay ingest PATH --dataset NAME` makes one, --db or ASSAY_DB names "
            "another"
        )


def _advice(error: Exception) -> str:
    text, state = _line(error), str(getattr(error, "sqlstate", None) or "")
    if state.startswith("28") or "password" in text:
        return f"the server refused the user ({text}); check user and password, or PGPASSWORD"
    if state == "3D000" or ("database" in text and "does not exist" in text):
        return f"{text}; make it with createdb, or name another one with --db"
    if state == "42501":
        return f"{text}; grant this user the right, or name another user in --db"
    if state in ("25006", "53100"):
        return f"{text}; nothing of this step was kept"
    if state == "55P03" or type(error).__name__ == "PoolTimeout":
        return f"others have been writing for {LOCK_SECONDS} s; wait for them and run this again"
    if not state:
        return f"the server cannot be reached ({text}); start it, or check host and port in --db"
    return f"{text} ({state})"


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
