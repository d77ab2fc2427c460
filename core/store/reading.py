"""Reading rows: the columns and texts a corpus is made of, and records by row number."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from core.geo.sphere import Box
from core.records import Artifact, Chunk, Entity, Fact, Node, NodeLink
from core.store.base import Database

CorpusKind = Literal["node", "chunk", "summary", "entity", "fact"]
EVERY_ROW = 2**63 - 1
"""The largest row number there can be."""
CORPUS_KINDS: tuple[CorpusKind, ...] = ("node", "chunk", "summary", "entity", "fact")
Record = TypeVar("Record", Chunk, Entity, Fact, Node)


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """What a corpus knows of its n rows without their texts; ``row_ids`` ascend."""

    row_ids: NDArray[np.int64]
    dataset_ids: NDArray[np.int64]
    sources: list[str]
    levels: list[str | None]
    sessions: list[str | None]
    positions: list[int | None]


_IN = "IN (SELECT value FROM json_each(?))"
_COLUMNS: dict[CorpusKind, str] = {
    "node": f"SELECT row_id, dataset_id, source, level, session, position FROM node WHERE dataset_id {_IN} ORDER BY 1",
    "chunk": f"""SELECT chunk_id, c.dataset_id, a.source, NULL, a.session, c.position FROM chunk c
                 JOIN artifact a USING (artifact_id) WHERE c.dataset_id {_IN} ORDER BY 1""",
    "summary": f"""SELECT chunk_id, c.dataset_id, a.source, NULL, a.session, c.position FROM chunk c
                   JOIN artifact a USING (artifact_id)
                   WHERE c.dataset_id {_IN} AND c.summary IS NOT NULL ORDER BY 1""",
    "entity": f"SELECT entity_id, dataset_id, '', NULL, NULL, NULL FROM entity WHERE dataset_id {_IN} ORDER BY 1",
    "fact": f"""SELECT fact_id, f.dataset_id, coalesce(a.source, ''), NULL, NULL, NULL FROM fact f
                LEFT JOIN artifact a USING (artifact_id) WHERE f.dataset_id {_IN} ORDER BY 1""",
}
_TITLED = "CASE WHEN {0}.title = '' THEN {1}.text ELSE {0}.title || '\n' || {1}.text END"
_TEXTS: dict[CorpusKind, str] = {
    "node": f"SELECT {_TITLED.format('n', 'n')} FROM node n WHERE dataset_id {_IN} AND row_id <= ? ORDER BY row_id",
    "chunk": f"""SELECT {_TITLED.format("a", "c")} FROM chunk c JOIN artifact a USING (artifact_id)
                 WHERE c.dataset_id {_IN} AND chunk_id <= ? ORDER BY chunk_id""",
    "summary": f"""SELECT summary FROM chunk WHERE dataset_id {_IN} AND chunk_id <= ? AND summary IS NOT NULL
                   ORDER BY chunk_id""",
    "entity": f"""SELECT name || ' (' || type || ')' || CASE WHEN description = '' THEN '' ELSE ': ' || description END
                  FROM entity WHERE dataset_id {_IN} AND entity_id <= ? ORDER BY entity_id""",
    "fact": f"""SELECT s.name || ' ' || replace(f.relation, '_', ' ') || ' ' || t.name
                       || CASE WHEN f.description = '' THEN '' ELSE ': ' || f.description END
                FROM fact f JOIN entity s ON s.entity_id = f.source_id JOIN entity t ON t.entity_id = f.target_id
                WHERE f.dataset_id {_IN} AND fact_id <= ? ORDER BY fact_id""",
}
_NODE = """SELECT node_id, level, text, source, turn, session, position, speaker, name, title, valid_at, created_at,
                  confidence, row_id FROM node"""
_CHUNK = """SELECT chunk_id, artifact_id, a.source, a.title, c.position, c.start, c.text, c.summary
            FROM chunk c JOIN artifact a USING (artifact_id)"""
_ENTITY = "SELECT entity_id, name, type, description, updated_at, latitude, longitude FROM entity"
_FACT = """SELECT f.fact_id, f.source_id, f.target_id, s.name, t.name, f.relation, f.description, f.artifact_id,
                  f.valid_at, f.invalid_at, f.created_at, f.expired_at
           FROM fact f JOIN entity s ON s.entity_id = f.source_id JOIN entity t ON t.entity_id = f.target_id"""


class Reading:
    """The part of the store that reads rows. Lists of numbers may be of any length."""

    database: Database

    def columns(self, kind: CorpusKind, dataset_ids: Sequence[int]) -> Columns:
        """The columns of one kind's rows in these datasets, by row number."""
        rows = self.database.rows(_COLUMNS[kind], (_json(dataset_ids),))
        ids, datasets, sources, levels, sessions, positions = zip(*rows, strict=True) if rows else ((),) * 6
        return Columns(
            row_ids=np.array(ids, dtype=np.int64),
            dataset_ids=np.array(datasets, dtype=np.int64),
            sources=[str(source) for source in sources],
            levels=[None if level is None else str(level) for level in levels],
            sessions=[None if session is None else str(session) for session in sessions],
            positions=[None if position is None else int(str(position)) for position in positions],
        )

    def texts(
        self, kind: CorpusKind, dataset_ids: Sequence[int], *, last_row: int = EVERY_ROW
    ) -> Iterator[str]:
        """The text an index sees of each row up to ``last_row``, in the order of ``columns``."""
        for (text,) in self.database.stream(_TEXTS[kind], (_json(dataset_ids), last_row)):
            yield str(text)

    def text_count(self, dataset_ids: Sequence[int]) -> int:
        """How many texts of all kinds there are: what an embedding of everything goes through."""
        wanted = (_json(dataset_ids), EVERY_ROW)
        return sum(
            int(str(self.database.rows(f"SELECT count(*) FROM ({sql}) AS counted", wanted)[0][0]))
            for sql in _TEXTS.values()
        )

    def nodes(self, row_ids: Sequence[int]) -> list[Node]:
        """Nodes in the order asked; deleted ones are left out."""
        rows = self.database.rows(f"{_NODE} WHERE row_id {_IN}", (_json(row_ids),))
        return _in_order(row_ids, {int(row[-1]): _node(row) for row in rows})  # type: ignore[call-overload]

    def nodes_by_id(self, dataset_ids: Sequence[int], node_ids: Sequence[str]) -> list[Node]:
        """Nodes by their sha256, in the order asked; unknown ones are left out."""
        sql = f"{_NODE} WHERE dataset_id {_IN} AND node_id {_IN}"
        found = {
            node.node_id: node
            for node in map(_node, self.database.rows(sql, (_json(dataset_ids), _json(node_ids))))
        }
        return [found[node_id] for node_id in dict.fromkeys(node_ids) if node_id in found]

    def links_from(self, dataset_ids: Sequence[int], child_ids: Sequence[str]) -> list[NodeLink]:
        """The links from these nodes to what they were made from, by child and parent row."""
        sql = f"""SELECT c.node_id, p.node_id FROM node_link l JOIN node c ON c.row_id = l.child
                  JOIN node p ON p.row_id = l.parent
                  WHERE c.dataset_id {_IN} AND c.node_id {_IN} ORDER BY l.child, l.parent"""
        rows = self.database.rows(sql, (_json(dataset_ids), _json(child_ids)))
        return [NodeLink(child_id=str(child), parent_id=str(parent)) for child, parent in rows]

    def chunks(self, row_ids: Sequence[int]) -> list[Chunk]:
        """Chunks in the order asked."""
        rows = self.database.rows(f"{_CHUNK} WHERE chunk_id {_IN}", (_json(row_ids),))
        return _in_order(row_ids, {chunk.chunk_id: chunk for chunk in map(_chunk, rows)})

    def entities(self, row_ids: Sequence[int]) -> list[Entity]:
        """Entities in the order asked."""
        rows = self.database.rows(f"{_ENTITY} WHERE entity_id {_IN}", (_json(row_ids),))
        return _in_order(row_ids, {entity.entity_id: entity for entity in map(_entity, rows)})

    def facts(self, row_ids: Sequence[int]) -> list[Fact]:
        """Facts in the order asked, superseded ones too."""
        rows = self.database.rows(f"{_FACT} WHERE fact_id {_IN}", (_json(row_ids),))
        return _in_order(row_ids, {fact.fact_id: fact for fact in map(_fact, rows)})

    def all_entities(self, dataset_ids: Sequence[int]) -> list[Entity]:
        """Every entity by row number."""
        return [
            _entity(row)
            for row in self.database.rows(
                f"{_ENTITY} WHERE dataset_id {_IN} ORDER BY 1", (_json(dataset_ids),)
            )
        ]

    def places_named(self, dataset_ids: Sequence[int], normal_names: Sequence[str]) -> list[Entity]:
        """Entities with coordinates whose normalised name is one of these, by row number."""
        sql = f"{_ENTITY} WHERE dataset_id {_IN} AND normal_name {_IN} AND latitude IS NOT NULL ORDER BY 1"
        return [_entity(row) for row in self.database.rows(sql, (_json(dataset_ids), _json(normal_names)))]

    def places_in(self, dataset_ids: Sequence[int], boxes: Sequence[Box]) -> list[Entity]:
        """Entities with coordinates in one of the boxes (ends included), by row number; none without a box."""
        box = "(latitude BETWEEN ? AND ? AND longitude BETWEEN ? AND ?)"
        sql = (
            f"{_ENTITY} WHERE dataset_id {_IN} AND ({' OR '.join([box] * len(boxes)) or 'FALSE'}) ORDER BY 1"
        )
        ends = [end for each in boxes for end in (each.south, each.north, each.west, each.east)]
        return [_entity(row) for row in self.database.rows(sql, (_json(dataset_ids), *ends))]

    def recent_entities(self, dataset_ids: Sequence[int], limit: int) -> list[Entity]:
        """The most recently updated, ties by the later row."""
        sql = f"{_ENTITY} WHERE dataset_id {_IN} ORDER BY updated_at DESC, entity_id DESC LIMIT ?"
        return [_entity(row) for row in self.database.rows(sql, (_json(dataset_ids), limit))]

    def facts_around(
        self,
        dataset_ids: Sequence[int],
        entity_ids: Sequence[int],
        limit: int,
        *,
        as_of: str | None = None,
        known_at: str | None = None,
        not_after: str | None = None,
        hide_sources: Iterable[str] = (),
    ) -> list[Fact]:
        """Facts that touch an entity, newest first (created_at, then row); ``limit`` counts what passed the filters.

        Without ``known_at`` only facts that were not superseded; with it those known then. ``as_of`` keeps those true
        then, ``not_after`` leaves out those that become true later.
        """
        sql = f"""{_FACT} LEFT JOIN artifact a ON a.artifact_id = f.artifact_id
            WHERE f.dataset_id IN (SELECT value FROM json_each(?1)) AND f.fact_id IN (
                SELECT fact_id FROM fact WHERE source_id IN (SELECT value FROM json_each(?2))
                UNION SELECT fact_id FROM fact WHERE target_id IN (SELECT value FROM json_each(?2)))
            AND CASE WHEN ?3 IS NULL THEN f.expired_at IS NULL
                ELSE f.created_at <= ?3 AND (f.expired_at IS NULL OR f.expired_at > ?3) END
            AND (?4 IS NULL OR (coalesce(f.valid_at, '') <= ?4 AND (f.invalid_at IS NULL OR f.invalid_at > ?4)))
            AND (?5 IS NULL OR coalesce(f.valid_at, '') <= ?5)
            AND (a.source IS NULL OR a.source NOT IN (SELECT value FROM json_each(?6)))
            ORDER BY f.created_at DESC, f.fact_id DESC LIMIT ?7"""
        hidden = _json(sorted(hide_sources))
        values = (_json(dataset_ids), _json(entity_ids), known_at, as_of, not_after, hidden, limit)
        return [_fact(row) for row in self.database.rows(sql, values)]

    def artifact_sources(self, artifact_ids: Sequence[int]) -> dict[int, str]:
        """Row number → source of artifacts."""
        sql = f"SELECT artifact_id, source FROM artifact WHERE artifact_id {_IN}"
        return {int(str(row[0])): str(row[1]) for row in self.database.rows(sql, (_json(artifact_ids),))}

    def artifacts(self, dataset_ids: Sequence[int]) -> list[Artifact]:
        """Every artifact by row number."""
        sql = f"""SELECT artifact_id, source, title, text, session, valid_at, created_at FROM artifact
                  WHERE dataset_id {_IN} ORDER BY 1"""
        return [_artifact(row) for row in self.database.rows(sql, (_json(dataset_ids),))]


