"""Names to entities: the same name and type first, then names that are near enough, within one dataset.

Names are compared, not descriptions: "Caroline (person): friend of Melanie" and "Melanie (person): friend of Caroline"
have cosine 0.99 under MiniLM, their names 0.35.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.index.source import StoreCorpus
from core.ingest.graph_rows import UNTYPED, normal_name
from core.models.base import FloatArray
from core.records import Dataset, Entity
from core.remember.extract import Entity as Mention
from core.remember.texts import Vectors, entity_text
from core.text import normalize

NEAREST = 50
"""Entities nearest to a mention by their whole text, among which a near name is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """A mention as the entity it will be stored as; ``entity_id`` None: a new one. ``cosine`` None: by name and type."""

    mention: Mention
    entity_id: int | None
    name: str
    type: str
    description: str
    cosine: float | None = None

    @property
    def text(self) -> str:
        """The text an index will see."""
        return entity_text(self.name, self.type, self.description)


def resolve(
    mentions: Sequence[Mention], dataset: Dataset | None, vectors: Vectors, *, min_cosine: float
) -> list[Resolved]:
    """Each mention's entity, in order. Two mentions of one text are never the same entity: the text told them apart.

    By cosine only an entity of the same type (or of none), whose name holds the same numbers; the nearest pair first,
    ties: the earlier mention, then the older entity.
    """
    known = vectors.store.all_entities([dataset.dataset_id]) if dataset and mentions else []
    found: list[Resolved | None] = [None] * len(mentions)
    taken: set[int] = set()
    named: dict[str, list[Entity]] = {}
    for entity in known:
        named.setdefault(normal_name(entity.name), []).append(entity)
    for index, mention in enumerate(mentions):
        free = [
            entity for entity in named.get(normal_name(mention.name), ()) if entity.entity_id not in taken
        ]
        same = _same(mention, free)
        if same:
            taken.add(same.entity_id)
            found[index] = _joined(mention, same)
    if dataset and known:
        open_ = [index for index, one in enumerate(found) if one is None]
        for cosine, index, entity in _near_pairs(mentions, open_, known, dataset, vectors, min_cosine):
            if found[index] is None and entity.entity_id not in taken:
                taken.add(entity.entity_id)
                found[index] = replace(_joined(mentions[index], entity), type=entity.type, cosine=cosine)
    return [one or _new(mention) for one, mention in zip(found, mentions, strict=True)]


def _same(mention: Mention, named: Sequence[Entity]) -> Entity | None:
    """Among entities of that name the one of that type; no type, of either, stands for any."""
    kind = normal_name(mention.type)
    exact = [entity for entity in named if normal_name(entity.type) == kind]
    loose = named if kind == UNTYPED else [entity for entity in named if entity.type == UNTYPED]
    return next(iter((*exact, *loose)), None)


def _joined(mention: Mention, entity: Entity) -> Resolved:
    """The stored entity keeps what it says; only gaps are filled."""
    return Resolved(
        mention=mention,
        entity_id=entity.entity_id,
        name=entity.name,
        type=mention.type if entity.type == UNTYPED else entity.type,
        description=entity.description or mention.description,
    )


def _new(mention: Mention) -> Resolved:
    return Resolved(
        mention=mention, entity_id=None, name=mention.name, type=mention.type, description=mention.description
    )


def _near_pairs(
    mentions: Sequence[Mention],
    wanted: Sequence[int],
    known: Sequence[Entity],
    dataset: Dataset,
    vectors: Vectors,
    min_cosine: float,
) -> list[tuple[float, int, Entity]]:
    """(cosine, mention, entity) of names at least ``min_cosine`` near, by (−cosine, mention, entity)."""
    if not wanted:
        return []
    StoreCorpus(vectors.store, "entity", [dataset]).refuse_other_embedder(vectors.embedder)
    matrix = vectors.of([entity_text(entity.name, entity.type, entity.description) for entity in known])
    texts = [entity_text(mentions[i].name, mentions[i].type, mentions[i].description) for i in wanted]
    pairs = []
    for index, whole in zip(wanted, vectors.of(texts), strict=True):
        nearest = [
            known[row] for row in _best(matrix @ whole, NEAREST) if _may_be(mentions[index], known[row])
        ]
        names = vectors.of([mentions[index].name, *(entity.name for entity in nearest)])
        for entity, cosine in zip(nearest, (names[1:] @ names[0]).tolist(), strict=True):
            if cosine >= min_cosine:
                pairs.append((float(cosine), index, entity))
    return sorted(pairs, key=lambda pair: (-pair[0], pair[1], pair[2].entity_id))


def _best(cosines: FloatArray, count: int) -> list[int]:
    order = np.argsort(-cosines, kind="stable")[:count]
    return [int(row) for row in order]


def _may_be(mention: Mention, entity: Entity) -> bool:
    types = {normal_name(mention.type), normal_name(entity.type)} - {UNTYPED}
    return len(types) < 2 and _numbers(mention.name) == _numbers(entity.name)


def _numbers(name: str) -> list[str]:
    """ "Apollo 11" is not "Apollo 12", however near their vectors are."""
    return re.findall(r"\d+", normalize(name))
