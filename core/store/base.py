"""What the store asks of a database. SQL is written once, as SQLite takes it; another database translates it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

Result = TypeVar("Result")
WHOLE = "whole"
"""Scope of a write that no other may overlap."""
ROWS = "rows"
"""Scope of a write that others may overlap: it adds rows of its own and reads nothing it depends on."""


def dataset_scope(name: str, user_id: str) -> str:
    """Scope of a write that no other of the same dataset may overlap."""
    return f"dataset {user_id}\x1f{name}"


class Cursor(Protocol):
    """What a statement gave."""

    @property
    def rowcount(self) -> int: ...

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...


class Connection(Protocol):
    """Statements of one open transaction; ``?`` and ``?1`` are the places of values."""

    def execute(self, sql: str, values: Sequence[Any] = ..., /) -> Cursor: ...

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]], /) -> Cursor: ...


class Database(Protocol):
    """One database, shared by threads. ``place`` names it in messages and never holds a password."""

    @property
    def place(self) -> str: ...

    @property
    def writable(self) -> bool: ...

    def transaction(self, scope: str = WHOLE) -> AbstractContextManager[Connection]:
        """One write: all of it or nothing, acknowledged when the block ends."""
        ...

    def write(self, work: Callable[[Connection], Result], scope: str = ROWS) -> Result:
        """``work`` in a transaction; done again where the database gave it up for another writer's sake."""
        ...

    def rows(self, sql: str, values: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
        """All rows of a query; inside a transaction of this thread it sees what that wrote."""
        ...

    def stream(self, sql: str, values: tuple[object, ...] = ()) -> Iterator[tuple[object, ...]]:
        """The rows of a query, one at a time, as they were at the start."""
        ...

    def close(self) -> None: ...