def _json(values: Sequence[int] | Sequence[str]) -> str:
    return json.dumps([value if isinstance(value, str) else int(value) for value in values])


def _in_order(row_ids: Sequence[int], found: dict[int, Record]) -> list[Record]:
    return [found[int(row_id)] for row_id in row_ids if int(row_id) in found]


def _made(record: Callable[..., Any], names: str) -> Callable[[Sequence[Any]], Any]:
    keys = names.split()
    return lambda row: record(**dict(zip(keys, row, strict=False)))


def _node(row: Sequence[Any]) -> Node:
    """Spelled out, as a question reads a hundred nodes."""
    (
        node_id,
        level,
        text,
        source,
        turn,
        session,
        position,
        speaker,
        name,
        title,
        valid,
        created,
        confidence,
        _,
    ) = row
    return Node(
        node_id=node_id,
        level=level,
        text=text,
        source=source,
        turn=turn,
        session=session,
        position=position,
        speaker=speaker,
        name=name,
        title=title,
        valid_at=valid,
        created_at=created,
        confidence=confidence,
    )


_chunk = _made(Chunk, "chunk_id artifact_id source title position start text summary")
_entity = _made(Entity, "entity_id name type description updated_at latitude longitude")
_FACT_FIELDS = """fact_id source_id target_id source target relation description artifact_id valid_at invalid_at
                  created_at expired_at"""
_fact = _made(
    Fact,
    _FACT_FIELDS,
)
_artifact = _made(Artifact, "artifact_id source title text session valid_at created_at")
