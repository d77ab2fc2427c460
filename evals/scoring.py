"""From a case and its Trace to one row of figures, and from rows to the summary's figures."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from core.trace import Trace
from evals.cases import Case, evidence_key
from evals.metrics import abstention, citation, retrieval
from evals.stats import Estimate, estimate, mean

Row = dict[str, Any]
RETRIEVAL: Mapping[str, Callable[[Sequence[str], Mapping[str, int]], float]] = {
    "ndcg@10": lambda ranking, judged: retrieval.ndcg(ranking, judged, 10),
    "recall@5": lambda ranking, judged: retrieval.recall(ranking, judged, 5),
    "recall@10": lambda ranking, judged: retrieval.recall(ranking, judged, 10),
    "precision@10": lambda ranking, judged: retrieval.precision(ranking, judged, 10),
    "mrr": retrieval.reciprocal_rank,
    "map": retrieval.average_precision,
    "hit@1": lambda ranking, judged: retrieval.hit(ranking, judged, 1),
}
PER_CASE = (*RETRIEVAL, "citation_precision", "citation_recall")
DEPTH = 100
"""How deep rankings are judged."""


def ranking_keys(trace: Trace, *, by_turn: bool) -> list[str]:
    """Distinct evidence keys of the ranking before any floor, best first, ``DEPTH`` deep."""
    candidates = {candidate.candidate_id: candidate for candidate in trace.candidates}
    keys = (
        evidence_key(candidate.source, candidate.turn if by_turn else None)
        for candidate in (candidates[candidate_id] for candidate_id in trace.ranking)
        if candidate.source
    )
    return list(dict.fromkeys(keys))[:DEPTH]


def scored(case: Case, dataset: str, trace: Trace) -> Row:
    """One case's figures, unrounded; None where there is nothing to judge."""
    judged = {gold.key: gold.relevance for gold in case.gold}
    ranking = ranking_keys(trace, by_turn=any(gold.turn is not None for gold in case.gold))
    answer = trace.answer
    considered = answer.closest if answer.abstained else answer.evidence
    would_be_right = (
        None if case.answerable is None else bool(case.answerable) and citation.supported(case, considered)
    )
    figures = {name: metric(ranking, judged) for name, metric in RETRIEVAL.items()}
    figures["citation_precision"] = citation.citation_precision(case, answer)
    figures["citation_recall"] = citation.citation_recall(case, answer)
    return {
        "case_id": case.case_id,
        "dataset": dataset,
        "split": case.split,
        "tags": dict(case.tags),
        "cluster": f"{dataset}\x1f{_cluster(case)}",
        "answerable": case.answerable,
        "why_unanswerable": case.why_unanswerable,
        "abstained": answer.abstained,
        "reason": answer.reason,
        "confidence": answer.confidence,
        "correct": citation.correct(case, answer),
        "would_be_right": would_be_right,
        **{name: None if math.isnan(value) else value for name, value in figures.items()},
        "ranking": ranking[:10],
        "citations": [item.candidate_id for item in answer.evidence],
        "trace_id": trace.trace_id,
    }


def summarised(rows: Sequence[Row], *, seed: int) -> dict[str, Estimate]:
    """Every figure of a run with its interval, clustered by source document."""
    clusters = [row["cluster"] for row in rows]
    figures = {name: mean(_numbers(rows, name), clusters, seed=seed) for name in PER_CASE}
    known = [row for row in rows if row["answerable"] is not None]
    figures["correct"] = mean(_numbers(known, "correct"), [row["cluster"] for row in known], seed=seed)
    for name, answerable in (("answered_answerable", True), ("answered_unanswerable", False)):
        of = [row for row in known if row["answerable"] is answerable]
        answered = [float(not row["abstained"]) for row in of]
        figures[name] = mean(answered, [row["cluster"] for row in of], seed=seed)
    return figures | _by_confidence(known, missing=len(rows) - len(known), seed=seed)


def _by_confidence(rows: Sequence[Row], *, missing: int, seed: int) -> dict[str, Estimate]:
    confidence = abstention.ordered_confidence([row["confidence"] for row in rows])
    answerable = np.array([bool(row["answerable"]) for row in rows], dtype=bool)
    wrong = np.array([not row["would_be_right"] for row in rows], dtype=bool)
    clusters = [row["cluster"] for row in rows]
    statistics = {
        "auroc": lambda places: abstention.auroc(confidence[places], answerable[places]),
        "aurc": lambda places: abstention.aurc(confidence[places], wrong[places]),
    }
    return {name: estimate(of, clusters, missing=missing, seed=seed) for name, of in statistics.items()}


def _numbers(rows: Sequence[Row], name: str) -> list[float]:
    return [math.nan if row[name] is None else float(row[name]) for row in rows]


def _cluster(case: Case) -> str:
    """The document a question is about: its first gold source, else what would be hidden, else itself."""
    sources = [*(gold.source for gold in case.gold), *case.hides, case.case_id]
    return sources[0]
