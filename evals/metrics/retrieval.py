"""Retrieval metrics of one question. A ranking is distinct keys, best first; judgements map keys to graded relevance.

Each is NaN where nothing relevant was judged: there is nothing to measure, which is not a zero. All follow trec_eval
as ir-measures runs it; only ties differ, which ``ranked`` breaks by (−score, key) where trec_eval takes the larger key
first. ``retrieval_batch`` has the same figures for many questions at once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

Judgements = Mapping[str, int]


def ranked(scores: Mapping[str, float]) -> list[str]:
    """Keys from the best score to the worst, equal scores by key.

    Raises:
        ValueError: a score is NaN, which has no place in an order.
    """
    for key, score in scores.items():
        if math.isnan(score):
            raise ValueError(f"the score of {key!r} is NaN; leave out what was not scored")
    return sorted(scores, key=lambda key: (-scores[key], key))


def ndcg(ranking: Sequence[str], judged: Judgements, k: int) -> float:
    """nDCG@k in [0, 1]: gain = relevance, discount log2(rank + 1), ideal over all judgements.

    Source: Järvelin & Kekäläinen, TOIS 2002, with the gain and discount of trec_eval's ndcg_cut.
    """
    ideal = sorted((gain for gain in judged.values() if gain > 0), reverse=True)[:k]
    if not ideal:
        return math.nan
    return _dcg([max(0, judged.get(key, 0)) for key in ranking[:k]]) / _dcg(ideal)


def recall(ranking: Sequence[str], judged: Judgements, k: int) -> float:
    """Share of the relevant keys among the first k, in [0, 1]. Source: trec_eval recall."""
    relevant = _relevant(judged)
    return len(relevant.intersection(ranking[:k])) / len(relevant) if relevant else math.nan


def recall_all(ranking: Sequence[str], judged: Judgements, k: int) -> float:
    """1 if every relevant key is among the first k, else 0: what a multi-hop question needs. ``hit`` asks for any.

    Source: "recall_all@k" of Wu et al., LongMemEval, ICLR 2025.
    """
    relevant = _relevant(judged)
    return float(relevant <= set(ranking[:k])) if relevant else math.nan


def precision(ranking: Sequence[str], judged: Judgements, k: int) -> float:
    """Share of the first k that is relevant; a shorter ranking counts as filled with what is not. Source: trec_eval P."""
    relevant = _relevant(judged)
    return len(relevant.intersection(ranking[:k])) / k if relevant else math.nan


def reciprocal_rank(ranking: Sequence[str], judged: Judgements, k: int | None = None) -> float:
    """1 / rank of the first relevant key, 0 if none is among the first k (None: all). Its mean is MRR, or MRR@k.

    Source: Voorhees, TREC-8 Question Answering Track, 1999; trec_eval recip_rank, with k MS MARCO's cut.
    """
    relevant = _relevant(judged)
    if not relevant:
        return math.nan
    return next((1 / rank for rank, key in enumerate(ranking[:k], start=1) if key in relevant), 0.0)


def average_precision(ranking: Sequence[str], judged: Judgements) -> float:
    """Mean over the relevant keys of the precision at their rank, 0 for one not found. Its mean is MAP.

    Source: trec_eval map.
    """
    relevant = _relevant(judged)
    if not relevant:
        return math.nan
    ranks = [rank for rank, key in enumerate(ranking, start=1) if key in relevant]
    return sum(found / rank for found, rank in enumerate(ranks, start=1)) / len(relevant)


def hit(ranking: Sequence[str], judged: Judgements, k: int) -> float:
    """1 if a relevant key is among the first k, else 0. Source: ir-measures Success@k."""
    relevant = _relevant(judged)
    return float(not relevant.isdisjoint(ranking[:k])) if relevant else math.nan


def _relevant(judged: Judgements) -> set[str]:
    return {key for key, gain in judged.items() if gain > 0}


def _dcg(gains: Sequence[int]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))
