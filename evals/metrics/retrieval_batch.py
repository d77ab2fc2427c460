"""Retrieval metrics of many questions at once: ``retrieval``'s figures, as columns.

Each ranking becomes a row of the gains of its keys, and every metric one pass over the matrix.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from evals.metrics.abstention import Floats
from evals.metrics.retrieval import Judgements

ROWS = 4096
"""Questions of one matrix: a few megabytes at a depth of 100."""
_NAME = re.compile(r"(ndcg|recall|recall_all|precision|mrr|map|hit)(?:@([1-9]\d*))?")
_WHOLE = ("mrr", "map")
"""What can be taken over the whole ranking; the others need a depth, and MAP has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    """Gains of some questions: in ranked order (n, depth), of all judgements best first (n, most judged)."""

    gains: Floats
    ideal: Floats
    relevant: Floats  # (n,) how many keys are relevant

    @property
    def found(self) -> Floats:
        return (self.gains > 0).astype(np.float64)


def measured(
    rankings: Sequence[Sequence[str]], judgements: Sequence[Judgements], names: Sequence[str]
) -> dict[str, Floats]:
    """For each name, (n,) figures in the order of ``rankings``; NaN where nothing relevant was judged.

    Names are ``ndcg@k``, ``recall@k``, ``recall_all@k``, ``precision@k``, ``hit@k``, ``mrr``, ``mrr@k`` and ``map``.

    Raises:
        ValueError: an unknown name, or not one set of judgements a ranking.
    """
    parsed = {name: _parsed(name) for name in names}
    if len(rankings) != len(judgements):
        raise ValueError(
            f"{len(rankings)} rankings and {len(judgements)} sets of judgements; give one for each"
        )
    columns: dict[str, list[Floats]] = {name: [np.empty(0)] for name in names}
    for block in _blocks(rankings, judgements):
        for name, (metric, k) in parsed.items():
            with np.errstate(invalid="ignore", divide="ignore"):  # 0/0 is NaN: nothing relevant was judged
                columns[name].append(np.where(block.relevant > 0, _figure(block, metric, k), np.nan))
    return {name: np.concatenate(parts) for name, parts in columns.items()}


def _parsed(name: str) -> tuple[str, int | None]:
    match = _NAME.fullmatch(name)
    depth = int(match[2]) if match and match[2] else None
    if match is None or (depth is None and match[1] not in _WHOLE) or (depth and match[1] == "map"):
        raise ValueError(
            f"no retrieval metric {name!r}; there are ndcg@k, recall@k, recall_all@k, precision@k, hit@k, mrr, mrr@k, map"
        )
    return match[1], depth


def _blocks(rankings: Sequence[Sequence[str]], judgements: Sequence[Judgements]) -> Iterator[_Block]:
    for start in range(0, len(rankings), ROWS):
        judged = judgements[start : start + ROWS]
        ranked = [
            [of.get(key, 0) for key in ranking]
            for ranking, of in zip(rankings[start : start + ROWS], judged, strict=True)
        ]
        ideal = [sorted((gain for gain in of.values() if gain > 0), reverse=True) for of in judged]
        yield _Block(
            gains=_filled(ranked), ideal=_filled(ideal), relevant=np.array([len(row) for row in ideal], float)
        )


def _filled(rows: Sequence[Sequence[int]]) -> Floats:
    """(n, longest) the rows, then zeros; what was judged worse than not relevant gains nothing."""
    lengths = np.array([len(row) for row in rows])
    table = np.zeros((len(rows), max(1, lengths.max(initial=0))))
    inside = np.arange(table.shape[1]) < lengths[:, None]
    table[inside] = np.fromiter((gain for row in rows for gain in row), np.float64, int(lengths.sum()))
    return np.maximum(table, 0, out=table)


def _figure(block: _Block, metric: str, k: int | None) -> Floats:
    hits = block.found[:, :k]
    count: Floats = np.sum(hits, axis=1, dtype=np.float64)
    ranks = np.arange(1, hits.shape[1] + 1)
    match metric:
        case "ndcg":
            return _dcg(block.gains[:, :k]) / _dcg(block.ideal[:, :k])
        case "recall":
            return count / block.relevant
        case "recall_all":
            return np.equal(count, block.relevant).astype(np.float64)
        case "precision":
            return count / (k or 1)
        case "hit":
            return (count > 0).astype(np.float64)
        case "mrr":
            return np.asarray(np.where(count > 0, 1 / (hits.argmax(axis=1) + 1), 0.0), dtype=np.float64)
    precise = (hits * np.cumsum(hits, axis=1) / ranks).sum(axis=1)
    return np.asarray(precise / block.relevant, dtype=np.float64)


def _dcg(gains: Floats) -> Floats:
    return np.asarray(gains @ (1 / np.log2(np.arange(2, gains.shape[1] + 2))), dtype=np.float64)
