"""What of a graph's context is sent to a model, and what a citation of each piece brings along."""

from __future__ import annotations

from collections.abc import Sequence

from core.recipes.context import Context, Item
from core.records import Chunk, Entity, Fact


class GraphSent:
    """The facts and passages that passed the gate with the entities at their ends, and the seeds that
    did not fall, each kind by id.

    ``chunks`` are in rank order: the best passages first. ``brings`` maps each candidate id to what is evidence once it
    is cited.
    """

    def __init__(self, context: Context, kept: Sequence[Item], entity_ids: Sequence[str]) -> None:
        self.facts = sorted(
            (item.row for item in kept if isinstance(item.row, Fact)), key=lambda fact: fact.fact_id
        )
        self.chunks = [item for item in kept if isinstance(item.row, Chunk)]
        ends = {f"entity:{end}" for fact in self.facts for end in (fact.source_id, fact.target_id)}
        given = [context.items[each] for each in dict.fromkeys(entity_ids)]
        given = [item for item in given if item.drop is None or item.item_id in ends]
        self.entities = sorted(
            (item.row for item in given if isinstance(item.row, Entity)), key=lambda entity: entity.entity_id
        )
        self.brings: dict[str, tuple[str, ...]] = {
            item.item_id: (item.item_id,) for item in (*given, *self.chunks)
        }
        for fact in self.facts:
            both = dict.fromkeys((f"entity:{fact.source_id}", f"entity:{fact.target_id}"))
            self.brings[f"fact:{fact.fact_id}"] = (f"fact:{fact.fact_id}", *both)
