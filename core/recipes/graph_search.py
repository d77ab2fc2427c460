"""What the graph is searched for: entities by points, the four vector indexes, and the facts around seeds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.recipes.context import Context, Item
from core.recipes.inquiry import Inquiry
from core.records import Fact
from core.stages.keywords import Keywords
from core.store import CorpusKind

WIDE: dict[CorpusKind, int] = {"entity": 50, "fact": 50, "chunk": 100, "summary": 100}
"""How many of each index are looked at, so that every cut in its declared range can be replayed."""

Hit = tuple[Item, float]
"""An item and its cosine in one index."""


class GraphSearch:
    """Searches for one question; everything found is added to its context."""

    def __init__(self, inquiry: Inquiry, context: Context) -> None:
        self.inquiry = inquiry
        self.profile = inquiry.profile
        self.context = context

    def by_keywords(self) -> list[Item]:
        """Entities with points, by (−points, latest update, row number)."""
        keywords = Keywords(
            max_terms=self.profile.count("keywords.max_terms"),
            min_length=self.profile.count("keywords.min_length"),
            name_points=self.profile.number("keywords.name_points"),
            term_points=self.profile.number("keywords.term_points"),
            description_points=self.profile.number("keywords.description_points"),
        )
        terms = keywords.terms(self.inquiry.question)
        scored = (
            (keywords.points(entity, self.inquiry.question, terms), entity)
            for entity in self.inquiry.entities()
        )
        matched = sorted((pair for pair in scored if pair[0] > 0), key=lambda pair: pair[1].entity_id)
        matched.sort(key=lambda pair: pair[1].updated_at, reverse=True)
        matched.sort(key=lambda pair: -pair[0])
        return [
            self.context.add(Item(kind="entity", row=entity, points=points)) for points, entity in matched
        ]

    def similar(self, kind: CorpusKind) -> list[Hit]:
        """The nearest of one index, wide, before any cut."""
        corpus = self.inquiry.corpus(kind)
        if not np.any(self.inquiry.vector) or not len(corpus):
            return []
        mask = corpus.mask(dataset_ids=self.inquiry.dataset_ids, hide_sources=self.inquiry.hide_sources)
        rows, cosines = corpus.vectors.search(self.inquiry.vector, WIDE[kind], mask)
        sources = [corpus.columns.sources[row] for row in rows]
        scored = dict(
            zip(
                corpus.columns.row_ids[rows].tolist(),
                zip(cosines.tolist(), sources, strict=True),
                strict=True,
            )
        )
        return [(self.context.add(item), scored[item.row_id][0]) for item in self._resolved(kind, scored)]

    def _resolved(self, kind: str, scored: dict[int, tuple[float, str]]) -> list[Item]:
        """Every hit is read from the database; deleted rows and facts that do not hold are left out."""
        store, ids = self.inquiry.store, list(scored)
        match kind:
            case "entity":
                return [
                    Item(kind="entity", row=row, cosine=scored[row.entity_id][0])
                    for row in store.entities(ids)
                ]
            case "fact":
                live = [row for row in store.facts(ids) if self._holds(row)]
                return [
                    Item(kind="fact", row=row, cosine=scored[row.fact_id][0], source=scored[row.fact_id][1])
                    for row in live
                ]
            case _:
                chunks = store.chunks(ids)
                return [
                    Item(kind="chunk", row=row, cosine=scored[row.chunk_id][0], source=row.source)
                    for row in chunks
                ]

    def _holds(self, fact: Fact) -> bool:
        as_of, known_at = self.inquiry.as_of, self.inquiry.known_at
        known = (
            fact.expired_at is None
            if known_at is None
            else (fact.created_at <= known_at and (fact.expired_at is None or fact.expired_at > known_at))
        )
        if as_of is not None:
            started = fact.valid_at is None or fact.valid_at <= as_of
            return known and started and (fact.invalid_at is None or fact.invalid_at > as_of)
        return known and not (self._drops_future and (fact.valid_at or "") > self.inquiry.now)

    @property
    def _drops_future(self) -> bool:
        return self.profile.choice("graph.future_facts") == "drop"

    def recent(self) -> list[Item]:
        """The most recently updated entities, for a question that matches nothing."""
        limit = self.profile.count("graph.fallback_entities")
        recent = self.inquiry.store.recent_entities(self.inquiry.dataset_ids, limit)
        items = [self.context.add(Item(kind="entity", row=entity)) for entity in recent]
        for item in items:  # too far to be a similar one, which does not matter here
            item.drop = None
        return items

    def around(self, seeds: Sequence[Item]) -> list[Item]:
        """Facts one hop around the seeds, newest first, capped after filtering."""
        facts = self.inquiry.store.facts_around(
            self.inquiry.dataset_ids,
            [seed.row_id for seed in seeds],
            self.profile.count("graph.hop_facts"),
            as_of=self.inquiry.as_of,
            known_at=self.inquiry.known_at,
            not_after=self.inquiry.now if self._drops_future and self.inquiry.as_of is None else None,
            hide_sources=self.inquiry.hide_sources,
        )
        sources = self.inquiry.store.artifact_sources(
            [f.artifact_id for f in facts if f.artifact_id is not None]
        )
        items = []
        for fact in facts:
            item = self.context.add(
                Item(kind="fact", row=fact, source=sources.get(fact.artifact_id or 0, ""))
            )
            item.drop = None
            items.append(item)
        return items

    def ends(self, facts: Sequence[Item]) -> list[Item]:
        """The entities at both ends of the facts."""
        ids = [
            end
            for item in facts
            if isinstance(item.row, Fact)
            for end in (item.row.source_id, item.row.target_id)
        ]
        ends = [
            self.context.add(Item(kind="entity", row=row))
            for row in self.inquiry.store.entities(list(dict.fromkeys(ids)))
        ]
        for item in ends:
            item.drop = None
        return ends
