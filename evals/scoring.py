"""From a case and its Trace to one row of figures, and from rows to the summary's figures."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from core.trace import Candidate, Trace
from evals.cases import Case, Gold, evidence_key
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


def ranking_keys(trace: Trace, gold: Sequence[Gold]) -> list[str]:
    """Distinct evidence keys of the ranking before any floor, best first, ``DEPTH`` deep.

    A candidate has the key that was judged: its turn's where that turn was, else its source's where that was. What was
    not judged counts by turn if any gold is a turn, else by source.
    """
    judged = {one.key for one in gold}
    by_turn = any(one.turn is not None for one in gold)
    candidates = {candidate.candidate_id: candidate for candidate in trace.candidates}
    ranked = (candidates[candidate_id] for candidate_id in trace.ranking)
    keys = (_key(candidate, judged, by_turn=by_turn) for candidate in ranked if candidate.source)
    return list(dict.fromkeys(keys))[:DEPTH]


def _key(candidate: Candidate, judged: Collection[str], *, by_turn: bool) -> str:
    narrow = evidence_key(candidate.source, candidate.turn)
    if narrow in judged:
        return narrow
    return narrow if by_turn and candidate.source not in judged else candidate.source


def scored(case: Case, dataset: str, trace: Trace) -> Row:
    """One case's figures, unrounded; None where there is nothing to judge."""
    judged = {gold.key: gold.relevance for gold in case.gold}
    ranking = ranking_keys(trace, case.gold)
    answer = trace.answer
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
        "would_be_right": citation.would_be_right(case, answer),
        **{name: None if math.isnan(value) else value for name, value in figures.items()},
        "ranking": ranking[:10],
        "citations": [item.candidate_id for item in answer.evidence],
        "trace_id": trace.trace_id,
    }


def summarised(rows: Sequence[Row], *, seed: int) -> dict[str, Estimate]:
    """Every figure of a run with its interval, clustered by source document."""
    clusters = [row["cluster"] for row in rows]
    figures = {name: mean(_numbers(rows, name), clusters, seed=seed) for name in PER_CASE}
    figures["correct"] = mean(_numbers(rows, "correct"), clusters, seed=seed)
    figures["coverage"] = _share_answered(rows, seed=seed)
    answered = [row for row in rows if not row["abstained"]]
    wrong = [1 - right for right in _numbers(answered, "correct")]
    figures["selective_risk"] = mean(wrong, [row["cluster"] for row in answered], seed=seed)
    for name, answerable in (("answered_answerable", True), ("answered_unanswerable", False)):
        figures[name] = _share_answered([row for row in rows if row["answerable"] is answerable], seed=seed)
    return figures | {"auroc": _auroc(rows, seed=seed), "aurc": _aurc(rows, seed=seed)}


def _share_answered(rows: Sequence[Row], *, seed: int) -> Estimate:
    answered = [float(not row["abstained"]) for row in rows]
    return mean(answered, [row["cluster"] for row in rows], seed=seed)


def _auroc(rows: Sequence[Row], *, seed: int) -> Estimate:
    known = [row for row in rows if row["answerable"] is not None]
    confidence = abstention.ordered_confidence([row["confidence"] for row in known])
    answerable = np.array([row["answerable"] for row in known], dtype=bool)
    return estimate(
        lambda places: abstention.auroc(confidence[places], answerable[places]),
        [row["cluster"] for row in known],
        missing=len(rows) - len(known),
        seed=seed,
    )


def _aurc(rows: Sequence[Row], *, seed: int) -> Estimate:
    known = [row for row in rows if row["would_be_right"] is not None]
    confidence = abstention.ordered_confidence([row["confidence"] for row in known])
    wrong = np.array([not row["would_be_right"] for row in known], dtype=bool)
    return estimate(
        lambda places: abstention.aurc(confidence[places], wrong[places]),
        [row["cluster"] for row in known],
        missing=len(rows) - len(known),
        seed=seed,
    )


def _numbers(rows: Sequence[Row], name: str) -> list[float]:
    return [math.nan if row[name] is None else float(row[name]) for row in rows]


def _cluster(case: Case) -> str:
    """The document a question is about: its first gold source, else what would be hidden, else itself."""
    sources = [*(gold.source for gold in case.gold), *case.hides, case.case_id]
    return sources[0]
