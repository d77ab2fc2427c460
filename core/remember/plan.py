"""What a text means for a dataset as it was read: entities, facts, and the facts they close."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from core.records import Dataset, Fact
from core.remember.calls import Caller
from core.remember.extract import Extraction
from core.remember.facts import NewFact, new_facts, unknown
from core.remember.report import passed_over, repeated
from core.remember.resolve import Resolved, resolve
from core.remember.supersede import AROUND, Closing, Verdict, closings, offered, verdicts
from core.remember.texts import Vectors
from core.store import Store


@dataclass(slots=True, kw_only=True)
class Plan:
    """What a text means for the dataset as it was read."""

    entities: Sequence[Resolved] = ()
    facts: Sequence[NewFact] = ()
    closings: Sequence[Closing] = ()
    notices: list[str] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class Planner:
    """Plans what a model read in ``text``, said at ``moment``, as often as the dataset changes. ``said`` keeps the
    model's verdicts by what it was shown, so that it is asked again only about other facts."""

    caller: Caller
    text: str
    moment: str
    min_cosine: float
    said: dict[tuple[object, ...], tuple[tuple[Verdict, ...], int]] = field(default_factory=dict)

    def plan(self, stated: Extraction, dataset: Dataset | None, vectors: Vectors, now: str) -> Plan:
        with self.caller.journal.step("resolve", entities=len(stated.entities)) as sizes:
            entities = resolve(stated.entities, dataset, vectors, min_cosine=self.min_cosine)
            sizes["known"] = sum(entity.entity_id is not None for entity in entities)
        live = self._live(entities, dataset, vectors.store)
        facts = unknown(new_facts(stated, entities, moment=self.moment), live)
        plan = Plan(entities=entities, facts=facts, notices=repeated(len(stated.facts) - len(facts)))
        if live and facts:
            self._supersede(plan, live, vectors, now)
        vectors.add(entity.text for entity in entities)
        vectors.add(entity.name for entity in entities)
        vectors.add(fact.text for fact in facts)
        return plan

    def _live(self, entities: Sequence[Resolved], dataset: Dataset | None, store: Store) -> list[Fact]:
        known = [entity.entity_id for entity in entities if entity.entity_id is not None]
        if dataset is None or not known:
            return []
        return store.facts_around([dataset.dataset_id], known, AROUND)

    def _supersede(self, plan: Plan, live: Sequence[Fact], vectors: Vectors, now: str) -> None:
        shown = offered(live, plan.facts, vectors)
        key = (tuple(shown), tuple(plan.facts))
        if key not in self.said:
            with self.caller.journal.step("supersede", known=len(shown), new=len(plan.facts)):
                self.said[key] = verdicts(self.caller, self.text, shown, plan.facts)
        said, invented = self.said[key]
        plan.closings, plan.facts, apart = closings(said, shown, plan.facts, now=now)
        plan.notices += passed_over(invented, apart, plan.closings)
