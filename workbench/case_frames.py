"""The labelled questions as a table: what became of each in a run, and what labellers said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from core.show.plain import shortened
from core.store.labels import VERDICTS, Label
from core.text import normalize
from evals.agreement import Agreement
from evals.cases import Case
from evals.show.run_frames import OUTCOMES

TEXT = 240
NOT_ASKED = "not in the run"
COLUMNS = ["outcome", "question", "labels", "answerable", "why", "split", "tags", "evidence", "case_id"]


def cases(
    known: Sequence[Case], labels: Sequence[Label], outcomes: Mapping[str, str] | None = None
) -> pd.DataFrame:
    """One row a case. With ``outcomes`` (case id → what became of it) failing kinds stand first; else stored order."""
    said: dict[str, list[str]] = {}
    for label in labels:
        said.setdefault(label.case_id, []).append(f"{label.labeller}: {label.verdict}")
    rows = [
        (
            (outcomes or {}).get(case.case_id, NOT_ASKED if outcomes is not None else ""),
            shortened(case.question, TEXT),
            "; ".join(said.get(case.case_id, ())),
            {True: "yes", False: "no", None: "unknown"}[case.answerable],
            shortened(case.why_unanswerable or "", TEXT),
            case.split or "",
            shortened(", ".join(f"{name}={value}" for name, value in case.tags.items()), TEXT),
            len(case.gold) or len(case.citations),
            case.case_id,
        )
        for case in known
    ]
    frame = pd.DataFrame(rows, columns=COLUMNS)
    if outcomes is None:
        return frame.drop(columns="outcome")
    order = {name: place for place, name in enumerate((*OUTCOMES, NOT_ASKED))}
    return frame.sort_values("outcome", key=lambda names: names.map(order), kind="stable").reset_index(
        drop=True
    )


def fitting(known: Sequence[Case], *, search: str, split: str, kind: str, tag: str) -> list[Case]:
    """The cases that fit: every word of ``search`` in question, answers, id or evidence; empty lets all pass."""
    words = normalize(search).split()
    return [
        case
        for case in known
        if (not split or case.split == split)
        and (not kind or kind_of(case) == kind)
        and (not tag or tag in tags_of(case))
        and all(word in _searched(case) for word in words)
    ]


def kind_of(case: Case) -> str:
    """``answerable``, ``unanswerable`` or ``unknown``."""
    return {True: "answerable", False: "unanswerable", None: "unknown"}[case.answerable]


def tags_of(case: Case) -> list[str]:
    """``name=value`` of each tag."""
    return [f"{name}={value}" for name, value in case.tags.items()]


def agreements(pairs: Sequence[Agreement]) -> pd.DataFrame:
    """One row a pair of labellers: ``first, second, cases, alike, by chance, kappa``."""
    rows = [(pair.first, pair.second, pair.n, pair.observed, pair.expected, pair.kappa) for pair in pairs]
    return pd.DataFrame(rows, columns=["first", "second", "cases", "alike", "by chance", "kappa"])


def verdicts(pair: Agreement) -> pd.DataFrame:
    """A square table of counts, the first's verdicts down, the second's across."""
    counts = [[pair.table.get((row, column), 0) for column in VERDICTS] for row in VERDICTS]
    return pd.DataFrame(counts, index=list(VERDICTS), columns=list(VERDICTS))


def _searched(case: Case) -> str:
    parts = (case.question, *case.answers, case.case_id, *(gold.key for gold in case.gold))
    return normalize(" ".join(part[:4000] for part in parts))
