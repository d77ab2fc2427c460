"""MaxSim over MiniLM's token vectors: a reranker that needs no second model."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import RLock

import numpy as np

from core.models.base import FloatArray
from core.models.limits import whole_number
from core.models.minilm import MODEL_ID, MiniLM
from core.records import text_hash

LOWEST = -1.0


class MaxSim:
    """Mean over the question's tokens of the best cosine among the passage's tokens, in [−1, 1].

    Source: Khattab & Zaharia, ColBERT, SIGIR 2020, eq. 3, which sums; the mean makes scores of questions of different
    length comparable. All of a question's word pieces are asked, stop words too, and no [CLS] or [SEP]: on CLAPnq's
    answerable questions hit@1 of the 50 best by cosine is 0.980 so, 0.977 with [CLS] and [SEP], 0.960 without stop
    words, as by cosine alone. Token vectors of passages are kept up to ``ASSAY_TOKEN_CACHE_MB`` (512) megabytes, since
    the questions of one run share them.
    """

    space = f"maxsim/{MODEL_ID}"

    def __init__(self, model: MiniLM | None = None) -> None:
        self._model = model or MiniLM()
        self._kept: OrderedDict[str, FloatArray] = OrderedDict()
        self._bytes = 0
        self._limit = whole_number("ASSAY_TOKEN_CACHE_MB", 512) * 1024 * 1024
        self._lock = RLock()

    def scores(self, question: str, passages: Sequence[str]) -> FloatArray:
        """(n,) float32; −1 for a passage, or all passages of a question, without tokens."""
        (asked,) = self._model.token_vectors([question])
        found = np.full(len(passages), LOWEST, dtype=np.float32)
        if len(asked):
            for place, tokens in enumerate(self._tokens(passages)):
                if len(tokens):
                    found[place] = (asked @ tokens.T).max(axis=1).mean()
        return np.clip(found, LOWEST, 1, out=found)  # rounding may lead a hair beyond

    def _tokens(self, passages: Sequence[str]) -> list[FloatArray]:
        keys = [text_hash(passage) for passage in passages]
        with self._lock:
            missing = {key: text for key, text in zip(keys, passages, strict=True) if key not in self._kept}
            fresh = dict(zip(missing, self._model.token_vectors(list(missing.values())), strict=True))
            vectors = [fresh[key] if key in fresh else self._kept[key] for key in keys]
            for key, tokens in fresh.items():
                self._kept[key] = tokens
                self._bytes += tokens.nbytes
            for key in keys:
                self._kept.move_to_end(key)
            while self._bytes > self._limit and self._kept:
                self._bytes -= self._kept.popitem(last=False)[1].nbytes
        return vectors
