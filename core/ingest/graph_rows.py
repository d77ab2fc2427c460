"""Storing entities and facts."""

from __future__ import annotations

from core import clock
from core.ingest.items import EntityItem, FactItem
from core.ingest.outcome import Early, Outcome, Target, content_hash
from core.text import normalize

UNTYPED = "thing"
"""Type of an entity that is known only from a fact."""


def store_entity(target: Target, item: EntityItem) -> Outcome:
    """By normalised name and type; one that a fact brought in untyped takes the type given later."""
    name = normal_name(item.name)
    values = (item.name, item.description, item.latitude, item.longitude, item.type)
    target.repeated("entity", f"{name} ({item.type})", content_hash(*values))
    given = (
        "entity",
        f"{name} ({UNTYPED})",
    ) in target.seen  # an entity of its own, not one that waits for a type
    stored = target.rows(
        """SELECT entity_id, name, description, latitude, longitude, type FROM entity
           WHERE dataset_id = ? AND normal_name = ? AND (type = ? OR (type = ? AND description = ''))
           ORDER BY type = ? DESC LIMIT 1""",
        target.dataset_id, name, item.type, item.type if given else UNTYPED, item.type,
    )  # fmt: skip
    if stored and stored[0][1:] == values:
        return "unchanged"
    if stored:
        target.connection.execute(
            """UPDATE entity SET name = ?, description = ?, latitude = ?, longitude = ?, type = ?, updated_at = ?
               WHERE entity_id = ?""",
            (*values, clock.now(), stored[0][0]),
        )
        return "updated"
    target.connection.execute(
        """INSERT INTO entity (name, description, latitude, longitude, type, updated_at, dataset_id, normal_name)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?)""",
        (*values, clock.now(), target.dataset_id, name),
    )
    return "added"


def store_fact(target: Target, item: FactItem) -> Outcome:
    """By its content; the ends of its validity may be set later (closing a fact is an update, not another fact)."""
    source, end = _entity_id(target, item.subject), _entity_id(target, item.object)
    artifact = _artifact_id(target, item.artifact)
    identity = (
        item.subject,
        item.relation,
        item.object,
        item.description,
        item.artifact,
        item.valid_at,
        item.created_at,
    )
    key = content_hash(*identity)
    ends = (item.invalid_at, item.expired_at)
    target.repeated(
        "fact", " ".join((item.subject, item.relation, item.object, key[:8])), content_hash(*ends)
    )
    stored = target.rows(
        "SELECT invalid_at, expired_at FROM fact WHERE dataset_id = ? AND content_hash = ?",
        target.dataset_id,
        key,
    )
    if stored and stored[0] == ends:
        return "unchanged"
    if stored:
        target.connection.execute(
            "UPDATE fact SET invalid_at = ?, expired_at = ? WHERE dataset_id = ? AND content_hash = ?",
            (*ends, target.dataset_id, key),
        )
        return "updated"
    target.connection.execute(
        """INSERT INTO fact (dataset_id, source_id, target_id, relation, description, artifact_id, valid_at, invalid_at,
                             created_at, expired_at, content_hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        (target.dataset_id, source, end, item.relation, item.description, artifact, item.valid_at, item.invalid_at,
         item.created_at or clock.now(), item.expired_at, key),
    )  # fmt: skip
    return "added"


def _entity_id(target: Target, name: str) -> int:
    normal = normal_name(name)
    stored = target.rows(
        "SELECT entity_id FROM entity WHERE dataset_id = ? AND normal_name = ? ORDER BY entity_id LIMIT 1",
        target.dataset_id, normal,
    )  # fmt: skip
    if stored:
        return int(str(stored[0][0]))
    made = target.connection.execute(
        "INSERT INTO entity (dataset_id, name, normal_name, type, description, updated_at) VALUES (?, ?, ?, ?, '', ?) "
        "RETURNING entity_id",
        (target.dataset_id, name, normal, UNTYPED, clock.now()),
    )
    return int(made.fetchall()[0][0])


def _artifact_id(target: Target, source: str | None) -> int | None:
    if source is None:
        return None
    stored = target.rows(
        "SELECT artifact_id FROM artifact WHERE dataset_id = ? AND source = ?", target.dataset_id, source
    )
    if not stored:
        raise Early(f"artifact {source!r} is neither stored nor in this input")
    return int(str(stored[0][0]))


def normal_name(name: str) -> str:
    """What two spellings of one name share: normalised, blanks single."""
    return " ".join(normalize(name).split())
