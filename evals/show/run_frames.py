"""A run and a comparison of two as tables: what the charts draw and what their CSV downloads hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from evals.case_changes import CaseChange
from evals.compare import Change, Comparison
from evals.legend import ABOUT, PARTS
from evals.run_folder import Run

OUTCOMES = (
    "broke",
    "answered, should have abstained",
    "answered wrong",
    "abstained, should have answered",
    "not judged",
    "rightly abstained",
    "answered right",
)
"""What became of a case, failing kinds first."""
FAILING = OUTCOMES[:4]
_CHANGE = ["before", "after", "difference", "low", "high", "n", "wins", "losses"]


def figures(summary: Mapping[str, Any]) -> pd.DataFrame:
    """One row a figure with its 95 % interval: ``part, figure, value, low, high, n, missing, about``."""
    columns = ["part", "figure", "value", "low", "high", "n", "missing", "about"]
    rows, seen = [], set()
    for part, names in PARTS.items():
        for name in names:
            figure = summary.get(name)
            if name in seen or not isinstance(figure, dict) or figure.get("value") is None:
                continue
            seen.add(name)
            low, high = figure.get("interval") or (None, None)
            rows.append(
                (part, name, figure["value"], low, high, figure.get("n"), figure.get("missing"), ABOUT[name])
            )
    return pd.DataFrame(rows, columns=columns)


def outcome(row: Mapping[str, Any]) -> str:
    """What became of a scored case, in one of ``OUTCOMES``."""
    if row.get("correct") is None:
        return "not judged"
    if row["correct"]:
        return "rightly abstained" if row["abstained"] else "answered right"
    if row.get("answerable") is False:
        return "answered, should have abstained"
    return "abstained, should have answered" if row["abstained"] else "answered wrong"


def outcomes(run: Run) -> dict[tuple[str, str], str]:
    """(data set, case) → what became of it; of repeats the worst."""
    found = dict.fromkeys(run.failed, OUTCOMES[0])
    for row in run.rows:
        key, said = (str(row["dataset"]), str(row["case_id"])), outcome(row)
        if key not in found or OUTCOMES.index(said) < OUTCOMES.index(found[key]):
            found[key] = said
    return found


def counted(said: Iterable[str]) -> pd.DataFrame:
    """One row an outcome that occurs, failing kinds first: ``outcome, cases``."""
    counts = pd.Series(list(said), dtype="object").value_counts()
    rows = [(name, int(counts[name])) for name in OUTCOMES if name in counts]
    return pd.DataFrame(rows, columns=["outcome", "cases"])


def changes(comparison: Comparison) -> pd.DataFrame:
    """One row a figure of both runs: its difference with interval, p adjusted for all tests, and the finding."""
    rows = [
        {
            "figure": change.name,
            **_change(change),
            "p (Holm)": change.p_holm,
            "detectable": change.detectable,
            "finding": change.finding,
            "in words": change.sentence,
        }
        for change in comparison.changes
    ]
    columns = ["figure", *_CHANGE, "p (Holm)", "detectable", "finding", "in words"]
    return pd.DataFrame(rows, columns=columns)


def by_tag(found: Mapping[str, Change]) -> pd.DataFrame:
    """One row a tag's value: a figure's difference among its cases."""
    rows = [{"tag": tag, **_change(change)} for tag, change in found.items()]
    return pd.DataFrame(rows, columns=["tag", *_CHANGE])


def moved(found: Sequence[CaseChange], better: str | None) -> pd.DataFrame:
    """One row a case whose figure changed, losses first: ``case_id, dataset, before, after, gain, which``."""
    sign = -1 if better == "down" else 1
    rows = []
    for change in found:
        dataset, case_id, *_ = change.case
        gain = sign * (change.after - change.before)
        rows.append((case_id, dataset, change.before, change.after, gain, "win" if gain > 0 else "loss"))
    return pd.DataFrame(rows, columns=["case_id", "dataset", "before", "after", "gain", "which"])


def _change(change: Change) -> dict[str, Any]:
    low, high = change.interval or (None, None)
    values = (
        change.before,
        change.after,
        change.difference,
        low,
        high,
        change.n,
        change.wins,
        change.losses,
    )
    return dict(zip(_CHANGE, values, strict=True))
