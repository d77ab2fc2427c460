"""Opening a database: forward migrations, pragmas, and files that are none, each one line that says what to do."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from core.errors import StoreError
from core.ingest.ingestor import ingest
from core.ingest.items import NodeItem
from core.store import Store, connection, default_path
from core.store.schema import MIGRATIONS, VERSION


def version_one(path: Path) -> None:
    """A database as the first version left it, with one dataset and one node."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(MIGRATIONS[0])
        connection.execute(
            "INSERT INTO dataset (user_id, name, uid, created_at) VALUES ('local', 'old', 'u', 't')"
        )
        connection.execute(
            "INSERT INTO node (dataset_id, node_id, level, text, source, title, created_at)"
            " VALUES (1, 'n', 'L0', 'kept', 's', '', 't')"
        )
        connection.execute("PRAGMA user_version = 1")
        connection.commit()


def schema(path: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY 1"
        ).fetchall()
    return [(name, " ".join(sql.split())) for name, sql in rows]


def test_a_database_of_the_first_version_is_brought_forward_and_keeps_its_rows(tmp_path: Path) -> None:
    version_one(tmp_path / "old.db")
    with Store.open(tmp_path / "old.db") as store:
        assert store.database.rows("PRAGMA user_version") == [(VERSION,)]
        assert [found.name for found in store.datasets()] == ["old"]
        assert [node.text for node in store.nodes([1])] == ["kept"]
        assert store.embeddings.count("any") == 0  # the table of the second version is there
    Store.open(tmp_path / "new.db").close()
    assert schema(tmp_path / "old.db") == schema(tmp_path / "new.db")


def test_a_migration_that_fails_leaves_the_old_version_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    version_one(tmp_path / "old.db")
    before = schema(tmp_path / "old.db")
    broken = (MIGRATIONS[0], "CREATE TABLE half (x); CREATE TABLE node (x);")  # the second one exists already
    monkeypatch.setattr("core.store.schema.MIGRATIONS", broken)
    with pytest.raises(StoreError, match="already exists"):
        Store.open(tmp_path / "old.db")
    assert schema(tmp_path / "old.db") == before
    monkeypatch.undo()
    with Store.open(tmp_path / "old.db") as store:
        assert [found.name for found in store.datasets()] == ["old"]


