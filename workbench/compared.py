"""Two Traces of one question: what was set otherwise, and what became of each candidate under either."""

from __future__ import annotations

import pandas as pd

from core.show import frames
from core.show.plain import number, shortened
from core.trace import Candidate, Trace


def settings(first: Trace, second: Trace) -> pd.DataFrame:
    """The thresholds and methods that differ: ``threshold, A, B``; empty where none does."""
    names = [name for name in first.values if first.values[name] != second.values.get(name)]
    rows = [(name, number(first.values[name]), number(second.values.get(name))) for name in names]
    return pd.DataFrame(rows, columns=["threshold", "A", "B"])


def fates(first: Trace, second: Trace) -> pd.DataFrame:
    """The candidates that fared otherwise, best rank first: ``A, B, rank A, rank B, source, text, candidate_id``.

    Those that were not cited by either and only moved in rank are left out.
    """
    sides = [_fates(trace) for trace in (first, second)]
    ranks = [{key: rank for rank, key in enumerate(trace.ranking, start=1)} for trace in (first, second)]
    known = {item.candidate_id: item for trace in (second, first) for item in trace.candidates}
    rows = []
    for key, item in known.items():
        a, b = sides[0].get(key, "not found"), sides[1].get(key, "not found")
        if a == b or "[" not in a + b:
            continue
        rows.append(
            (a, b, ranks[0].get(key), ranks[1].get(key), item.source, shortened(item.text, frames.TEXT), key)
        )
    columns = ["A", "B", "rank A", "rank B", "source", "text", "candidate_id"]
    table = pd.DataFrame(rows, columns=columns).astype({"rank A": "Int64", "rank B": "Int64"})
    best = table[["rank A", "rank B"]].min(axis="columns")
    return table.assign(best=best).sort_values(["best", "candidate_id"], kind="stable").drop(columns="best")


def summary(first: Trace, second: Trace) -> str:
    """The difference in one sentence of plain words; names of profiles stand in quotes."""
    a, b = f"A ({first.profile})", f"B ({second.profile})"
    if first.answer.abstained != second.answer.abstained:
        answers, abstains = (b, a) if first.answer.abstained else (a, b)
        return f"{answers} answers where {abstains} abstains."
    if first.answer.abstained:
        return "Both abstain."
    mine, theirs = ({item.candidate_id for item in trace.answer.evidence} for trace in (first, second))
    if mine == theirs:
        order = [[i.candidate_id for i in t.answer.evidence] for t in (first, second)]
        return "Both cite the same evidence" + (
            ", in the same order." if order[0] == order[1] else ", in another order."
        )
    return (
        f"Both answer. They share {len(mine & theirs)} of {len(mine | theirs)} pieces of evidence; "
        f"{len(mine - theirs)} only in {a}, {len(theirs - mine)} only in {b}."
    )


def _fates(trace: Trace) -> dict[str, str]:
    numbers = frames.cited_numbers(trace)
    return {item.candidate_id: _fate(item, numbers.get(item.candidate_id)) for item in trace.candidates}


def _fate(item: Candidate, cited: int | None) -> str:
    if cited is not None:
        return f"cited [{cited}]"
    return f"fell by {item.dropped.threshold}" if item.dropped else "not selected"
