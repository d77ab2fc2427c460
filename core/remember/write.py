"""Writing what was remembered: all of it in one transaction, and only if the dataset is still as it was read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.ingest.graph_rows import normal_name
from core.ingest.items import ArtifactItem
from core.ingest.node_rows import artifact_hash, store_artifact
from core.ingest.outcome import Target, content_hash
from core.records import Dataset
from core.remember.facts import NewFact
from core.remember.resolve import Resolved
from core.remember.supersede import Closing
from core.remember.texts import Vectors
from core.store import Store
from core.store.base import Connection, dataset_scope
from core.store.datasets import ensure_within


class ChangedError(Exception):
    """Somebody else changed the dataset since it was read; nothing was written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """All that one call stores. ``read`` is the dataset as it was read, None: it did not exist. ``now`` is the moment
    it becomes known."""

    user_id: str
    dataset: str
    read: Dataset | None
    artifact: ArtifactItem
    summaries: Sequence[str] = ()
    extracted: bool = False
    entities: Sequence[Resolved] = ()
    facts: Sequence[NewFact] = ()
    closings: Sequence[Closing] = ()
    now: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """An artifact as it is stored; ``extracted``: a model read its facts."""

    artifact_id: int
    chunks: int
    entities: int
    facts: int
    extracted: bool


def stored(store: Store, dataset: Dataset | None, artifact: ArtifactItem) -> Stored | None:
    """The artifact with exactly this content, if it is there; ``entities`` are the distinct ends of its facts."""
    if dataset is None:
        return None
    rows = store.database.rows(
        """SELECT artifact_id, content_hash, (SELECT count(*) FROM chunk c WHERE c.artifact_id = a.artifact_id),
                  (SELECT count(*) FROM fact f WHERE f.artifact_id = a.artifact_id),
                  (SELECT count(*) FROM (SELECT source_id FROM fact f WHERE f.artifact_id = a.artifact_id
                                         UNION SELECT target_id FROM fact f WHERE f.artifact_id = a.artifact_id) AS ends)
           FROM artifact a WHERE dataset_id = ? AND source = ?""",
        (dataset.dataset_id, artifact.source),
    )
    if not rows or rows[0][1] not in (artifact_hash(artifact), _extracted_hash(artifact)):
        return None
    artifact_id, content, chunks, facts, entities = rows[0]
    return Stored(
        artifact_id=int(str(artifact_id)),
        chunks=int(str(chunks)),
        entities=int(str(entities)),
        facts=int(str(facts)),
        extracted=content == _extracted_hash(artifact),
    )


def write(store: Store, draft: Draft, vectors: Vectors) -> tuple[int, int]:
    """Stores the draft with its vectors; the artifact's number and how many facts were superseded.

    Raises:
        ChangedError: the dataset is not as it was read. StoreError: it cannot be written. Nothing was written then.
    """
    with store.database.transaction(dataset_scope(draft.dataset, draft.user_id)) as connection:
        dataset = ensure_within(connection, draft.dataset, draft.user_id)
        if (draft.read is None and dataset.revision) or (draft.read is not None and draft.read != dataset):
            raise ChangedError
        target = Target(
            connection=connection, dataset_id=dataset.dataset_id, dataset_name=dataset.name, seen={}
        )
        artifact_id = _artifact(target, draft)
        superseded = sum(_close(target, closing, draft.now) for closing in draft.closings)
        rows = [_entity(target, entity, draft.now) for entity in draft.entities]
        for fact in draft.facts:
            _fact(target, fact, rows, artifact_id, draft)
        store.embeddings.put_within(connection, vectors.embedder.model_id, *vectors.array())
        bump(connection, dataset.dataset_id)
    return artifact_id, superseded


def bump(connection: Connection, dataset_id: int) -> None:
    """A new revision of the dataset."""
    connection.execute("UPDATE dataset SET revision = revision + 1 WHERE dataset_id = ?", (dataset_id,))


def _artifact(target: Target, draft: Draft) -> int:
    store_artifact(target, draft.artifact)
    found = target.rows(
        "SELECT artifact_id FROM artifact WHERE dataset_id = ? AND source = ?",
        target.dataset_id, draft.artifact.source,
    )  # fmt: skip
    artifact_id = int(str(found[0][0]))
    for position, summary in enumerate(draft.summaries):
        target.connection.execute(
            "UPDATE chunk SET summary = ? WHERE artifact_id = ? AND position = ?",
            (summary, artifact_id, position),
        )
    if draft.extracted:
        target.connection.execute(
            "UPDATE artifact SET content_hash = ? WHERE artifact_id = ?",
            (_extracted_hash(draft.artifact), artifact_id),
        )
    return artifact_id


def _extracted_hash(artifact: ArtifactItem) -> str:
    return content_hash(artifact_hash(artifact), "extracted")


def _close(target: Target, closing: Closing, now: str) -> int:
    """1 if the fact was superseded; one that merely ends later on stays live."""
    done = target.connection.execute(
        """UPDATE fact SET invalid_at = ?, expired_at = ?
           WHERE fact_id = ? AND dataset_id = ? AND expired_at IS NULL""",
        (closing.invalid_at, now if closing.expires else None, closing.fact_id, target.dataset_id),
    )
    return done.rowcount if closing.expires else 0


def _entity(target: Target, entity: Resolved, now: str) -> int:
    if entity.entity_id is not None:
        target.connection.execute(
            "UPDATE entity SET type = ?, description = ?, updated_at = ? WHERE entity_id = ?",
            (entity.type, entity.description, now, entity.entity_id),
        )
        return entity.entity_id
    made = target.connection.execute(
        """INSERT INTO entity (dataset_id, name, normal_name, type, description, updated_at)
           VALUES (?, ?, ?, ?, ?, ?) RETURNING entity_id""",
        (target.dataset_id, entity.name, normal_name(entity.name), entity.type, entity.description, now),
    )
    return int(made.fetchall()[0][0])


def _fact(target: Target, fact: NewFact, rows: Sequence[int], artifact_id: int, draft: Draft) -> None:
    """The hash is that of an imported fact; one with the same hash is there already (the same moment, the same text)."""
    identity = (fact.source_name, fact.relation, fact.target_name, fact.description, draft.artifact.source,
                fact.valid_at, draft.now)  # fmt: skip
    target.connection.execute(
        """INSERT INTO fact (dataset_id, source_id, target_id, relation, description, artifact_id, valid_at, invalid_at,
                             created_at, content_hash)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (dataset_id, content_hash) DO NOTHING""",
        (target.dataset_id, rows[fact.source], rows[fact.target], fact.relation, fact.description, artifact_id,
         fact.valid_at, fact.invalid_at, draft.now, content_hash(*identity)),
    )  # fmt: skip
