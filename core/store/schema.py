"""The tables, and the forward migrations that make them. A migration is never edited, only followed by another.

They are written for SQLite; ``core.store.dialect.table`` says what each of their words is on PostgreSQL.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from core.errors import StoreError

MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE dataset (
        dataset_id INTEGER PRIMARY KEY AUTOINCREMENT,
        user_id TEXT NOT NULL,
        name TEXT NOT NULL,
        uid TEXT NOT NULL UNIQUE,
        revision INTEGER NOT NULL DEFAULT 0,
        created_at TEXT NOT NULL,
        UNIQUE (user_id, name)
    );
    CREATE TABLE artifact (
        artifact_id INTEGER PRIMARY KEY AUTOINCREMENT,
        dataset_id INTEGER NOT NULL REFERENCES dataset ON DELETE CASCADE,
        source TEXT NOT NULL,
        title TEXT NOT NULL,
        text TEXT NOT NULL,
        session TEXT,
        valid_at TEXT,
        content_hash TEXT NOT NULL,
        created_at TEXT NOT NULL,
        UNIQUE (dataset_id, source)
    );
    CREATE TABLE chunk (
        chunk_id INTEGER PRIMARY KEY AUTOINCREMENT,
        dataset_id INTEGER NOT NULL REFERENCES dataset ON DELETE CASCADE,
        artifact_id INTEGER NOT NULL REFERENCES artifact ON DELETE CASCADE,
        position INTEGER NOT NULL,
        start INTEGER NOT NULL,
        text TEXT NOT NULL,
        summary TEXT,
        UNIQUE (artifact_id, position)
    );
    CREATE INDEX chunk_by_dataset ON chunk (dataset_id);
    CREATE TABLE entity (
        entity_id INTEGER PRIMARY KEY AUTOINCREMENT,
        dataset_id INTEGER NOT NULL REFERENCES dataset ON DELETE CASCADE,
        name TEXT NOT NULL,
        normal_name TEXT NOT NULL,
        type TEXT NOT NULL,
        description TEXT NOT NULL,
        latitude REAL CHECK (latitude BETWEEN -90 AND 90),
        longitude REAL CHECK (longitude BETWEEN -180 AND 180),
        updated_at TEXT NOT NULL,
        UNIQUE (dataset_id, normal_name, type)
    );
    CREATE INDEX entity_by_update ON entity (dataset_id, updated_at DESC, entity_id DESC);
    CREATE TABLE fact (
        fact_id INTEGER PRIMARY KEY AUTOINCREMENT,
        dataset_id INTEGER NOT NULL REFERENCES dataset ON DELETE CASCADE,
        source_id INTEGER NOT NULL REFERENCES entity ON DELETE CASCADE,
        target_id INTEGER NOT NULL REFERENCES entity ON DELETE CASCADE,
        relation TEXT NOT NULL,
        description TEXT NOT NULL,
        artifact_id INTEGER REFERENCES artifact ON DELETE SET NULL,
        valid_at TEXT,
        invalid_at TEXT,
        created_at TEXT NOT NULL,
        expired_at TEXT,
        content_hash TEXT NOT NULL,
        UNIQUE (dataset_id, content_hash)
    );
    CREATE INDEX fact_by_source ON fact (source_id, created_at DESC);
    CREATE INDEX fact_by_target ON fact (target_id, created_at DESC);
    CREATE INDEX fact_by_artifact ON fact (artifact_id);
    CREATE TABLE node (
        row_id INTEGER PRIMARY KEY AUTOINCREMENT,
        dataset_id INTEGER NOT NULL REFERENCES dataset ON DELETE CASCADE,
        node_id TEXT NOT NULL,
        artifact_id INTEGER REFERENCES artifact ON DELETE CASCADE,
        level TEXT NOT NULL CHECK (level IN ('L0', 'L1', 'L2')),
        text TEXT NOT NULL,
        source TEXT NOT NULL,
        turn TEXT,
        session TEXT,
        position INTEGER,
        speaker TEXT,
        name TEXT,
        title TEXT NOT NULL,
        valid_at TEXT,
        confidence REAL CHECK (confidence BETWEEN 0 AND 1),
        created_at TEXT NOT NULL,
        UNIQUE (dataset_id, node_id)
    );
    CREATE UNIQUE INDEX node_by_name ON node (dataset_id, name) WHERE name IS NOT NULL;
    CREATE INDEX node_by_artifact ON node (artifact_id);
    CREATE TABLE node_link (
        child INTEGER NOT NULL REFERENCES node ON DELETE CASCADE,
        parent INTEGER NOT NULL REFERENCES node ON DELETE CASCADE,
        PRIMARY KEY (child, parent)
    ) WITHOUT ROWID;
    CREATE INDEX node_link_by_parent ON node_link (parent);
    CREATE TABLE labelled_case (
        row_id INTEGER PRIMARY KEY AUTOINCREMENT,
        dataset_id INTEGER NOT NULL REFERENCES dataset ON DELETE CASCADE,
        case_id TEXT NOT NULL,
        body TEXT NOT NULL,
        UNIQUE (dataset_id, case_id)
    );
    """,
    """
    CREATE TABLE embedding (
        model_id TEXT NOT NULL,
        text_hash TEXT NOT NULL,
        vector BLOB NOT NULL,
        PRIMARY KEY (model_id, text_hash)
    ) WITHOUT ROWID;
    """,
    """
    CREATE TABLE trajectory (
        trajectory_id TEXT PRIMARY KEY,
        kind TEXT NOT NULL,
        user_id TEXT NOT NULL,
        dataset TEXT NOT NULL,
        session_id TEXT,
        started_at TEXT NOT NULL,
        ms REAL NOT NULL,
        outcome TEXT NOT NULL,
        detail TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX trajectory_by_session ON trajectory (user_id, session_id);
    CREATE INDEX trajectory_by_time ON trajectory (user_id, started_at);
    CREATE TABLE trajectory_step (
        trajectory_id TEXT NOT NULL REFERENCES trajectory ON DELETE CASCADE,
        position INTEGER NOT NULL,
        name TEXT NOT NULL,
        sizes TEXT NOT NULL,
        ms REAL NOT NULL,
        PRIMARY KEY (trajectory_id, position)
    ) WITHOUT ROWID;
    CREATE TABLE inference (
        inference_id INTEGER PRIMARY KEY AUTOINCREMENT,
        trajectory_id TEXT NOT NULL REFERENCES trajectory ON DELETE CASCADE,
        stage TEXT NOT NULL,
        model TEXT NOT NULL,
        reasoning TEXT NOT NULL,
        input_tokens INTEGER NOT NULL,
        output_tokens INTEGER NOT NULL,
        thinking_tokens INTEGER NOT NULL,
        cost_usd REAL,
        latency_ms REAL NOT NULL,
        outcome TEXT NOT NULL,
        created_at TEXT NOT NULL
    );
    CREATE INDEX inference_by_trajectory ON inference (trajectory_id);
    CREATE TABLE event (
        event_id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL,
        user_id TEXT NOT NULL,
        body TEXT NOT NULL,
        created_at TEXT NOT NULL
    );
    """,
    "ALTER TABLE trajectory_step ADD COLUMN inputs TEXT NOT NULL DEFAULT '{}'",
    """
    CREATE TABLE label (
        label_id INTEGER PRIMARY KEY AUTOINCREMENT,
        dataset_id INTEGER NOT NULL REFERENCES dataset ON DELETE CASCADE,
        case_id TEXT NOT NULL,
        labeller TEXT NOT NULL,
        verdict TEXT NOT NULL CHECK (verdict IN ('correct', 'partly', 'wrong', 'should-abstain')),
        question TEXT NOT NULL,
        answer TEXT NOT NULL,
        citations TEXT NOT NULL,
        recipe TEXT NOT NULL,
        profile TEXT NOT NULL,
        note TEXT NOT NULL,
        created_at TEXT NOT NULL
    );
    CREATE INDEX label_by_case ON label (dataset_id, case_id, labeller, label_id);
    """,
)
VERSION = len(MIGRATIONS)


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Brings the database to this version, each step in one transaction; another process may do it at the same time.

    Raises:
        StoreError: the database is of a newer version, or another program's.
    """
    if _version(connection, path) == VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = _version(connection, path)
        if version == 0:
            _refuse_foreign(connection, path)
        for step in range(version, VERSION):
            for statement in statements(MIGRATIONS[step]):
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _version(connection: sqlite3.Connection, path: Path) -> int:
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if not 0 <= version <= VERSION:
        raise StoreError(
            f"{path} was written by a newer Assay or another program (schema {version}, this one knows {VERSION}); "
            "upgrade Assay, or name another file with --db"
        )
    return version


def _refuse_foreign(connection: sqlite3.Connection, path: Path) -> None:
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1").fetchall()
    if tables:
        raise StoreError(
            f"{path} is another program's database (it holds a table {tables[0][0]!r}); "
            "name another file with --db"
        )


def statements(script: str) -> list[str]:
    """The statements of a migration."""
    return [statement for statement in (part.strip() for part in script.split(";")) if statement]
