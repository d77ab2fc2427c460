"""Datasets: who owns them, what they hold, and the hash of their content."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from fnmatch import fnmatchcase
from hashlib import sha256

from core import clock
from core.errors import NotFoundError, UsageError
from core.ingest.items import CaseItem
from core.records import DEFAULT_USER, LEVELS, Dataset
from core.store.base import Connection, Database, dataset_scope

MAX_NAME = 200
_TABLES = {"artifacts": "artifact", "chunks": "chunk", "entities": "entity", "facts": "fact", "nodes": "node",
           "cases": "labelled_case"}  # fmt: skip

_CONTENT = {
    "artifact": "SELECT source, title, text, session, valid_at FROM artifact WHERE dataset_id = ? ORDER BY source",
    "chunk": """SELECT a.source, c.position, c.start, c.text, c.summary FROM chunk c JOIN artifact a USING (artifact_id)
                WHERE c.dataset_id = ? ORDER BY a.source, c.position""",
    "entity": """SELECT name, type, description, latitude, longitude FROM entity
                 WHERE dataset_id = ? ORDER BY normal_name, type""",
    "fact": "SELECT content_hash, invalid_at, expired_at FROM fact WHERE dataset_id = ? ORDER BY content_hash",
    "node": """SELECT node_id, level, session, position, speaker, name, title, valid_at, confidence FROM node
               WHERE dataset_id = ? ORDER BY node_id""",
    "link": """SELECT c.node_id, p.node_id FROM node_link l JOIN node c ON c.row_id = l.child
               JOIN node p ON p.row_id = l.parent WHERE c.dataset_id = ? ORDER BY 1, 2""",
    "case": "SELECT case_id, body FROM labelled_case WHERE dataset_id = ? ORDER BY case_id",
}


class Datasets:
    """The part of the store that knows datasets."""

    database: Database
    _hashes: dict[tuple[str, int], str]

    def datasets(self, user_id: str = DEFAULT_USER) -> list[Dataset]:
        """The user's datasets by name."""
        rows = self.database.rows(
            "SELECT dataset_id, user_id, name, uid, revision FROM dataset WHERE user_id = ? ORDER BY name",
            (user_id,),
        )
        return [_dataset(row) for row in rows]

    def dataset(self, name: str, user_id: str = DEFAULT_USER) -> Dataset:
        """Raises NotFoundError, which lists the datasets there are."""
        rows = self.database.rows(
            "SELECT dataset_id, user_id, name, uid, revision FROM dataset WHERE user_id = ? AND name = ?",
            (user_id, name),
        )
        if not rows:
            raise NotFoundError(self._unknown(name, user_id))
        return _dataset(rows[0])

    def matching(self, pattern: str, user_id: str = DEFAULT_USER) -> list[Dataset]:
        """The dataset of that name, or all whose name fits a pattern such as ``locomo/*``, by name.

        A dataset whose own name looks like a pattern (``notes [old]``) is found by that name.
        """
        known = self.datasets(user_id)
        exact = [dataset for dataset in known if dataset.name == pattern]
        if exact or not any(mark in pattern for mark in "*?["):
            return exact or [self.dataset(pattern, user_id)]
        found = [dataset for dataset in known if fnmatchcase(dataset.name, pattern)]
        if not found:
            raise NotFoundError(self._unknown(pattern, user_id))
        return found

    def ensure_dataset(self, name: str, user_id: str = DEFAULT_USER) -> Dataset:
        """The dataset of that name, made if it does not exist. Raises UsageError for what is no name."""
        check_name(name)
        with self.database.transaction(dataset_scope(name, user_id)) as connection:
            return ensure_within(connection, name, user_id)

    def delete_dataset(self, name: str, user_id: str = DEFAULT_USER) -> None:
        """Deletes the dataset with all it holds; cached embeddings stay."""
        found = self.dataset(name, user_id)
        with self.database.transaction(dataset_scope(name, user_id)) as connection:
            connection.execute("DELETE FROM dataset WHERE dataset_id = ?", (found.dataset_id,))

    def counts(self, dataset_id: int) -> dict[str, int]:
        """How many rows of each kind, and of nodes by level."""
        counted = {kind: self._count(table, dataset_id) for kind, table in _TABLES.items()}
        by_level = "SELECT level, count(*) FROM node WHERE dataset_id = ? GROUP BY level"
        levels = {str(level): count for level, count in self.database.rows(by_level, (dataset_id,))}
        links = self.database.rows(
            "SELECT count(*) FROM node_link l JOIN node n ON n.row_id = l.child WHERE n.dataset_id = ?",
            (dataset_id,),
        )
        nodes = {f"nodes_{level}": int(str(levels.get(level, 0))) for level in LEVELS}
        return counted | nodes | {"links": int(str(links[0][0]))}

    def content_hash(self, dataset_id: int) -> str:
        """sha256 (hex) of what the dataset holds, whatever the order and time it came in."""
        row = self.database.rows("SELECT uid, revision FROM dataset WHERE dataset_id = ?", (dataset_id,))[0]
        key = (str(row[0]), int(str(row[1])))
        if key not in self._hashes:
            digest = sha256()
            for kind, sql in _CONTENT.items():
                digest.update(kind.encode())
                for values in self.database.stream(sql, (dataset_id,)):
                    digest.update(repr(values).encode("utf-8", "surrogatepass"))
            self._hashes[key] = digest.hexdigest()
        return self._hashes[key]

    def cases(self, dataset_ids: Sequence[int]) -> list[tuple[int, CaseItem]]:
        """The labelled questions with their dataset's number, in the order they came in."""
        rows = self.database.rows(
            """SELECT dataset_id, case_id, body FROM labelled_case
               WHERE dataset_id IN (SELECT value FROM json_each(?)) ORDER BY row_id""",
            (json.dumps(list(dataset_ids)),),
        )
        return [
            (int(str(row[0])), CaseItem(case_id=str(row[1]), body=json.loads(str(row[2])))) for row in rows
        ]

    def _count(self, table: str, dataset_id: int) -> int:
        sql = f"SELECT count(*) FROM {table} WHERE dataset_id = ?"
        return int(str(self.database.rows(sql, (dataset_id,))[0][0]))

    def _unknown(self, name: str, user_id: str) -> str:
        known = [dataset.name for dataset in self.datasets(user_id)]
        more = f" and {len(known) - 10} more" if len(known) > 10 else ""
        there = f"there are {', '.join(known[:10])}{more}" if known else "there are none yet"
        return f"no dataset {name!r}: {there}; `assay ingest PATH --dataset NAME` makes one"


