"""What a labelled set is made of: counts, splits, kinds of unanswerable, tags."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from core.render import printable
from evals.cases import Case
from evals.contents import Contents
from evals.validate import by_split

SHOWN = 20
"""Distinct values that are listed; of more, their number is said."""
UNTOLD = "(not told)"


def overview(dataset: Contents) -> dict[str, Any]:
    """For programs. ``splits`` counts by answerability, ``unanswerable`` by why, ``tags`` by value."""
    unanswerable = [case for case in dataset.cases if case.answerable is False]
    return {
        "dataset": dataset.name,
        "counts": dict(dataset.counts),
        "splits": {
            split or "": {"cases": len(cases), **_labels(cases)}
            for split, cases in by_split(dataset.cases).items()
        },
        "unanswerable": dict(Counter(map(_why, unanswerable)).most_common()),
        "can_be_hidden": sum(bool(case.hides) for case in unanswerable),
        "evidence": {
            "without_gold": sum(not case.gold and case.answerable is True for case in dataset.cases),
            "with_citations": sum(bool(case.citations) for case in dataset.cases),
            "with_alternatives": sum(len(case.alternatives) > 1 for case in dataset.cases),
            "with_time": sum(bool(case.as_of or case.known_at) for case in dataset.cases),
            "with_stale_answers": sum(bool(case.stale_answers) for case in dataset.cases),
        },
        "tags": _tags(dataset.cases),
        "broken": len(dataset.broken),
    }


def to_text(body: Mapping[str, Any]) -> str:
    """For people."""
    counts = ", ".join(f"{count} {kind}" for kind, count in body["counts"].items() if count)
    lines = [printable(str(body["dataset"])), f"  holds {counts or 'nothing'}"]
    for split, row in body["splits"].items():
        lines.append(
            f"  split {printable(split) or '(none)'}: {row['cases']} cases, {_listed(row, skip='cases')}"
        )
    if body["unanswerable"]:
        lines.append(f"  unanswerable because: {_values(body['unanswerable'])}")
        lines.append(f"  of these, {body['can_be_hidden']} name what to hide (--variant absent)")
    evidence = _listed(body["evidence"])
    if evidence:
        lines.append(f"  evidence: {evidence}")
    lines += [f"  tag {printable(name)}: {_values(values)}" for name, values in body["tags"].items()]
    if body["broken"]:
        lines.append(f"  {body['broken']} labelled questions are no case; `assay datasets validate` says why")
    return "\n".join(lines)


def _labels(cases: Sequence[Case]) -> dict[str, int]:
    names = {True: "answerable", False: "unanswerable", None: "unknown"}
    return dict(Counter(names[case.answerable] for case in cases))


def _why(case: Case) -> str:
    """The tag ``kind`` where there is one, as in a run's report, else what the case says."""
    return case.tags.get("kind") or case.why_unanswerable or UNTOLD


def _tags(cases: Sequence[Case]) -> dict[str, dict[str, int]]:
    names = dict.fromkeys(name for case in cases for name in case.tags)
    return {
        name: dict(Counter(case.tags[name] for case in cases if name in case.tags).most_common())
        for name in names
    }


def _listed(row: Mapping[str, int], skip: str = "") -> str:
    return ", ".join(
        f"{count} {name.replace('_', ' ')}" for name, count in row.items() if count and name != skip
    )


def _values(values: Mapping[str, int]) -> str:
    if len(values) > SHOWN:
        return f"{len(values)} different ones"
    return ", ".join(f"{printable(value)} ({count})" for value, count in values.items())
