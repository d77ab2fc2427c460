"""Recipe `brain`: cite what clears the relevance floor, or abstain."""

from __future__ import annotations

from core.recipes.inquiry import Inquiry
from core.recipes.levelled import LevelledRun
from core.trace import Trace


def brain(inquiry: Inquiry) -> Trace:
    """Lexical and dense recall of nodes of any level, floor, diversity, a cited list.

    Confidence: the best tfidf+cosine score. A question without terms abstains for that reason.
    """
    run = LevelledRun(inquiry, confidence="tfidf+cosine")
    run.recall_and_fuse()
    run.rerank()
    run.floor()
    run.diversify()
    run.gate()
    run.select()
    return run.trace("brain", abstain=None if run.pool.question_stems else "no_terms")
