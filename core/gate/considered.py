"""What the gate reads: the candidates of one question before any floor, as columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.index.base import Scores
from core.trace import Candidate, Trace

BLEND = 0.4
"""Share of TF-IDF in the score candidates are ordered by; the rest is the cosine's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Considered:
    """n candidates in any order. ``cosine`` and ``tfidf`` are (n,) float32, unnormalised, NaN where a candidate was not
    scored; ``tfidf`` is None for a recipe that has no lexical index. ``speakers`` are None where nobody speaks."""

    texts: Sequence[str]
    titles: Sequence[str]
    speakers: Sequence[str | None]
    cosine: Scores
    tfidf: Scores | None

    def __len__(self) -> int:
        return len(self.texts)

    def score(self) -> Scores:
        """(n,) the unnormalised evidence score: 0.4·TF-IDF + 0.6·cosine, or the cosine alone; 0 where unscored."""
        cosine = np.clip(np.nan_to_num(self.cosine, nan=0.0), 0, 1)
        if self.tfidf is None:
            return np.asarray(cosine, dtype=np.float32)
        mixed = BLEND * np.nan_to_num(self.tfidf, nan=0.0) + (1 - BLEND) * cosine
        return np.asarray(mixed, dtype=np.float32)


def of_trace(trace: Trace) -> Considered:
    """The candidates that a Trace's ranking ranks, with their scores before any floor, in the Trace's order."""
    ranked = set(trace.ranking)
    listed = [one for one in trace.candidates if one.candidate_id in ranked]
    lexical = any("tfidf" in one.scores for one in listed)
    return Considered(
        texts=[one.text for one in listed],
        titles=[one.title for one in listed],
        speakers=[one.speaker for one in listed],
        cosine=_column(listed, trace.spaces["cosine"]),
        tfidf=_column(listed, "tfidf") if lexical else None,
    )


def _column(listed: Sequence[Candidate], space: str) -> NDArray[np.float32]:
    return np.array([one.scores.get(space, np.nan) for one in listed], dtype=np.float32)
