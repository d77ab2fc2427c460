"""Okapi BM25 with Lucene's idf: rank-bm25 for small corpora, bm25s above; both give equal scores."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from core.index.base import Scores
from core.text import stems

K1, B = 0.9, 0.4
SMALL = 5000
"""Passages up to which rank-bm25 is used."""
FOLDER, TERMS = "bm25", "bm25.json"


class _Scorer(Protocol):
    def scores(self, question: Sequence[str]) -> Scores: ...


class BM25Index:
    """``Σ idf·tf / (tf + k1·(1 − b + b·length/mean length))``, idf ``ln(1 + (N − n + ½)/(n + ½))``, k1 = 0.9, b = 0.4,
    over the distinct stems of the question.

    Source: Robertson & Zaragoza, The Probabilistic Relevance Framework, 2009, with the idf of Apache Lucene, which is
    never negative; see Kamphuis et al., Which BM25 Do You Mean?, ECIR 2020.
    """

    space = f"bm25/k1={K1},b={B}"

    def __init__(self, scorer: _Scorer, size: int) -> None:
        self._scorer = scorer
        self._size = size

    @classmethod
    def build(cls, texts: Iterable[str], *, small: int = SMALL) -> BM25Index:
        """From the texts of n rows; n may be 0, and texts may be without terms."""
        listed = [stems(text) for text in texts]
        if not any(listed):
            return cls(_Nothing(len(listed)), len(listed))
        return cls(_Small(listed) if len(listed) <= small else _Large.build(listed), len(listed))

    def __len__(self) -> int:
        return self._size

    def scores(self, question: str) -> Scores:
        """(n,) float32, 0 where no term is shared."""
        return self._scorer.scores(list(dict.fromkeys(stems(question))))

    def save(self, folder: Path) -> None:
        """Writes a small index's terms, or a large one's matrix, into ``folder``."""
        terms = self._scorer.listed if isinstance(self._scorer, _Small) else None
        body = {"size": self._size, "terms": terms, "large": isinstance(self._scorer, _Large)}
        (folder / TERMS).write_text(json.dumps(body))
        if isinstance(self._scorer, _Large):
            self._scorer.model.save(folder / FOLDER, show_progress=False)

    @classmethod
    def load(cls, folder: Path) -> BM25Index:
        """Reads what ``save`` wrote."""
        body = json.loads((folder / TERMS).read_text())
        if body["large"]:
            return cls(_Large.load(folder / FOLDER), int(body["size"]))
        return cls(_Small(body["terms"]) if body["terms"] else _Nothing(body["size"]), int(body["size"]))


class _Nothing:
    """A corpus without a single term."""

    def __init__(self, size: int) -> None:
        self._size = size

    def scores(self, question: Sequence[str]) -> Scores:
        return np.zeros(self._size, dtype=np.float32)


class _Small:
    def __init__(self, listed: list[list[str]]) -> None:
        import rank_bm25

        class LuceneBM25(rank_bm25.BM25Okapi):  # type: ignore[misc]
            def _calc_idf(self, document_frequency: dict[str, int]) -> None:
                self.idf = {
                    stem: float(np.log(1 + (self.corpus_size - count + 0.5) / (count + 0.5)))
                    for stem, count in document_frequency.items()
                }

        self.listed = listed
        self._model = LuceneBM25(listed, k1=K1, b=B)

    def scores(self, question: Sequence[str]) -> Scores:
        # rank-bm25 keeps the constant factor k1 + 1 that Lucene dropped
        return np.asarray(self._model.get_scores(question) / (K1 + 1), dtype=np.float32)


class _Large:
    def __init__(self, model: Any) -> None:
        self.model = model

    @classmethod
    def build(cls, listed: list[list[str]]) -> _Large:
        import bm25s

        model = bm25s.BM25(k1=K1, b=B, method="lucene")
        model.index(listed, show_progress=False)
        return cls(model)

    @classmethod
    def load(cls, folder: Path) -> _Large:
        import bm25s

        return cls(bm25s.BM25.load(folder, load_corpus=False))

    def scores(self, question: Sequence[str]) -> Scores:
        known = [stem for stem in question if stem in self.model.vocab_dict]
        if not known:
            return np.zeros(int(self.model.scores["num_docs"]), dtype=np.float32)
        return np.asarray(self.model.get_scores(known), dtype=np.float32)
