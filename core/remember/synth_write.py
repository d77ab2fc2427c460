"""Storing notes with their links and vectors, and taking away those whose window is no more."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from core.errors import NotFoundError
from core.ingest.items import NodeItem
from core.ingest.node_rows import Links, store_node
from core.ingest.outcome import Target
from core.records import Dataset
from core.remember.notes import Note
from core.remember.texts import Vectors, titled
from core.remember.windows import By, Made, Window, common
from core.remember.write import bump
from core.store import Store
from core.store.base import Connection, dataset_scope

_PREFIX: dict[By, str] = {"source": "notes", "topic": "topics"}
_TURN = re.compile(r"(notes|topics)-([0-9a-f]{12})\.([mx])\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A note that was made before, as far as it matters here; ``by_model`` False: it is extractive."""

    node_id: str
    key: str
    by_model: bool
    source: str
    session: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """The notes of some windows, about to be stored."""

    dataset: Dataset
    level: Made
    by: By
    by_model: bool
    made: Sequence[tuple[Window, Sequence[Note]]]


def kept_notes(store: Store, dataset: Dataset, level: Made, by: By) -> list[Kept]:
    """The notes of this level that were made here before, not imported, by row."""
    rows = store.database.rows(
        "SELECT node_id, turn, source, session FROM node WHERE dataset_id = ? AND level = ? ORDER BY row_id",
        (dataset.dataset_id, level),
    )
    found = []
    for node_id, turn, source, session in rows:
        mark = _TURN.fullmatch(str(turn))
        if mark and mark[1] == _PREFIX[by]:
            found.append(
                Kept(
                    node_id=str(node_id),
                    key=mark[2],
                    by_model=mark[3] == "m",
                    source=str(source),
                    session=None if session is None else str(session),
                )
            )
    return found


def note_texts(made: Sequence[tuple[Window, Sequence[Note]]]) -> list[str]:
    """The texts an index will see of the notes."""
    return [titled(_title(window), note.text) for window, notes in made for note in notes]


def write_notes(store: Store, batch: Batch, vectors: Vectors) -> tuple[int, int]:
    """Stores the notes in one transaction; how many notes and links are new. A window that somebody else made notes of
    meanwhile is passed over, and so is a note none of whose parents is there any more."""
    added = links = 0
    with store.database.transaction(_scope(batch.dataset)) as connection:
        target = _target(batch.dataset, connection)
        there = {
            (kept.key, kept.by_model) for kept in kept_notes(store, batch.dataset, batch.level, batch.by)
        }
        for window, notes in batch.made:
            if (window.key, batch.by_model) in there:
                continue
            for place, note in enumerate(notes, start=1):
                new, linked = _store(target, batch, window, place, note)
                added, links = added + new, links + linked
        store.embeddings.put_within(connection, vectors.embedder.model_id, *vectors.array())
        if added:
            bump(connection, batch.dataset.dataset_id)
    return added, links


def remove_notes(store: Store, dataset: Dataset, node_ids: Collection[str]) -> int:
    """Takes away notes made here, and the syntheses made here of them; how many there were."""
    if not node_ids:
        return 0
    with store.database.transaction(_scope(dataset)) as connection:
        target = _target(dataset, connection)
        above = target.rows(
            """SELECT c.node_id, c.turn FROM node_link l JOIN node c ON c.row_id = l.child
               JOIN node p ON p.row_id = l.parent
               WHERE p.dataset_id = ? AND p.node_id IN (SELECT value FROM json_each(?))""",
            dataset.dataset_id, json.dumps(sorted(node_ids)),
        )  # fmt: skip
        gone = {*node_ids, *(str(node_id) for node_id, turn in above if _TURN.fullmatch(str(turn)))}
        done = connection.execute(
            "DELETE FROM node WHERE dataset_id = ? AND node_id IN (SELECT value FROM json_each(?))",
            (dataset.dataset_id, json.dumps(sorted(gone))),
        )
        bump(connection, dataset.dataset_id)
    return done.rowcount


def _scope(dataset: Dataset) -> str:
    return dataset_scope(dataset.name, dataset.user_id)


def _target(dataset: Dataset, connection: Connection) -> Target:
    same = "SELECT 1 FROM dataset WHERE dataset_id = ? AND uid = ?"
    if not connection.execute(same, (dataset.dataset_id, dataset.uid)).fetchone():
        raise NotFoundError(f"dataset {dataset.name!r} was deleted while notes were made; nothing was stored")
    return Target(connection=connection, dataset_id=dataset.dataset_id, dataset_name=dataset.name, seen={})


def _store(target: Target, batch: Batch, window: Window, place: int, note: Note) -> tuple[int, int]:
    there = {
        str(row[0])
        for row in target.rows(
            "SELECT node_id FROM node WHERE dataset_id = ? AND node_id IN (SELECT value FROM json_each(?))",
            target.dataset_id, json.dumps(note.parents),
        )
    }  # fmt: skip
    parents = [parent for parent in note.parents if parent in there]
    if not parents:
        return 0, 0
    outcome, node_id = store_node(target, _item(batch, window, place, note))
    linked, _, _ = Links().add(target, node_id, [(node_id, parent) for parent in parents])
    return int(outcome == "added"), linked


def _item(batch: Batch, window: Window, place: int, note: Note) -> NodeItem:
    times = [node.valid_at for node in window.nodes if node.node_id in note.parents and node.valid_at]
    return NodeItem(
        level=batch.level,
        text=note.text,
        source=window.source,
        turn=f"{_PREFIX[batch.by]}-{window.key}.{'m' if batch.by_model else 'x'}{place}",
        session=window.session,
        title=_title(window),
        valid_at=max(times, default=None),
    )


def _title(window: Window) -> str:
    return common(node.title for node in window.nodes) or ""
