"""How an answer that a model wrote rests on what it cites, sentence by sentence, without gold evidence."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.answer.write import WRITER
from core.text import sentences
from core.trace import Answer, Evidence
from evals.metrics.support import SUPPORTED, Supporter, support

_TAG = re.compile(r"\s*\[(?:mem|passage|fact|entity):[^\[\]]*\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceSupport:
    """A sentence of an answer without its tags, how many of its citations resolve, and its support in [0, 1]; NaN where
    it says nothing that could be looked for."""

    text: str
    citations: int
    support: float


def written_by_model(answer: Answer) -> bool:
    """Whether there is text of a model to judge: the deterministic answer only quotes, an abstention says nothing."""
    return not answer.abstained and answer.writer != WRITER


def sentence_supports(answer: Answer, supporter: Supporter = support) -> list[SentenceSupport]:
    """Each sentence against the evidence cited for it; against all evidence where the answer as a whole cites.
    ``[]`` for what no model wrote.

    Source: Gao et al., ALCE, EMNLP 2023, sec. 3 (a statement against the passages it cites; none cited: no support).
    """
    if not written_by_model(answer):
        return []
    by_id = {item.candidate_id: item for item in answer.evidence}
    cited: list[tuple[int, int, Sequence[Evidence]]]
    cited = [
        (one.start, one.end, [by_id[each] for each in one.citations if each in by_id])
        for one in answer.sentences
    ]
    if not answer.sentences:
        cited = [(start, end, answer.evidence) for start, end in sentences(answer.text)]
    found = []
    for start, end, evidence in cited:
        text = plain(answer.text[start:end])
        judged = supporter(text, [told(item) for item in evidence])
        found.append(SentenceSupport(text=text, citations=len(evidence), support=judged))
    return found


def plain(text: str) -> str:
    """``text`` without the tags of its citations."""
    return _TAG.sub("", text).strip()


def told(evidence: Evidence) -> str:
    """What a reader of the evidence is told: where and when it was said, by whom, and what."""
    body = evidence.summary if evidence.shown == "summary" and evidence.summary else evidence.text
    fact = evidence.quote if evidence.fact else ""
    parts = (evidence.title, evidence.speaker, evidence.valid_at, body, fact)
    return "\n".join(part for part in parts if part)


def mean_support(found: Sequence[SentenceSupport]) -> float:
    """Mean support of the sentences that have one, in [0, 1]; NaN for none. Source: see ``sentence_supports``."""
    judged = _judged(found)
    return float(judged.mean()) if len(judged) else math.nan


def unsupported_sentence_rate(found: Sequence[SentenceSupport], cut: float = SUPPORTED) -> float:
    """Share of the sentences whose support is below ``cut``, in [0, 1], lower is better; NaN for none.

    Source: Gao et al., ALCE, EMNLP 2023, sec. 3: 1 − its citation recall, with a score's cut for an entailment.
    """
    judged = _judged(found)
    return float((judged < cut).mean()) if len(judged) else math.nan


def invalid_citation_rate(answer: Answer) -> float:
    """Share of what the model cited that it had not been sent, in [0, 1], lower is better; each id counts once. NaN where
    it cited nothing, or was not asked. An answer abstained from for its citations counts.

    Source: Liu, Zhang & Liang, Evaluating Verifiability in Generative Search Engines, EMNLP Findings 2023, for citations
    that resolve at all.
    """
    invalid = len(answer.invalid_citations)
    valid = len(answer.evidence) if written_by_model(answer) else 0
    return invalid / (invalid + valid) if invalid + valid else math.nan


def _judged(found: Sequence[SentenceSupport]) -> np.ndarray:
    supports = np.array([one.support for one in found], dtype=np.float64)
    return supports[~np.isnan(supports)]
