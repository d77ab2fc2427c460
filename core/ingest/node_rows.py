"""Storing artifacts with their chunks, nodes, and the links between nodes."""

from __future__ import annotations

from core import clock
from core.ingest import chunk
from core.ingest.items import ArtifactItem, NodeItem, Problem
from core.ingest.outcome import Outcome, Refused, Target, content_hash
from core.records import LEVELS, node_id

_FIELDS = "level, text, source, turn, session, position, speaker, name, title, valid_at, confidence"


def store_artifact(target: Target, item: ArtifactItem) -> Outcome:
    """By its source. Another text replaces the old chunks and nodes; an unchanged one is left alone."""
    content = artifact_hash(item)
    if target.repeated("artifact", item.source, content):
        return "unchanged"
    key = (target.dataset_id, item.source)
    stored = target.rows(
        "SELECT artifact_id, content_hash FROM artifact WHERE dataset_id = ? AND source = ?", *key
    )
    if stored and stored[0][1] == content:
        _recall_nodes(target, int(str(stored[0][0])))
        return "unchanged"
    values = (item.title, item.text, item.session, item.valid_at, content)
    if stored:
        artifact_id = int(str(stored[0][0]))
        target.connection.execute("DELETE FROM chunk WHERE artifact_id = ?", (artifact_id,))
        target.connection.execute("DELETE FROM node WHERE artifact_id = ?", (artifact_id,))
        target.connection.execute(
            """UPDATE artifact SET title = ?, text = ?, session = ?, valid_at = ?, content_hash = ?
               WHERE artifact_id = ?""",
            (*values, artifact_id),
        )
    else:
        made = target.connection.execute(
            """INSERT INTO artifact (title, text, session, valid_at, content_hash, created_at, dataset_id, source)
               VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING artifact_id""",
            (*values, clock.now(), *key),
        )
        artifact_id = int(made.fetchall()[0][0])
    _store_chunks(target, item, artifact_id)
    return "updated" if stored else "added"


def artifact_hash(item: ArtifactItem) -> str:
    """sha256 (hex) of all that makes an artifact but its source."""
    cut = () if item.chunking is None else item.chunking
    return content_hash(
        item.title, item.text, item.session, item.valid_at, item.summary, item.whole, item.as_nodes, *cut
    )


def _store_chunks(target: Target, item: ArtifactItem, artifact_id: int) -> None:
    cut = item.chunking or (chunk.CHUNK_SIZE, 0)
    spans = [(0, len(item.text))] if item.whole else chunk.spans(item.text, *cut)
    for position, (start, end) in enumerate(spans):
        text = item.text[start:end]
        summary = item.summary if len(spans) == 1 else chunk.summary(text) or None
        target.connection.execute(
            """INSERT INTO chunk (dataset_id, artifact_id, position, start, text, summary) VALUES (?, ?, ?, ?, ?, ?)""",
            (target.dataset_id, artifact_id, position, start, text, summary),
        )
        if item.as_nodes:
            several = len(spans) > 1
            node = NodeItem(
                level="L0",
                text=text,
                source=item.source,
                turn=f"chunk-{position}" if several else None,
                session=item.session or (item.source if several else None),
                position=position if several else None,
                title=item.title,
                valid_at=item.valid_at,
            )
            store_node(target, node, artifact_id=artifact_id)


def _recall_nodes(target: Target, artifact_id: int) -> None:
    """The nodes of an unchanged artifact came before, just as when they were stored."""
    sql = f"SELECT node_id, {_FIELDS} FROM node WHERE artifact_id = ?"  # noqa: S608 (a constant)
    for key, *values in target.rows(sql, artifact_id):
        target.repeated("node", str(key), content_hash(*values))


