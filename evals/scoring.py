"""From a case and its Trace to one row of figures, and from rows to the summary's figures."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from core.answer.write import WRITER
from core.trace import Answer, Candidate, Trace
from evals import figures
from evals.cases import Case, Gold, evidence_key, fact_key
from evals.legend import RAGAS, ragas_name
from evals.metrics import answers, citation, grounding, retrieval
from evals.metrics.support import Supporter, support
from evals.report import Details
from evals.stats import Estimate

Row = dict[str, Any]
T = TypeVar("T")
RETRIEVAL: Mapping[str, Callable[[Sequence[str], Mapping[str, int]], float]] = {
    "ndcg@10": lambda ranking, judged: retrieval.ndcg(ranking, judged, 10),
    "recall@5": lambda ranking, judged: retrieval.recall(ranking, judged, 5),
    "recall@10": lambda ranking, judged: retrieval.recall(ranking, judged, 10),
    "recall_all@10": lambda ranking, judged: retrieval.recall_all(ranking, judged, 10),
    "precision@10": lambda ranking, judged: retrieval.precision(ranking, judged, 10),
    "mrr": retrieval.reciprocal_rank,
    "mrr@10": lambda ranking, judged: retrieval.reciprocal_rank(ranking, judged, 10),
    "map": retrieval.average_precision,
    "hit@1": lambda ranking, judged: retrieval.hit(ranking, judged, 1),
    "hit@10": lambda ranking, judged: retrieval.hit(ranking, judged, 10),
}
DEPTH = 100
"""How deep rankings are judged."""


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A case and what was made of it; what several metrics need is taken once."""

    case: Case
    trace: Trace
    supporter: Supporter = support

    @property
    def answer(self) -> Answer:
        return self.trace.answer

    @cached_property
    def ranking(self) -> list[str]:
        return ranking_keys(self.trace, self.case.gold)

    @cached_property
    def relevance(self) -> Mapping[str, int]:
        return {gold.key: gold.relevance for gold in self.case.gold}

    @cached_property
    def sentences(self) -> list[grounding.SentenceSupport]:
        return grounding.sentence_supports(self.answer, self.supporter)

    @cached_property
    def citation_precision(self) -> float:
        return citation.citation_precision(self.case, self.answer)

    @cached_property
    def citation_recall(self) -> float:
        return citation.citation_recall(self.case, self.answer)

    def by_model(self, metric: Callable[[str, Sequence[str]], float]) -> float:
        """The metric of the text against the gold answers, NaN unless a model wrote it or itself abstained (which says
        nothing), and where it is unknown what would be right."""
        case, answer = self.case, self.answer
        if answer.writer == WRITER or case.answerable is None or (case.answerable and not case.answers):
            return math.nan
        said = "" if answer.abstained else grounding.plain(answer.text)
        return metric(said, case.answers if case.answerable else ())

    def stale(self) -> float:
        """Whether the answer is outdated, whoever wrote it; NaN for an abstention."""
        case, answer = self.case, self.answer
        if answer.abstained:
            return math.nan
        return answers.stale(grounding.plain(answer.text), case.answers, case.stale_answers)


def _of_ranking(metric: Callable[[Sequence[str], Mapping[str, int]], float]) -> Callable[[Judged], float]:
    return lambda judged: metric(judged.ranking, judged.relevance)


PER_CASE: Mapping[str, Callable[[Judged], float]] = {
    **{name: _of_ranking(metric) for name, metric in RETRIEVAL.items()},
    "citation_precision": lambda judged: judged.citation_precision,
    "citation_recall": lambda judged: judged.citation_recall,
    "citation_f1": lambda judged: citation.citation_f1(judged.citation_precision, judged.citation_recall),
    "exact_match": lambda judged: judged.by_model(answers.exact_match),
    "token_f1": lambda judged: judged.by_model(answers.token_f1),
    "rouge_l": lambda judged: judged.by_model(answers.rouge_l),
    "contains_gold": lambda judged: judged.by_model(answers.contains_gold),
    "stale": Judged.stale,
    "support": lambda judged: grounding.mean_support(judged.sentences),
    "unsupported_sentence_rate": lambda judged: grounding.unsupported_sentence_rate(judged.sentences),
    "invalid_citation_rate": lambda judged: grounding.invalid_citation_rate(judged.answer),
}
"""What is measured of each case by itself."""


