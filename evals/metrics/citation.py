"""Does what was cited hold gold evidence, at the finest level that is labelled?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain

from core.trace import Answer, Evidence
from evals.cases import Case, Gold


def cites(evidence: Evidence, gold: Gold) -> bool:
    """Same source, same turn where the gold names one, and where it names a stretch, the cited sentence and that
    stretch share at least half of the shorter one's characters. A fact has no stretch: it counts by the artifact it was
    inferred from. A gold fact is cited by the fact that says it."""
    if gold.fact is not None:
        fact = evidence.fact
        return fact is not None and (fact.source, fact.relation, fact.target) == gold.fact
    if evidence.source != gold.source or (gold.turn is not None and evidence.turn != gold.turn):
        return False
    if evidence.kind == "fact":
        return True
    span = _span(evidence, gold)
    if span is None:
        return gold.start is None and gold.quote is None
    shared = min(evidence.end, span[1]) - max(evidence.start, span[0])
    return shared > 0 and 2 * shared >= min(evidence.end - evidence.start, span[1] - span[0])


def _span(evidence: Evidence, gold: Gold) -> tuple[int, int] | None:
    """Where the gold words stand in the evidence's text. By the words where they are given, since a chunk's offsets are
    not its artifact's; None where they are not in it, or nothing narrower than the text is gold."""
    if gold.quote is not None:
        near = (
            gold.start
            if gold.start is not None and evidence.text.startswith(gold.quote, gold.start)
            else None
        )
        start = near if near is not None else evidence.text.find(gold.quote)
        return (start, start + len(gold.quote)) if start >= 0 else None
    return None if gold.start is None or gold.end is None else (gold.start, gold.end)


def finest(case: Case) -> tuple[Gold, ...]:
    """The gold evidence at its finest level: sentences where they are labelled, else turns or sources."""
    return case.citations or tuple(gold for gold in case.gold if gold.relevance > 0)


def supported(case: Case, evidence: Sequence[Evidence]) -> bool:
    """Whether any of the evidence is gold."""
    golds = finest(case)
    return any(cites(item, gold) for item in evidence for gold in golds)


def judgeable(case: Case) -> bool:
    """Whether right and wrong can be told: it is known whether the case can be answered, and if so, on what evidence."""
    return case.answerable is not None and (not case.answerable or bool(finest(case)))


def correct(case: Case, answer: Answer) -> bool | None:
    """Answerable: answered, citing at least one gold evidence. Unanswerable: abstained. None where it cannot be told."""
    if not judgeable(case):
        return None
    if not case.answerable:
        return answer.abstained
    return not answer.abstained and supported(case, answer.evidence)


def would_be_right(case: Case, answer: Answer) -> bool | None:
    """Whether answering is right, had nothing been held back: for the risk-coverage curve, which sets its own cut.

    Judged on what was cited, or would have been without a floor; an unanswerable case is never right when answered.
    None where it cannot be told.
    """
    if not judgeable(case):
        return None
    considered = answer.closest if answer.abstained else answer.evidence
    return bool(case.answerable) and supported(case, considered)


def citation_precision(case: Case, answer: Answer) -> float:
    """Share of the cited evidence that is gold, in [0, 1]; NaN where there is no answer, no gold evidence, or none that
    could answer (an unanswerable case's gold is what retrieval is judged on and supports no answer). Entities that a
    graph's answer lists are names and no evidence, they do not count.

    Source: Gao et al., Enabling LLMs to Generate Text with Citations (ALCE), EMNLP 2023, sec. 3, with gold evidence in
    place of an entailment model.
    """
    gold = finest(case)
    cited = [item for item in answer.evidence if item.kind != "entity"]
    if answer.abstained or case.answerable is False or not gold or not cited:
        return math.nan
    return sum(any(cites(item, one) for one in gold) for item in cited) / len(cited)


def citation_recall(case: Case, answer: Answer) -> float:
    """Share of the gold evidence that is cited, in [0, 1]; where several sets of it each suffice, of the one that is
    cited best. NaN as citation precision, whose source it has."""
    sets = case.evidence_sets() or (finest(case),)
    if answer.abstained or case.answerable is False or not sets[0]:
        return math.nan
    cited = {gold: any(cites(item, gold) for item in answer.evidence) for gold in dict.fromkeys(chain(*sets))}
    return max(sum(cited[gold] for gold in golds) / len(golds) for golds in sets)


def citation_f1(precision: float, recall: float) -> float:
    """Harmonic mean of citation precision and recall, 0 where both are 0; NaN where either is.

    Source: van Rijsbergen, Information Retrieval, 1979, ch. 7, of ALCE's two.
    """
    return 2 * precision * recall / (precision + recall) if precision + recall != 0 else 0.0
