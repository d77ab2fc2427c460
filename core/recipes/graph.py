"""Recipe `graph`: a subgraph by keywords and similarity, with passages, and the facts and passages an answer cites."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from core.answer.abstain import SENTENCES, abstention
from core.answer.by_model import STAGE, graph_answer
from core.answer.ground import evidence_of
from core.answer.prompts import GRAPH_SYSTEM, Passage, graph_prompt
from core.answer.write import NOTICE, listed
from core.gate.considered import Considered
from core.gate.judge import judge
from core.journal import Journal
from core.recipes.context import Context, Item, by_cosine, in_turn, score_rows
from core.recipes.graph_search import WIDE, GraphSearch, Hit
from core.recipes.graph_sent import GraphSent
from core.recipes.inquiry import Inquiry, Record
from core.recipes.nearby import lines as nearby_lines
from core.recipes.nearby import mentioned, search
from core.records import Chunk, Entity
from core.trace import Answer, Drop, Evidence, Judgement, Nearby, Trace

PROBABILITY = "gate.min_probability"
CAPS = {
    "entity": "similar.entities",
    "fact": "similar.facts",
    "chunk": "similar.chunks",
    "summary": "similar.summaries",
}


def graph(inquiry: Inquiry) -> Trace:
    """Keyword and similarity seeds, one hop around them, passages. Confidence: the best cosine of the four indexes."""
    run = GraphRun(inquiry)
    run.decide()
    return run.trace()


class GraphRun:
    """One question's way through the graph's stages; each method is a stage and may be called once, in this order."""

    def __init__(self, inquiry: Inquiry) -> None:
        self.inquiry = inquiry
        self.profile = inquiry.profile
        self.record = Record(inquiry)
        self.context = Context()
        self.search = GraphSearch(inquiry, self.context)
        self.found: dict[str, list[Hit]] = {}
        self.keyword_seeds: list[Item] = []
        self.ranking: list[Item] = []
        self.kept: list[Item] = []
        self.chosen: list[Item] = []
        self.felled: set[str] = set()
        self.near: Nearby | None = None
        self.near_items: list[Item] = []
        self.near_facts: list[Item] = []
        self.entities: list[str] = []
        self.with_text: set[str] = set()
        self.with_summary: set[str] = set()
        self.judgement: Judgement | None = None

    def decide(self) -> None:
        """All stages up to what an answer may cite."""
        self.recall()
        self.fuse()
        self.floor()
        self.nearby()
        self.expand()
        self.gate()
        self.select()

    @property
    def confidence(self) -> float | None:
        """The learned gate's probability where there is one, else the best cosine of everything considered; None where
        nothing was scored."""
        if self.judgement:
            return self.judgement.probability
        return max(
            (item.cosine for item in self.context.items.values() if item.cosine is not None), default=None
        )

    def recall(self) -> None:
        """Entities by points, and the four vector indexes, wide."""
        self.keyword_seeds = self._by_points()
        self._search_vectors()
        settings = [knob for knob in self.profile.values if knob.startswith(("keywords.", "similar."))]
        self.record.stage("recall", (), self.context.items, settings=settings)

    def _search_vectors(self) -> None:
        journal, space = self.inquiry.journal or Journal(kind="query"), self._cosine_space
        with journal.step("search_vectors", {"question": self.inquiry.question, "space": space}) as sizes:
            for kind in WIDE:
                self.found[kind] = self.search.similar(kind)
                sizes[kind] = len(self.found[kind])

    def fuse(self) -> None:
        """The ranking of everything that can be cited, by its better cosine; seeds stay a plain union."""
        before = list(self.context.items)
        self.ranking = by_cosine([*self.context.of("chunk"), *self.context.of("fact")])
        seeds = [item.item_id for item in (*self.keyword_seeds, *self._items("entity"))]
        after = dict.fromkeys([*seeds, *(item.item_id for item in self.ranking)])
        self.record.stage("fuse", before, after, space=self._cosine_space, note="seeds: keyword ones first")

    def floor(self) -> None:
        """One cosine cut for all four indexes, then the best few of each."""
        before = list(self.context.items)
        minimum = self.profile.number("floor.min_cosine")
        for kind, hits in self.found.items():
            near = [hit for hit in hits if hit[1] >= minimum]
            self.found[kind] = near[: self.profile.count(CAPS[kind])]
            self._note_falls(kind, hits, len(near))
        passing = {item.item_id for kind in WIDE for item in self._items(kind)}
        passing |= {item.item_id for item in self.keyword_seeds}
        for item_id in passing:
            self.context.items[item_id].drop = None
        after = [item_id for item_id in before if item_id in passing]
        self.felled = set(before) - passing
        self.record.stage(
            "floor", before, after, space=self._cosine_space, settings=("floor.min_cosine", *CAPS.values())
        )

    def nearby(self) -> None:
        """What lies near the places of the question, where geo is on and it is asked for."""
        geo = self.inquiry.geo
        if geo is None:
            return
        names = mentioned(self.inquiry, geo, self.record)
        if not geo.nearby:
            return
        before = [item_id for item_id in self.context.items if item_id not in self.felled]
        matched = [item.row for item in self._seeds() if isinstance(item.row, Entity)]
        self.near, found = search(self.inquiry, geo, names, matched, self.record)
        self.near_items = [self.context.add(Item(kind="entity", row=entity)) for entity in found]
        for item in self.near_items:
            item.drop = None
            self.felled.discard(item.item_id)
        after = dict.fromkeys([*before, *(item.item_id for item in self.near_items)])
        settings = [knob for knob in self.profile.values if knob.startswith("geo.")]
        self.record.stage("nearby", before, after, settings=settings)

    def expand(self) -> None:
        """One hop around the seeds, the similar facts beyond the cap, the passages."""
        before = [item_id for item_id in self.context.items if item_id not in self.felled]
        seeds = self._seeds()
        if not seeds and not self.found["fact"] and not self.near_items:
            seeds = self.search.recent()
        self.near_facts = self.search.around(self.near_items)
        facts = [*self.search.around(seeds), *self._items("fact"), *self.near_facts]
        entities = [*seeds, *self.near_items, *self.search.ends(facts)]
        passages = self._passages()
        context = dict.fromkeys(item.item_id for item in (*facts, *passages, *entities))
        self.kept = [self.context.items[item_id] for item_id in context]
        self.entities = list(dict.fromkeys(item.item_id for item in entities))
        for kind in ("entity", "fact"):
            score_rows(
                self.inquiry.corpus(kind), self.inquiry.vector, [i for i in self.kept if i.kind == kind]
            )
        settings = [knob for knob in self.profile.values if knob.startswith("graph.")]
        self.record.stage("expand", before, context, settings=settings)

    def gate(self) -> None:
        """What an answer may cite: facts and passages, or entities where there are neither, near enough; and in turn with
        these what lies near the places of the question and the facts about it, whatever their cosine."""
        before = self.kept
        minimum = self.profile.number("gate.min_cosine")
        citable = [item for item in before if item.kind != "entity"] or list(before)
        self.kept = [
            item
            for item in by_cosine(citable)
            if (item.cosine if item.cosine is not None else -1.0) >= minimum
        ]
        self.kept = in_turn(by_cosine([*self.near_items, *self.near_facts]), self.kept)
        for item in citable:
            if item not in self.kept and item.cosine is not None:
                self._drop(item, "gate", "gate.min_cosine", item.cosine, self._cosine_space)
        self._judge()
        note = self.judgement.said if self.judgement else ""
        self._stage("gate", before, self.kept, ("gate.min_cosine", PROBABILITY), note)

    def _judge(self) -> None:
        """All or nothing by the learned gate, which reads facts and passages as they were before any cut; what lies near
        the places of the question is found by where it lies and stays."""
        gate, ranked = self.profile.learned_gate, {item.item_id for item in self.ranking}
        if gate is None:
            return
        listed = [item for item in self.context.items.values() if item.item_id in ranked]
        considered = Considered(
            texts=[item.text for item in listed],
            titles=[item.row.title if isinstance(item.row, Chunk) else "" for item in listed],
            speakers=[None] * len(listed),
            cosine=np.array([item.cosine for item in listed], dtype=np.float32),
            tfidf=None,
        )
        cut, idf = self.profile.number(PROBABILITY), self.inquiry.corpus("chunk").tfidf.idf
        self.judgement = judge(gate, cut, self.inquiry.question, considered, idf)
        if self.judgement and not self.judgement.suffices:
            for item in self.kept:
                if item not in self.near_items:
                    self._drop(item, "gate", PROBABILITY, self.judgement.probability, gate.space)
            self.kept = [item for item in self.kept if item in self.near_items]

    def select(self) -> None:
        """The best ``select.k`` of what may be cited."""
        k = self.profile.count("select.k")
        self.chosen = self.kept[:k]
        for rank, item in enumerate(self.kept[k:], start=k + 1):
            if item in self.near_items:  # still context
                continue
            self._drop(item, "select", "select.k", rank, None)
        self._stage("select", self.kept, self.chosen, ("select.k",))

    def trace(self) -> Trace:
        """Writes the answer and closes the record."""
        answer = self._answer()
        self.record.lap("write")
        candidates = [item.candidate(self.inquiry.spaces) for item in self.context.items.values()]
        trace = self.record.trace("graph", candidates, [item.item_id for item in self.ranking], answer)
        return replace(trace, nearby=self.near, judgement=self.judgement)

    def _by_points(self) -> list[Item]:
        items, seeds = self.search.by_keywords(), self.profile.count("keywords.seeds")
        for rank, item in enumerate(items[seeds:], start=seeds + 1):
            self._drop(item, "recall", "keywords.seeds", rank, None)
        return items[:seeds]

    def _seeds(self) -> list[Item]:
        """Keyword ones first, then the similar ones."""
        return [
            *self.keyword_seeds,
            *(item for item in self._items("entity") if item not in self.keyword_seeds),
        ]

    def _items(self, kind: str) -> list[Item]:
        return [item for item, _ in self.found[kind]]

    def _passages(self) -> list[Item]:
        matched = {item.item_id: item for item in (*self._items("chunk"), *self._items("summary"))}
        ranked = by_cosine(matched.values())
        with_text = self.profile.count("graph.passages_with_text")
        more = self.profile.count("graph.passages_with_summary")
        summarised = {item.item_id for item in self._items("summary")}
        rest = [item for item in ranked[with_text:] if item.item_id in summarised]
        self.with_text, self.with_summary = {item.item_id for item in ranked[:with_text]}, summarised
        kept = [*ranked[:with_text], *rest[:more]]
        for rank, item in enumerate(ranked, start=1):
            if item not in kept:
                self._drop(item, "expand", "graph.passages_with_text", rank, None)
        return kept

    def _answer(self) -> Answer:
        judged = self.judgement
        confidence, space = self.confidence, judged.space if judged else self._cosine_space
        if not self.chosen:
            nearest = self.ranking[: self.profile.count("select.k")]
            return abstention(
                "below_floor" if confidence is not None else "no_evidence",
                text=SENTENCES["no_evidence"],
                explanation=judged.said if judged and not judged.suffices else "",
                closest=self._evidence(nearest),
                fell=nearest[0].drop if nearest else None,
                confidence=confidence,
                confidence_space=space,
            )
        evidence = self._evidence(self.chosen)
        answer = Answer(
            text=listed(evidence),
            abstained=False,
            evidence=evidence,
            closest=evidence,
            confidence=confidence,
            confidence_space=space,
        )
        return self._written(answer)

    def _written(self, answer: Answer) -> Answer:
        """What a model makes of the subgraph and the passages that passed the gate, where there is a model."""
        inquiry = self.inquiry
        if inquiry.chat is None:
            self.record.notices.append(NOTICE)
            return answer
        sent = GraphSent(self.context, self.kept, self.entities)
        prompt = graph_prompt(
            inquiry.question,
            sent.entities,
            sent.facts,
            [self._passage(item) for item in sent.chunks],
            inquiry.as_of or inquiry.now,
            nearby_lines(self.near),
        )
        return inquiry.by_model(
            STAGE,
            GRAPH_SYSTEM,
            prompt,
            lambda reply: graph_answer(
                answer,
                reply,
                sent.brings,
                lambda ids: self._evidence([self.context.items[each] for each in ids]),
            ),
        )

    def _passage(self, item: Item) -> Passage:
        assert isinstance(item.row, Chunk)
        summary = item.row.summary if item.item_id in self.with_summary else None
        return Passage(chunk=item.row, summary=summary, with_text=item.item_id in self.with_text)

    def _evidence(self, items: Sequence[Item]) -> tuple[Evidence, ...]:
        tfidf = self.inquiry.corpus("chunk").tfidf
        stems = frozenset(tfidf.question_terms(self.inquiry.question))
        make = partial(evidence_of, question_stems=stems, idf=tfidf.idf)
        return tuple(
            self._as_shown(item, make(item.candidate(self.inquiry.spaces), score=item.cosine))
            for item in items
        )

    def _as_shown(self, item: Item, evidence: Evidence) -> Evidence:
        """With what was given of a passage."""
        if not isinstance(item.row, Chunk) or item.item_id not in self.with_text | self.with_summary:
            return evidence
        given = self._passage(item)
        return replace(evidence, summary=given.summary, shown="text" if given.with_text else "summary")

    @property
    def _cosine_space(self) -> str:
        return self.inquiry.spaces["cosine"]

    def _note_falls(self, kind: str, hits: Sequence[Hit], near: int) -> None:
        for rank, (item, cosine) in enumerate(hits, start=1):
            if rank > near:
                self._drop(item, "floor", "floor.min_cosine", cosine, self._cosine_space)
            elif rank > self.profile.count(CAPS[kind]):
                self._drop(item, "floor", CAPS[kind], rank, None)

    def _drop(self, item: Item, stage: str, threshold: str, value: float, space: str | None) -> None:
        cut = self.profile.number(threshold)
        item.drop = Drop(stage=stage, threshold=threshold, cut=cut, value=float(value), space=space)

    def _stage(
        self,
        name: str,
        before: Sequence[Item],
        after: Sequence[Item],
        settings: Sequence[str],
        note: str = "",
    ) -> None:
        ids = [item.item_id for item in before], [item.item_id for item in after]
        self.record.stage(name, *ids, space=self._cosine_space, settings=settings, note=note)