def ensure_within(connection: Connection, name: str, user_id: str) -> Dataset:
    """The dataset of that name, made if it does not exist, as a part of an open transaction."""
    connection.execute(  # no INSERT OR IGNORE, which would use up a number where there is nothing to insert
        """INSERT INTO dataset (user_id, name, uid, created_at) SELECT ?1, ?2, ?3, ?4
           WHERE NOT EXISTS (SELECT 1 FROM dataset WHERE user_id = ?1 AND name = ?2)""",
        (user_id, name, secrets.token_hex(16), clock.now()),
    )
    found = "SELECT dataset_id, user_id, name, uid, revision FROM dataset WHERE user_id = ? AND name = ?"
    return _dataset(connection.execute(found, (user_id, name)).fetchone())


def check_name(name: str) -> None:
    """Raises UsageError unless ``name`` can be a dataset's."""
    if not name.strip() or len(name) > MAX_NAME or not name.isprintable():
        raise UsageError(f"a dataset's name is 1 to {MAX_NAME} printable characters, got {name[:50]!r}")


def _dataset(row: tuple[object, ...]) -> Dataset:
    dataset_id, user_id, name, uid, revision = row
    return Dataset(
        dataset_id=int(str(dataset_id)),
        user_id=str(user_id),
        name=str(name),
        uid=str(uid),
        revision=int(str(revision)),
    )