@pytest.mark.parametrize("version", [VERSION + 1, 4_000, -1])
def test_a_newer_or_strange_version_is_refused_and_left_alone(version: int, tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    Store.open(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    with pytest.raises(StoreError, match=rf"newer Assay.*schema {version}.*upgrade") as caught:
        Store.open(path)
    assert str(path) in str(caught.value)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (version,)


def test_another_programs_database_gets_no_tables(tmp_path: Path) -> None:
    path = tmp_path / "browser.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT)")
    with pytest.raises(StoreError, match=r"another program's database.*'bookmarks'.*--db"):
        Store.open(path)
    assert [name for name, _ in schema(path)] == ["bookmarks"]


def text_file(path: Path) -> None:
    path.write_text("These are notes, and no database at all.\n" * 50)


def folder(path: Path) -> None:
    path.mkdir()


def damaged_header(path: Path) -> None:
    Store.open(path).close()
    path.write_bytes(b"\x00" * 50 + path.read_bytes()[50:])


def damaged_schema(path: Path) -> None:
    Store.open(path).close()
    body = bytearray(path.read_bytes())
    body[100:4096] = b"\xff" * 3996  # the page that lists the tables
    path.write_bytes(body)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (text_file, "is damaged or no Assay database.*restore a copy, or name another file with --db"),
        (damaged_header, "is damaged or no Assay database"),
        (damaged_schema, "is damaged or no Assay database"),
        (folder, "cannot be opened; check that the folder exists"),
    ],
)
def test_what_is_no_database_is_one_line_that_names_it(
    make: Callable[[Path], None], says: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.db"
    make(path)
    before = None if path.is_dir() else path.read_bytes()
    with pytest.raises(StoreError, match=says) as caught, Store.open(path) as store:
        store.datasets()
    message = str(caught.value)
    assert message.startswith(str(path)), message
    assert "\n" not in message
    assert path.is_dir() or path.read_bytes() == before


def test_pages_damaged_in_the_middle_are_found_when_read(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with Store.open(path) as store:
        ingest(store, "main", [("x", NodeItem(level="L0", text=f"text {n} " * 50, source="s", turn=f"t{n}"))
                               for n in range(200)])  # fmt: skip
        row_id = store.dataset("main").dataset_id
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(size // 2)
        file.write(b"\xff" * (size // 4))
    with Store.open(path) as store, pytest.raises(StoreError, match="is damaged") as caught:
        store.content_hash(row_id)
    assert "\n" not in str(caught.value)


def test_a_missing_database_is_made_only_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "a.db"
    with pytest.raises(StoreError, match=f"no database at {path}; `assay ingest") as caught:
        Store.open(path, create=False)
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []
    Store.open(path).close()
    Store.open(path, create=False).close()


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"cannot make the folder of .*--db") as caught:
        Store.open(tmp_path / "file" / "sub" / "a.db")
    assert "\n" not in str(caught.value)


def test_the_default_path_is_the_environments_or_in_the_working_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ASSAY_DB", "/some/where.db")
    assert default_path() == Path("/some/where.db")
    monkeypatch.setenv("ASSAY_DB", "")
    assert default_path() == Path(".assay/assay.db")


@pytest.mark.parametrize(
    ("pragma", "value"), [("journal_mode", "wal"), ("foreign_keys", 1), ("synchronous", 2)]
)
def test_every_threads_connection_is_durable_and_keeps_references(
    pragma: str, value: object, tmp_path: Path
) -> None:
    seen: list[object] = []
    with Store.open(tmp_path / "a.db") as store:
        read = lambda: seen.append(store.database.rows(f"PRAGMA {pragma}"))  # noqa: E731
        thread = threading.Thread(target=read)
        thread.start()
        thread.join()
        read()
    assert seen == [[(value,)], [(value,)]]


def test_a_transaction_is_all_or_nothing(tmp_path: Path) -> None:
    def half(store: Store) -> None:
        with store.database.transaction() as connection:
            connection.execute("INSERT INTO embedding VALUES ('m', 'h', x'00')")
            raise ZeroDivisionError

    with Store.open(tmp_path / "a.db") as store:
        with pytest.raises(ZeroDivisionError):
            half(store)
        assert store.embeddings.count("m") == 0
        with store.database.transaction() as connection:  # and the connection may be used again
            connection.execute("INSERT INTO embedding VALUES ('m', 'h', x'00')")
        assert store.embeddings.count("m") == 1


def test_a_row_that_refers_to_nothing_is_refused(tmp_path: Path) -> None:
    with Store.open(tmp_path / "a.db") as store, pytest.raises(StoreError, match="FOREIGN KEY"):  # noqa: SIM117
        with store.database.transaction() as connection:
            connection.execute("INSERT INTO labelled_case (dataset_id, case_id, body) VALUES (9, 'c', '{}')")


def test_closing_twice_and_asking_again_works(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "a.db")
    store.ensure_dataset("main")
    store.close()
    store.close()
    assert [found.name for found in store.datasets()] == ["main"]
    store.close()


def test_a_database_on_read_only_media_is_read_and_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a 100%?#.db"
    with Store.open(path) as store:
        ingest(store, "main", [("x", NodeItem(level="L0", text="kept", source="s"))])
    with Store.open(path) as writing:
        writing.ensure_dataset("logged")
        assert not connection.on_read_only_media(path)  # its log would be left out
    assert not connection.on_read_only_media(path)
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_flag=os.ST_RDONLY))
    assert connection.on_read_only_media(path)
    with Store.open(path, create=False) as store:
        assert [found.name for found in store.datasets()] == ["logged", "main"]
        assert list(store.texts("node", [store.dataset("main").dataset_id])) == ["kept"]
        with pytest.raises(StoreError, match="may not be written; change its permissions"):
            store.ensure_dataset("other")
        assert [file.name for file in tmp_path.iterdir()] == [path.name]
