"""Connections to one SQLite file: one a thread, write-ahead log, and errors that say what to do."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from core.errors import StoreError
from core.store.base import ROWS, WHOLE, Connection, Result
from core.store.schema import migrate

BUSY_SECONDS = 60
"""How long a writer waits for another one before giving up."""


class SqliteDatabase:
    """Opens connections lazily, one for each thread that asks, and closes them all."""

    def __init__(self, path: Path, *, create: bool) -> None:
        self.path = path
        self._local = threading.local()
        self._all: list[sqlite3.Connection] = []
        self._lock = threading.Lock()
        if not create and not path.exists():
            raise StoreError(
                f"no database at {path}; `assay ingest PATH --dataset NAME` makes one, --db or ASSAY_DB names another"
            )
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(
                f"cannot make the folder of {path}: {error.strerror}; choose another with --db"
            ) from error
        try:
            with self.errors():
                migrate(self.connection(), path)
        except StoreError:
            self.close()
            raise

    def connection(self) -> sqlite3.Connection:
        """This thread's connection, in autocommit: transactions are explicit."""
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self._connect()
            with self._lock:
                self._all.append(connection)
        return connection

    def _connect(self) -> sqlite3.Connection:
        whole = on_read_only_media(self.path)
        connection = sqlite3.connect(
            f"{self.path.absolute().as_uri()}?immutable=1" if whole else self.path,
            timeout=BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
            uri=whole,
        )
        try:
            _prepare(connection)
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turns SQLite's errors into a StoreError that names the file and what to do."""
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(f"{self.path}: {_advice(error)}") from error

    @property
    def place(self) -> str:
        """The file's path."""
        return str(self.path)

    @property
    def writable(self) -> bool:
        """Whether this process may write the database and the files beside it."""
        return writable(self.path)

    def write(self, work: Callable[[Connection], Result], scope: str = ROWS) -> Result:
        """``work`` in a transaction. A file has one writer at a time, who never loses against another."""
        with self.transaction(scope) as connection:
            return work(connection)

    @contextmanager
    def transaction(self, scope: str = WHOLE) -> Iterator[sqlite3.Connection]:
        """One write: all of it or nothing, acknowledged when the block ends."""
        with self.errors():
            connection = self.connection()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def rows(self, sql: str, values: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
        """All rows of a query."""
        with self.errors():
            return self.connection().execute(sql, values).fetchall()

    def stream(self, sql: str, values: tuple[object, ...] = ()) -> Iterator[tuple[object, ...]]:
        """The rows of a query, one at a time, as they were at the start.

        They come through a connection of their own: one that is in the middle of reading could not write any more
        once another program has written.
        """
        with self.errors():
            connection = self._connect()
            try:
                yield from connection.execute(sql, values)
            finally:
                connection.close()

    def close(self) -> None:
        """Closes every thread's connection."""
        with self._lock:
            for connection in self._all:
                connection.close()
            self._all.clear()
        self._local = threading.local()


def on_read_only_media(path: Path) -> bool:
    """Whether nobody can be writing ``path``, so that it is read without the files SQLite keeps beside a database.

    False where a write-ahead log lies beside it: what it holds would not be seen.
    """
    if not path.is_file() or path.with_name(f"{path.name}-wal").exists():
        return False
    return bool(os.statvfs(path).f_flag & os.ST_RDONLY)


def writable(path: Path) -> bool:
    """Whether this process may write the database and the files beside it."""
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK) and not on_read_only_media(path)


def _prepare(connection: sqlite3.Connection) -> None:
    _write_ahead(connection)
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Switches to the write-ahead log; SQLite itself does not wait for another program that does so just then."""
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "readonly" in str(error):  # a database on read-only media is still readable
                return
            if "locked" not in str(error) or time.monotonic() > until:
                raise
        time.sleep(0.01)


def _advice(error: sqlite3.Error) -> str:
    text = str(error)
    if "not a database" in text or "malformed" in text or "corrupt" in text:
        return f"is damaged or no Assay database ({text}); restore a copy, or name another file with --db"
    if "unable to open" in text:
        return "cannot be opened; check that the folder exists and may be written, or name another file with --db"
    if "readonly" in text:
        return "may not be written; change its permissions, or name another file with --db"
    if "full" in text:
        return "the disk is full; nothing of this step was kept, free some space and run it again"
    if "locked" in text or "busy" in text:
        return f"another program has been writing for {BUSY_SECONDS} s; wait for it and run this again"
    return f"{text}; if it stays so, restore a copy or name another file with --db"
