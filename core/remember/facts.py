"""Facts of a text before they are stored: dated, tied to resolved entities, without what is known already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.ingest.graph_rows import normal_name
from core.records import Fact
from core.remember.extract import Extraction
from core.remember.extract import Fact as Stated
from core.remember.resolve import Resolved
from core.remember.texts import fact_text
from core.remember.words import relation_name


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFact:
    """A fact about to be stored. ``source`` and ``target`` are places in the list of resolved entities; the entities'
    numbers are None where they are new. ``dated``: the text said since when."""

    source: int
    target: int
    source_id: int | None
    target_id: int | None
    source_name: str
    target_name: str
    relation: str
    description: str
    valid_at: str | None
    invalid_at: str | None
    dated: bool

    @property
    def text(self) -> str:
        """The text an index will see."""
        return fact_text(self.source_name, self.relation, self.target_name, self.description)

    def states(self, known: Fact) -> bool:
        """Whether it relates the same two entities in the same way."""
        ends = (self.source_id, self.target_id) == (known.source_id, known.target_id)
        return ends and relation_name(self.relation) == relation_name(known.relation)


def new_facts(stated: Extraction, entities: Sequence[Resolved], *, moment: str) -> list[NewFact]:
    """The facts between resolved entities, each spell once. Where the text does not say since when, it holds since
    ``moment`` (when the text was said); a fact that had ended by then has an unknown start."""
    places: dict[str, int] = {}
    for place, entity in enumerate(entities):
        places.setdefault(normal_name(entity.mention.name), place)
    made = [_fact(fact, places, entities, moment) for fact in stated.facts]
    return list({(f.source, f.relation, f.target, f.valid_at): f for f in reversed(made)}.values())[::-1]


def unknown(facts: Sequence[NewFact], live: Sequence[Fact]) -> list[NewFact]:
    """The facts that no live one states already."""
    return [fact for fact in facts if not any(_repeats(fact, known) for known in live)]


def _repeats(fact: NewFact, known: Fact) -> bool:
    """The same spell, or an undated fact that holds, and held before the text was said."""
    if not fact.states(known):
        return False
    if fact.dated or fact.invalid_at:
        return (fact.valid_at, fact.invalid_at) == (known.valid_at, known.invalid_at)
    return known.invalid_at is None and (known.valid_at or "") <= (fact.valid_at or "")


def _fact(fact: Stated, places: dict[str, int], entities: Sequence[Resolved], moment: str) -> NewFact:
    source, target = places[normal_name(fact.source)], places[normal_name(fact.target)]
    open_ = fact.invalid_at is None or fact.invalid_at > moment
    return NewFact(
        source=source,
        target=target,
        source_id=entities[source].entity_id,
        target_id=entities[target].entity_id,
        source_name=entities[source].name,
        target_name=entities[target].name,
        relation=fact.relation,
        description=fact.description,
        valid_at=fact.valid_at or (moment if open_ else None),
        invalid_at=fact.invalid_at,
        dated=fact.valid_at is not None,
    )
