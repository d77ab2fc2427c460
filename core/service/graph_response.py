"""What the graph answers over HTTP: the answer and the rows it stands on, each list by row number."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel

from core.records import Chunk, Entity, Fact
from core.store import Store
from core.trace import Answer, Evidence, Nearby, Trace


class EntityRow(BaseModel):
    """An entity used; ``description`` is left out where there is none."""

    id: int
    name: str
    type: str
    description: str | None = None


class EdgeRow(BaseModel):
    """A fact used; ``artifact_id`` is the text it was inferred from. What is null is left out."""

    id: int
    source_id: int
    target_id: int
    source: str
    target: str
    relation: str
    artifact_id: int | None = None
    valid_at: str | None = None
    invalid_at: str | None = None
    created_at: str
    expired_at: str | None = None


class PassageRow(BaseModel):
    """A chunk used: ``artifact_id`` is its own row, ``parent_id`` that of the text it is chunk ``index`` of.

    ``summary`` is left out unless the search found it, ``text`` where only the summary was given."""

    artifact_id: int
    parent_id: int
    index: int
    summary: str | None = None
    text: str | None = None


class GraphEvidence(BaseModel):
    """The rows the answer stands on: with every edge the entities at both its ends."""

    entities: list[EntityRow]
    edges: list[EdgeRow]
    passages: list[PassageRow]


class AnchorRow(BaseModel):
    """A place that was searched around; ``id`` is left out where it is not stored."""

    id: int | None = None
    name: str
    latitude: float
    longitude: float


class NearbyRow(BaseModel):
    """An entity found ``distance_km`` from the place called ``anchor``."""

    id: int
    name: str
    type: str
    latitude: float
    longitude: float
    distance_km: float
    anchor: str


class NearbyRows(BaseModel):
    """What lies within the radius of the question's places, the nearest first."""

    radius_km: float
    anchors: list[AnchorRow]
    nearby: list[NearbyRow]


class GraphAnswer(BaseModel):
    """``session_id`` is left out where the request had none, ``nearby`` unless it was asked for and a place was named."""

    session_id: str | None = None
    answer: str
    evidence: GraphEvidence
    nearby: NearbyRows | None = None


def graph_answer(trace: Trace, store: Store, session_id: str | None) -> GraphAnswer:
    """The response of a Trace. Its rows are read from the store again: one deleted meanwhile is left out."""
    return GraphAnswer(
        session_id=session_id,
        answer=_said(trace.answer),
        evidence=_rows(trace.answer, store),
        nearby=_nearby(trace.nearby) if trace.nearby else None,
    )


def _said(answer: Answer) -> str:
    """A model's reply that rests on nothing it was sent is given as it is: it says what the graph lacks."""
    return answer.draft if answer.reason == "not_supported" and answer.draft else answer.text


def _rows(answer: Answer, store: Store) -> GraphEvidence:
    cited = () if answer.abstained else answer.evidence
    facts = store.facts(_row_ids(cited, "fact"))
    ends = [end for fact in facts for end in (fact.source_id, fact.target_id)]
    entities = store.entities(sorted({*_row_ids(cited, "entity"), *ends}))
    given = {_row_id(item): item for item in cited if item.kind == "chunk"}
    chunks = store.chunks(_row_ids(cited, "chunk"))
    return GraphEvidence(
        entities=[_entity(row) for row in entities],
        edges=[_edge(row) for row in facts],
        passages=[_passage(row, given[row.chunk_id]) for row in chunks],
    )


def _row_ids(cited: Iterable[Evidence], kind: str) -> list[int]:
    """Row numbers of one kind, each once, ascending."""
    return sorted({_row_id(item) for item in cited if item.kind == kind})


def _row_id(item: Evidence) -> int:
    return int(item.candidate_id.partition(":")[2])


def _entity(row: Entity) -> EntityRow:
    return EntityRow(id=row.entity_id, name=row.name, type=row.type, description=row.description or None)


def _edge(row: Fact) -> EdgeRow:
    return EdgeRow(
        id=row.fact_id,
        source_id=row.source_id,
        target_id=row.target_id,
        source=row.source,
        target=row.target,
        relation=row.relation,
        artifact_id=row.artifact_id,
        valid_at=row.valid_at,
        invalid_at=row.invalid_at,
        created_at=row.created_at,
        expired_at=row.expired_at,
    )


def _passage(row: Chunk, given: Evidence) -> PassageRow:
    return PassageRow(
        artifact_id=row.chunk_id,
        parent_id=row.artifact_id,
        index=row.position,
        summary=given.summary,
        text=row.text if given.shown == "text" else None,
    )


def _nearby(found: Nearby) -> NearbyRows:
    return NearbyRows(
        radius_km=found.radius_km,
        anchors=[
            AnchorRow(id=one.entity_id, name=one.name, latitude=one.latitude, longitude=one.longitude)
            for one in found.anchors
        ],
        nearby=[
            NearbyRow(
                id=one.entity_id,
                name=one.name,
                type=one.type,
                latitude=one.latitude,
                longitude=one.longitude,
                distance_km=one.distance_km,
                anchor=one.anchor,
            )
            for one in found.found
        ],
    )
