"""Labels as a labelled set: what people said of answers becomes cases that `assay eval` takes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.store.labels import JudgedCitation, Label
from evals.cases import Case, Gold

WHY = "labelled: should have abstained"
"""``why_unanswerable`` of a case whose answer should have been an abstention."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """``cases`` as labelled; ``disputed`` are cases whose labellers differ with no majority, which are left out."""

    cases: Sequence[Case]
    disputed: Sequence[str]


def labelled_cases(cases: Sequence[Case], labels: Sequence[Label]) -> Labelled:
    """The labelled cases in the order of ``cases``, then those of labels whose case is not stored, by id.

    The verdict of most labellers counts; a tie is disputed. ``labels``: at most one of a labeller and a case.
    """
    by_case: dict[str, list[Label]] = {}
    for label in labels:
        by_case.setdefault(label.case_id, []).append(label)
    known = {case.case_id: case for case in cases}
    order = [*(key for key in known if key in by_case), *sorted(by_case.keys() - known.keys())]
    made, disputed = [], []
    for case_id in order:
        given = by_case[case_id]
        verdict = _majority([label.verdict for label in given])
        if verdict is None:
            disputed.append(case_id)
            continue
        start = known.get(case_id) or Case(case_id=case_id, question=given[0].question, answerable=None)
        made.append(_judged(start, verdict, given))
    return Labelled(cases=made, disputed=disputed)


def native_lines(cases: Sequence[Case]) -> Iterator[str]:
    """One ``case`` line of the native format each, as `assay ingest` reads it."""
    for case in cases:
        body: Mapping[str, Any] = {"kind": "case", **case.to_body()}
        yield json.dumps(body, ensure_ascii=False, sort_keys=True, allow_nan=False) + "\n"


def _judged(case: Case, verdict: str, labels: Sequence[Label]) -> Case:
    """The case as the labels have it: an answer that should have been an abstention has no evidence; else what was said
    to support it is evidence to cite, beside what already was, and what was said not to is none."""
    names = ", ".join(sorted(label.labeller for label in labels))
    tags = {**case.tags, "label": verdict, "labelled_by": names}
    if verdict == "should-abstain":
        return replace(
            case,
            answerable=False,
            answers=(),
            gold=(),
            citations=(),
            alternatives=(),
            why_unanswerable=case.why_unanswerable or WHY,
            tags=tags,
        )
    supporting, refuted = _evidence(labels)
    answers = [label.answer for label in labels if verdict == label.verdict == "correct" and label.answer]
    return replace(
        case,
        answerable=True
        if verdict in ("correct", "partly") and (case.gold or supporting)
        else case.answerable,
        answers=tuple(dict.fromkeys((*case.answers, *(answers if not case.answers else ())))),
        gold=_with(case.gold, supporting, refuted),
        citations=case.citations
        if case.alternatives or not case.citations
        else _with(case.citations, supporting, refuted),
        tags=tags,
    )


def _evidence(labels: Sequence[Label]) -> tuple[list[Gold], set[str]]:
    """What most of those who judged a citation say supports, and the keys of what they say does not; ties are neither."""
    votes: dict[Gold, Counter[bool]] = {}
    for label in labels:
        for cited in label.citations:
            if cited.supports is not None:
                votes.setdefault(_gold(cited), Counter())[cited.supports] += 1
    supporting = [gold for gold, said in votes.items() if said[True] > said[False]]
    return supporting, {gold.key for gold, said in votes.items() if said[False] > said[True]} - {
        gold.key for gold in supporting
    }


def _with(gold: Sequence[Gold], supporting: Sequence[Gold], refuted: set[str]) -> tuple[Gold, ...]:
    kept = [one for one in gold if one.key not in refuted]
    there = {one.key for one in kept}
    return (*kept, *(one for one in supporting if one.key not in there))


def _gold(cited: JudgedCitation) -> Gold:
    return Gold(source=cited.source, turn=cited.turn)


def _majority(verdicts: Sequence[str]) -> str | None:
    ranked = Counter(verdicts).most_common()
    return ranked[0][0] if len(ranked) == 1 or ranked[0][1] > ranked[1][1] else None
