"""What is stored. Identifiers of artifacts, chunks, entities and facts are row numbers, a node's is its sha256."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Literal, get_args

Level = Literal["L0", "L1", "L2"]
LEVELS: tuple[Level, ...] = get_args(Level)
DEFAULT_USER = "local"
DEFAULT_DATASET = "main"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """One user's named collection. ``revision`` grows with every committed change; ``uid`` never returns."""

    dataset_id: int
    user_id: str
    name: str
    uid: str
    revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """A whole text as it came in. ``source`` names it uniquely within its dataset (a document id, a path)."""

    artifact_id: int
    source: str
    title: str
    text: str
    session: str | None = None
    valid_at: str | None = None
    created_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A stretch of an artifact: ``text == artifact.text[start:start + len(text)]``, ``position`` from 0."""

    chunk_id: int
    artifact_id: int
    source: str
    title: str
    position: int
    start: int
    text: str
    summary: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """A person, organisation, place or thing. Coordinates are degrees, both or neither."""

    entity_id: int
    name: str
    type: str
    description: str = ""
    updated_at: str
    latitude: float | None = None
    longitude: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """``source --relation--> target``, bi-temporal.

    ``valid_at``/``invalid_at``: when it was true in the world (valid time). ``created_at``/``expired_at``: when it was
    known here (transaction time). A null end is open. A superseded fact has ``expired_at`` and stays stored.
    """

    fact_id: int
    source_id: int
    target_id: int
    source: str
    target: str
    relation: str
    description: str = ""
    artifact_id: int | None = None
    valid_at: str | None = None
    invalid_at: str | None = None
    created_at: str
    expired_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A memory at level L0 (evidence), L1 (note) or L2 (synthesis).

    ``source`` and ``turn`` say where it comes from (document, or conversation and turn), ``session`` and ``position``
    place it in a run of turns, ``name`` is a human's handle for it (``infra-root-causes``), unique in a dataset.
    """

    node_id: str
    level: Level
    text: str
    source: str
    turn: str | None = None
    session: str | None = None
    position: int | None = None
    speaker: str | None = None
    name: str | None = None
    title: str = ""
    valid_at: str | None = None
    created_at: str
    confidence: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeLink:
    """``child_id`` was made from ``parent_id``: L2 → L1, L1 → L0."""

    child_id: str
    parent_id: str


def node_id(*, dataset: str, source: str, turn: str | None, text: str) -> str:
    """sha256 (hex) over dataset, source, turn and text, so that equal texts of different turns stay two nodes."""
    parts = (dataset, source, turn or "", text)
    return sha256(
        "\x1f".join(f"{len(part)}:{part}" for part in parts).encode("utf-8", "surrogatepass")
    ).hexdigest()


def text_hash(text: str) -> str:
    """sha256 (hex) of ``text``; the key of the embedding cache together with the model's id."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
