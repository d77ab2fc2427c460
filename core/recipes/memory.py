"""Recipe `memory`: recall wide, rerank narrow, answer with provenance down to the source."""

from __future__ import annotations

from core.recipes.inquiry import Inquiry
from core.recipes.levelled import LevelledRun
from core.trace import Trace

DEFAULT_LEVELS = ("L1", "L2")
"""Notes and syntheses answer; raw turns (L0) only when asked for."""


def memory(inquiry: Inquiry) -> Trace:
    """Recall of notes and syntheses, reranking, the best few with provenance. Confidence: the best cosine."""
    run = LevelledRun(inquiry, confidence="cosine")
    run.recall_and_fuse()
    run.rerank()
    run.floor()
    run.diversify()
    run.gate()
    run.select()
    return run.trace("memory")
