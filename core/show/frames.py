"""A Trace as tables: what the charts draw and what their CSV downloads hold. Pure functions, nothing recomputed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pandas as pd

from core.show.plain import cell, shortened
from core.thresholds import Threshold, for_recipe
from core.trace import Candidate, Trace

TEXT = 200
"""Characters of a candidate's text in a table; the whole text is one click away."""
SLOPE_RANKS = 15
"""Ranks on either side of the reranker that are drawn, beside everything cited."""


def cited_numbers(trace: Trace) -> dict[str, int]:
    """Candidate id → the number its citation carries on the page, from 1. Empty for an abstention."""
    return {item.candidate_id: place for place, item in enumerate(trace.answer.evidence, start=1)}


def funnel(trace: Trace) -> pd.DataFrame:
    """One row a stage: ``stage``, ``reached`` (left standing after it), ``fell``, ``by`` (thresholds with counts)."""
    columns = ["stage", "reached", "fell", "by", "note"]
    known = {candidate.candidate_id: candidate for candidate in trace.candidates}
    rows = []
    for stage in trace.stages:
        fell = Counter(
            candidate.dropped.threshold
            for candidate in trace.candidates
            if candidate.dropped and candidate.dropped.stage == stage.name
        )
        reached = sum(not _fell_at(known.get(key), stage.name) for key in stage.after)
        by = ", ".join(f"{name} {count}" for name, count in fell.most_common())
        rows.append((stage.name, reached, sum(fell.values()), by, stage.note))
    return pd.DataFrame(rows, columns=columns)


def slopes(trace: Trace) -> pd.DataFrame:
    """Ranks before and after the reranker: the first ``SLOPE_RANKS`` of each side and everything cited.

    Columns ``candidate_id, cited, before, after, fused, reranked, text``; empty when nothing was reranked.
    """
    columns = ["candidate_id", "cited", "before", "after", "fused", "reranked", "text"]
    stage = trace.stage("rerank")
    space = trace.spaces.get("rerank")
    if stage is None or space is None or not stage.before:
        return pd.DataFrame(columns=columns)
    before = {key: rank for rank, key in enumerate(stage.before, start=1)}
    numbers = cited_numbers(trace)
    rows = []
    for after, key in enumerate(stage.after, start=1):
        candidate = trace.candidate(key)
        near = min(before[key], after) <= SLOPE_RANKS or key in numbers
        if space not in candidate.scores or not near:
            continue
        scores = candidate.scores.get("fused"), candidate.scores[space]
        rows.append((key, numbers.get(key), before[key], after, *scores, shortened(candidate.text, TEXT)))
    return pd.DataFrame(rows, columns=columns).astype({"cited": "Int64"})


def cuts(trace: Trace) -> pd.DataFrame:
    """Each candidate's score against each threshold that is compared with a score and can let something fall.

    Columns ``threshold, space, cut, candidate_id, score, outcome, text``; candidates without that score are left out.
    """
    columns = ["threshold", "space", "cut", "candidate_id", "score", "outcome", "text"]
    rows = []
    for knob in for_recipe(trace.recipe):
        if not isinstance(knob, Threshold) or knob.space is None or knob.name not in trace.values:
            continue
        space = trace.spaces.get(knob.space)
        for candidate in trace.candidates:
            if space is None or space not in candidate.scores:
                continue
            known = candidate.candidate_id, candidate.scores[space], outcome(trace, candidate, knob.name)
            text = shortened(candidate.text, TEXT)
            rows.append((knob.name, space, float(trace.values[knob.name]), *known, text))
    return pd.DataFrame(rows, columns=columns)


def outcome(trace: Trace, candidate: Candidate, threshold: str) -> str:
    """What became of a candidate, seen from one threshold: ``cited``, ``passed``, ``fell here``, ``fell elsewhere``."""
    if candidate.dropped:
        return "fell here" if candidate.dropped.threshold == threshold else "fell elsewhere"
    cited = any(item.candidate_id == candidate.candidate_id for item in trace.answer.evidence)
    return "cited" if cited else "passed"


def candidates(trace: Trace) -> pd.DataFrame:
    """Every candidate in ranking order (unranked ones last): where it is from, its scores by space, where it fell."""
    ranks = {key: rank for rank, key in enumerate(trace.ranking, start=1)}
    numbers = cited_numbers(trace)
    spaces = list(dict.fromkeys(space for candidate in trace.candidates for space in candidate.scores))
    ordered = sorted(
        trace.candidates, key=lambda c: (ranks.get(c.candidate_id, len(ranks) + 1), c.candidate_id)
    )
    rows = [
        {
            "rank": ranks.get(item.candidate_id),
            "cited": numbers.get(item.candidate_id),
            "kind": item.level or item.kind,
            "source": item.name or item.source,
            "turn": item.turn,
            "text": shortened(item.text, TEXT),
            **{space: item.scores.get(space) for space in spaces},
            **_fall(item),
            "candidate_id": item.candidate_id,
        }
        for item in ordered
    ]
    frame = pd.DataFrame(rows, columns=list(rows[0]) if rows else ["rank", "text", "candidate_id"])
    return frame.astype({name: "Int64" for name in ("rank", "cited") if name in frame})


def times(trace: Trace) -> pd.DataFrame:
    """Wall time by stage in milliseconds, in the order the stages ran."""
    return pd.DataFrame(list(trace.times_ms.items()), columns=["stage", "ms"])


def each(frame: pd.DataFrame) -> Iterator[Any]:
    """The rows as named tuples; what a column holds is known to whoever made the table."""
    yield from frame.itertuples()


def csv(frame: pd.DataFrame) -> bytes:
    """UTF-8 CSV; cells that a spreadsheet would take for a formula are marked as text."""
    safe = frame.map(lambda value: cell(value) if isinstance(value, str) else value)
    return safe.to_csv(index=False).encode("utf-8")


def _fell_at(candidate: Candidate | None, stage: str) -> bool:
    return candidate is not None and candidate.dropped is not None and candidate.dropped.stage == stage


def _fall(item: Candidate) -> dict[str, object]:
    drop = item.dropped
    return {
        "fell at": drop.stage if drop else None,
        "threshold": drop.threshold if drop else None,
        "value": drop.value if drop else None,
        "cut": drop.cut if drop else None,
        "margin": drop.margin if drop else None,
    }