def ranking_keys(trace: Trace, gold: Sequence[Gold]) -> list[str]:
    """Distinct evidence keys of the ranking before any floor, best first, ``DEPTH`` deep.

    A candidate has the key that was judged: of a fact what it says where that was, its turn's where that turn was, else
    its source's where that was. What was not judged counts as a fact or by turn if any gold is one, else by source.
    """
    key_of = keys_judged(gold)
    candidates = {candidate.candidate_id: candidate for candidate in trace.candidates}
    keys: dict[str, None] = {}
    for candidate_id in trace.ranking:
        key = key_of(candidates[candidate_id])
        if key:
            keys[key] = None
        if len(keys) == DEPTH:
            break
    return list(keys)


def keys_judged(gold: Sequence[Gold]) -> Callable[[Candidate], str]:
    """The identity a candidate is judged by, see ``ranking_keys``; empty for what has none."""
    judged = {one.key for one in gold}
    by_turn = any(one.turn is not None for one in gold)
    by_fact = any(one.fact is not None for one in gold)

    def key_of(candidate: Candidate) -> str:
        if by_fact and candidate.fact is not None:
            fact = candidate.fact
            return fact_key(fact.source, fact.relation, fact.target)
        if candidate.turn is None or not candidate.source:
            return candidate.source
        narrow = evidence_key(candidate.source, candidate.turn)
        if narrow in judged:
            return narrow
        return narrow if by_turn and candidate.source not in judged else candidate.source

    return key_of


def scored(case: Case, dataset: str, trace: Trace, *, supporter: Supporter = support) -> Row:
    """One case's figures, unrounded; None where there is nothing to judge. ``supporter`` judges a model's sentences.

    A metric that breaks on the case is None too, and ``metric_errors`` says what happened: no zero, and the others stand.
    """
    judged, errors = Judged(case=case, trace=trace, supporter=supporter), dict[str, str]()
    answer = trace.answer
    measured = {name: _measured(name, metric, judged, errors) for name, metric in PER_CASE.items()}
    return {
        "case_id": case.case_id,
        "dataset": dataset,
        "split": case.split,
        "tags": dict(case.tags),
        "cluster": f"{dataset}\x1f{cluster(case)}",
        "answerable": case.answerable,
        "why_unanswerable": case.why_unanswerable,
        "gold_answers": list(case.answers),
        "abstained": answer.abstained,
        "reason": answer.reason,
        "writer": answer.writer,
        "confidence": answer.confidence,
        "confidence_space": answer.confidence_space,
        "correct": _told("correct", lambda: citation.correct(case, answer), errors),
        "would_be_right": _told("would_be_right", lambda: citation.would_be_right(case, answer), errors),
        **measured,
        "metric_errors": errors,
        "ranking": _told("ranking", lambda: judged.ranking, errors) or [],
        "citations": [item.candidate_id for item in answer.evidence],
        "trace_id": trace.trace_id,
    }


def _measured(
    name: str, metric: Callable[[Judged], float], judged: Judged, errors: dict[str, str]
) -> float | None:
    try:
        value = metric(judged)
    except Exception as error:  # noqa: BLE001 (a metric that breaks never takes the case's other figures down)
        errors[name] = _said(error)
        return None
    if math.isfinite(value):
        return value
    if math.isinf(value):
        errors[name] = f"the figure is {value}"
    return None


def _told(name: str, ask: Callable[[], T], errors: dict[str, str]) -> T | None:
    try:
        return ask()
    except Exception as error:  # noqa: BLE001 (as above)
        errors[name] = _said(error)
        return None


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


def summarised(rows: Sequence[Row], *, seed: int) -> dict[str, Estimate]:
    """Every figure of a run with its interval, clustered by source document, what a system may be ranked by first."""
    by_model = figures.of_model(rows, seed=seed)
    others = [name for name in PER_CASE if name not in by_model]
    others += [name for name in map(ragas_name, RAGAS) if any(name in row for row in rows)]
    return {
        **figures.decisions(rows, seed=seed),
        **figures.of_confidence(rows, seed=seed),
        **{name: figures.mean_of(rows, name, seed=seed) for name in others},
        **by_model,
    }


def detailed(rows: Sequence[Row], *, seed: int) -> Details:
    """What stands beside the figures of a summary."""
    broken: dict[str, list[Mapping[str, str]]] = {}
    for row in rows:
        for name, message in row.get("metric_errors", {}).items():
            where = {"case_id": row["case_id"], "dataset": row["dataset"], "message": message}
            broken.setdefault(name, []).append(where)
    return Details(
        extremes=figures.extremes(rows), by_kind=figures.by_kind(rows, seed=seed), metric_errors=broken
    )


def cluster(case: Case) -> str:
    """The document a question is about: its first gold source, else what would be hidden, else itself."""
    sources = [*(gold.document for gold in case.gold), *case.hides, case.case_id]
    return sources[0]