def store_node(target: Target, item: NodeItem, artifact_id: int | None = None) -> tuple[Outcome, str]:
    """By its sha256; returns the outcome and the id. Other details (name, confidence …) replace the stored ones."""
    key = node_id(dataset=target.dataset_name, source=item.source, turn=item.turn, text=item.text)
    values = (item.level, item.text, item.source, item.turn, item.session, item.position, item.speaker, item.name,
              item.title, item.valid_at, item.confidence)  # fmt: skip
    target.repeated("node", key, content_hash(*values))
    stored = target.rows(
        f"SELECT row_id, {_FIELDS} FROM node WHERE dataset_id = ? AND node_id = ?",  # noqa: S608 (a constant)
        target.dataset_id, key,
    )  # fmt: skip
    if stored and stored[0][1:] == values:
        return "unchanged", key
    _refuse_taken_name(target, item.name, key)
    if stored:
        target.connection.execute(
            """UPDATE node SET level = ?, text = ?, source = ?, turn = ?, session = ?, position = ?, speaker = ?,
                               name = ?, title = ?, valid_at = ?, confidence = ? WHERE row_id = ?""",
            (*values, stored[0][0]),
        )
        return "updated", key
    target.connection.execute(
        f"""INSERT INTO node ({_FIELDS}, node_id, dataset_id, artifact_id, created_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",  # noqa: S608 (a constant)
        (*values, key, target.dataset_id, artifact_id, clock.now()),
    )
    return "added", key


def _refuse_taken_name(target: Target, name: str | None, key: str) -> None:
    if name is None:
        return
    owner = target.rows("SELECT node_id FROM node WHERE dataset_id = ? AND name = ?", target.dataset_id, name)
    if owner and owner[0][0] != key:
        raise Refused(f"the name {name!r} belongs to another node; names are unique in a dataset")


class Links:
    """Links from nodes to what they were made from; those whose ends are not there yet wait for the end of the input."""

    def __init__(self) -> None:
        self._waiting: list[tuple[str, str, str]] = []

    def add(self, target: Target, where: str, ends: list[tuple[str, str]]) -> tuple[int, int, list[Problem]]:
        """Number of links made, number that were there, problems."""
        made = kept = 0
        problems = []
        for child, parent in ends:
            found = _node_row(target, child), _node_row(target, parent)
            if found[0] is None or found[1] is None:
                self._waiting.append((where, child, parent))
                continue
            fault = _fault(child, parent, found[0], found[1])
            if fault:
                problems.append(Problem(where=where, what=fault))
            elif _insert(target, found[0][0], found[1][0]):
                made += 1
            else:
                kept += 1
        return made, kept, problems

    def settle(self, target: Target) -> tuple[int, list[Problem]]:
        """Makes the waiting links; an end that never came is a problem."""
        waiting, self._waiting = self._waiting, []
        made, problems = 0, []
        for where, child, parent in waiting:
            added, _, faults = self.add(target, where, [(child, parent)])
            made += added
            problems += faults
        problems += [
            Problem(where=w, what=f"link from {c!r} to {p!r}: there is no such node")
            for w, c, p in self._waiting
        ]
        self._waiting = []
        return made, problems


def _node_row(target: Target, name: str) -> tuple[int, str] | None:
    rows = target.rows(
        """SELECT row_id, level FROM node WHERE dataset_id = ?1 AND node_id = ?2
           UNION ALL SELECT row_id, level FROM node WHERE dataset_id = ?1 AND name = ?2 LIMIT 1""",
        target.dataset_id, name,
    ) or _of_artifact(target, name)  # fmt: skip
    return (int(str(rows[0][0])), str(rows[0][1])) if rows else None


def _of_artifact(target: Target, place: str) -> list[tuple[object, ...]]:
    """The node of a text that is one chunk, by its ``source``; a chunk of a longer one by ``source#chunk-2``."""
    source, _, turn = place.rpartition("#")
    return target.rows(
        """SELECT row_id, level FROM artifact JOIN node USING (artifact_id)
           WHERE artifact.dataset_id = ?1
             AND (artifact.source = ?2 AND turn IS NULL OR artifact.source = ?3 AND turn = ?4) LIMIT 1""",
        target.dataset_id, place, source, turn,
    )  # fmt: skip


def _fault(child: str, parent: str, child_row: tuple[int, str], parent_row: tuple[int, str]) -> str | None:
    levels = child_row[1], parent_row[1]
    if LEVELS.index(levels[0]) <= LEVELS.index(levels[1]):
        return (
            f"link from {child!r} ({levels[0]}) to {parent!r} ({levels[1]}): a parent stands on a lower level"
        )
    return None


def _insert(target: Target, child: int, parent: int) -> bool:
    sql = "INSERT INTO node_link (child, parent) VALUES (?, ?) ON CONFLICT DO NOTHING"
    return target.connection.execute(sql, (child, parent)).rowcount > 0
