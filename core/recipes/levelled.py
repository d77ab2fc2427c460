"""The stages `memory` and `brain` share: both ask levelled nodes; their profiles and confidence differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from core.answer.abstain import abstention
from core.answer.by_model import STAGE, aliases, cited_answer
from core.answer.ground import evidence_of, walk
from core.answer.prompts import CITED_SYSTEM, cited_prompt
from core.answer.write import NOTICE, listed
from core.gate.considered import Considered
from core.gate.judge import judge
from core.index.base import Rows, Scores
from core.recipes.inquiry import Inquiry, Record
from core.recipes.pool import Pool, recall_pool
from core.stages import diversify, gate, rerank
from core.stages.floor import CHECKS, PASSED, Floor
from core.trace import Answer, Candidate, Drop, Evidence, Judgement, ReasonCode, Recipe, Trace

BEST = "gate.min_best_cosine"
PROBABILITY = "gate.min_probability"
Places = NDArray[np.int64]
"""Positions in the pool, in the current order."""


class LevelledRun:
    """One question's way through the node stages; each method is a stage and may be called once, in this order."""

    def __init__(self, inquiry: Inquiry, *, confidence: str) -> None:
        self.inquiry = inquiry
        self.profile = inquiry.profile
        self.record = Record(inquiry)
        self.confidence_family = confidence
        self.drops: dict[int, Drop] = {}
        self.ranking: Places = np.empty(0, dtype=np.int64)
        self.order: Places = self.ranking
        self.relevance: Scores = np.empty(0, dtype=np.float32)
        self.pool: Pool
        self.judgement: Judgement | None = None

    def recall_and_fuse(self) -> None:
        """Wide recall by channel, fused into one ranking score; the best ``recall.keep`` stay."""
        self.pool = recall_pool(self.inquiry, self.record)
        self.order = self.ranking = np.arange(len(self.pool))
        self.relevance = self.pool.fused

    def rerank(self) -> None:
        """The best ``rerank.depth`` reordered by the mix of both scores; the rest fall, since nothing read them."""
        before = self.order
        reranker, depth = self.inquiry.reranker, self.profile.count("rerank.depth")
        note = "" if reranker else "rerank.method is none: the fused order stands"
        if reranker and len(before):
            head, rest = before[:depth], before[depth:]
            texts = [self.pool.index_text(place) for place in head]
            self.pool.rerank[head] = reranker.scores(self.inquiry.question, texts)
            mixed = rerank.mixed(
                self.pool.fused[head], self.pool.rerank[head], self.profile.number("rerank.weight")
            )
            self.relevance = np.zeros(len(self.pool), dtype=np.float32)
            self.relevance[head] = mixed
            self.order = head[rerank.order(mixed)]
            self.ranking = np.concatenate([self.order, rest])
            self._drop_beyond("rerank", "rerank.depth", rest, first=depth)
        self._stage(
            "rerank", before, self.ranking, "rerank", ("rerank.method", "rerank.depth", "rerank.weight"), note
        )

    def floor(self) -> None:
        """What may be used to answer at all."""
        before = self.order
        floor = Floor(
            min_overlap=self.profile.number("floor.min_overlap"),
            min_score=self.profile.number("floor.min_score"),
            strong_overlap=self.profile.number("floor.strong_overlap"),
            min_cosine=self.profile.number("floor.min_cosine"),
        )
        read = (self.pool.overlap, self.pool.blended, self.pool.cosine)
        verdicts = floor.verdicts(*(scores[before] for scores in read))
        for verdict, check in enumerate(CHECKS):
            fallen = before[verdicts == verdict]
            self._drop("floor", check, fallen, read[verdict][fallen])
        self.order = before[verdicts == PASSED]
        self._stage("floor", before, self.order, None, (*CHECKS, "floor.strong_overlap"))

    def diversify(self) -> None:
        """Maximal marginal relevance over what passed."""
        before, trade_off = self.order, self.profile.number("mmr.lambda")
        if len(before) > 1 and trade_off < 1:
            similar = diversify.similarities(self.pool.vectors(before))
            self.order = before[diversify.mmr(self.relevance[before], similar, trade_off)]
        self._stage("diversify", before, self.order, None, ("mmr.lambda",))

    def gate(self) -> None:
        """A floor on the reranker's own score, and, where the profile has one, on the best node's cosine and on the
        learned probability that the evidence suffices."""
        before, minimum = self.order, self.profile.number("gate.min_rerank")
        kept = gate.passes(self.pool.rerank[before], minimum)
        self._drop("gate", "gate.min_rerank", before[~kept], self.pool.rerank[before[~kept]])
        self.order = before[kept]
        settings = [name for name in self.profile.values if name.startswith("gate.")]
        if BEST in settings and not gate.best_passes(self.pool.cosine, self.profile.number(BEST)):
            best = np.full(len(self.order), self.pool.cosine.max(initial=-1))
            self._drop("gate", BEST, self.order, best)
            self.order = before[:0]
        self._judge()
        note = self.judgement.said if self.judgement else ""
        self._stage("gate", before, self.order, "rerank", settings, note)

    def _judge(self) -> None:
        """All or nothing by the learned gate, which reads the candidates as they were before any floor."""
        gate, pool = self.profile.learned_gate, self.pool
        if gate is None:
            return
        considered = Considered(
            texts=[node.text for node in pool.nodes],
            titles=[node.title for node in pool.nodes],
            speakers=[node.speaker for node in pool.nodes],
            cosine=pool.cosine,
            tfidf=pool.lexical["tfidf"],
        )
        cut = self.profile.number(PROBABILITY)
        self.judgement = judge(gate, cut, self.inquiry.question, considered, pool.idf)
        if self.judgement and not self.judgement.suffices:
            self._drop("gate", PROBABILITY, self.order, np.full(len(self.order), self.judgement.probability))
            self.order = self.order[:0]

    def select(self) -> None:
        """The first ``select.k``."""
        before, k = self.order, self.profile.count("select.k")
        self._drop_beyond("select", "select.k", before[k:], first=k)
        self.order = before[:k]
        self._stage("select", before, self.order, None, ("select.k",))

    def trace(self, recipe: Recipe, *, abstain: ReasonCode | None = None) -> Trace:
        """Writes the answer (or abstains, at once for the reason given) and closes the record."""
        candidates = self.pool.candidates(self.drops)
        answer = self._answer(candidates, abstain)
        self.record.lap("write")
        trace = self.record.trace(recipe, candidates, self._ids(self.ranking), answer)
        return replace(trace, judgement=self.judgement)

    def _answer(self, candidates: Sequence[Candidate], abstain: ReasonCode | None) -> Answer:
        confidence, judged = self._confidence(), self.judgement
        space = judged.space if judged else self.inquiry.spaces.get(self.confidence_family)
        if not len(self.pool) or abstain or not len(self.order):
            reason: ReasonCode = abstain or ("below_floor" if len(self.pool) else "no_evidence")
            nearest = self.ranking[: self.profile.count("select.k")]
            fell = self.drops.get(int(nearest[0])) if len(nearest) and not abstain else None
            closest = self._evidence(candidates, nearest)
            return abstention(
                reason,
                explanation=judged.said if judged and not judged.suffices and not abstain else "",
                closest=closest,
                fell=fell,
                confidence=confidence,
                confidence_space=space,
            )
        evidence = self._evidence(candidates, self.order)
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
        """The same evidence in a model's words, where there is a model."""
        inquiry = self.inquiry
        if inquiry.chat is None:
            self.record.notices.append(NOTICE)
            return answer
        prompt = cited_prompt(inquiry.question, aliases(answer.evidence), inquiry.as_of or inquiry.now)
        return inquiry.by_model(STAGE, CITED_SYSTEM, prompt, lambda reply: cited_answer(answer, reply))

    def _confidence(self) -> float | None:
        if self.judgement:
            return self.judgement.probability
        scores = self.pool.blended if self.confidence_family == "tfidf+cosine" else self.pool.cosine
        return float(scores.max()) if scores.size else None

    def _evidence(self, candidates: Sequence[Candidate], places: Places) -> tuple[Evidence, ...]:
        ids = self._ids(places)
        provenance = walk(self.inquiry.store, self.inquiry.dataset_ids, ids)
        question, idf = self.pool.question_stems, self.pool.idf
        return tuple(
            evidence_of(candidates[place], question, idf, float(self.relevance[place]), provenance[node])
            for place, node in zip(places, ids, strict=True)
        )

    def _drop(self, stage: str, threshold: str, places: Places, values: NDArray[np.floating]) -> None:
        cut, space = self.profile.number(threshold), self.pool.space_of(threshold)
        for place, value in zip(places.tolist(), values.tolist(), strict=True):
            self.drops[place] = Drop(stage=stage, threshold=threshold, cut=cut, value=value, space=space)

    def _drop_beyond(self, stage: str, threshold: str, places: Places, *, first: int) -> None:
        self._drop(stage, threshold, places, np.arange(first + 1.0, first + 1 + len(places)))

    def _ids(self, places: Rows) -> list[str]:
        nodes = self.pool.nodes
        return [nodes[place].node_id for place in places.tolist()]

    def _stage(
        self,
        name: str,
        before: Places,
        after: Places,
        family: str | None,
        settings: Sequence[str],
        note: str = "",
    ) -> None:
        space = self.inquiry.spaces.get(family) if family else None
        self.record.stage(
            name, self._ids(before), self._ids(after), space=space, settings=settings, note=note
        )
