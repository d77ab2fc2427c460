"""A reranker without a model: how many of the question's terms a passage holds. The one that any model must beat."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.models.base import FloatArray
from core.text import stems


class TermOverlap:
    """Share of the question's distinct stems that stand in the passage, in [0, 1]; 0 for a question or passage without
    any. Source: the "coordination level" of Salton, Automatic Information Organization and Retrieval, 1968."""

    space = "term-overlap/stems"

    def scores(self, question: str, passages: Sequence[str]) -> FloatArray:
        """(n,) float32, see the class."""
        wanted = set(stems(question))
        if not wanted:
            return np.zeros(len(passages), dtype=np.float32)
        shares = [len(wanted.intersection(stems(passage))) / len(wanted) for passage in passages]
        return np.array(shares, dtype=np.float32)
