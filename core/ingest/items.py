"""What a loader yields and the ingestor stores: records that name each other by words, before they have row numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.records import Level


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactItem:
    """A text. ``whole`` keeps it as one chunk (a passage); else it is chunked. ``as_nodes`` also makes an L0 node of
    each chunk, so that `memory` and `brain` see it. ``summary`` belongs to a whole text's one chunk. ``chunking`` is
    the size and the overlap of chunks in characters, None the usual ones."""

    source: str
    text: str
    title: str = ""
    session: str | None = None
    valid_at: str | None = None
    summary: str | None = None
    whole: bool = False
    as_nodes: bool = True
    chunking: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityItem:
    """An entity; a later one of the same normalised name and type updates it."""

    name: str
    type: str
    description: str = ""
    latitude: float | None = None
    longitude: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FactItem:
    """``subject --relation--> object``; entities by name, made (type ``thing``) where missing."""

    subject: str
    relation: str
    object: str
    description: str = ""
    artifact: str | None = None
    valid_at: str | None = None
    invalid_at: str | None = None
    created_at: str | None = None
    expired_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeItem:
    """A node; ``parents`` are names or node ids of what it was made from, earlier in the stream or already stored."""

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
    confidence: float | None = None
    parents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkItem:
    """A link between two nodes, each by name or id."""

    child: str
    parent: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseItem:
    """A labelled question; ``body`` is the JSON object of an ``evals.cases.Case``, opaque to core."""

    case_id: str
    body: Mapping[str, Any] = field(default_factory=dict)


Item = ArtifactItem | EntityItem | FactItem | NodeItem | LinkItem | CaseItem


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something wrong in the input, said by place. ``action`` is what was done: ``skipped``, ``repaired``, ``kept``."""

    where: str  # file:line, or another exact place
    what: str
    action: str = "skipped"

    def __str__(self) -> str:
        return f"{self.where}: {self.what} ({self.action})"
