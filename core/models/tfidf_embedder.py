"""An embedder without a model: TF-IDF vectors over the stems of one corpus. A baseline that costs nothing."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import sha256

import numpy as np

from core.models.base import FloatArray
from core.progress import Progress, quiet
from core.text import stems

FEATURES = 4096


class TfidfEmbedder:
    """Unit vectors of (1 + ln tf)·idf over the ``features`` stems that most texts hold, idf = ln((1+n)/(1+df)) + 1.

    It belongs to the texts it was fitted on, whose digest is in ``model_id``: scores of another corpus are in another
    space. Source: Salton & Buckley, Term-Weighting Approaches in Automatic Text Retrieval, 1988, with the smoothed idf of
    scikit-learn's TfidfVectorizer.
    """

    def __init__(self, texts: Iterable[str], features: int = FEATURES) -> None:
        """Raises ValueError for texts without a single term."""
        held: Counter[str] = Counter()
        count = 0
        for count, text in enumerate(texts, start=1):  # noqa: B007 (how many there were)
            held.update(set(stems(text)))
        kept = sorted(held, key=lambda stem: (-held[stem], stem))[:features]
        if not kept:
            raise ValueError("there is no term in these texts to embed by")
        self._places = {stem: place for place, stem in enumerate(kept)}
        self._idf = np.array(
            [math.log((1 + count) / (1 + held[stem])) + 1 for stem in kept], dtype=np.float32
        )
        said = "\n".join(f"{stem} {held[stem]}" for stem in kept) + f"\n{count}"
        self.model_id = f"tfidf-{sha256(said.encode()).hexdigest()[:12]}"
        self.dim = len(kept)

    def embed(self, texts: Sequence[str], progress: Progress = quiet) -> FloatArray:
        """(n, dim) float32 unit rows, zeros for a text without a known term."""
        rows = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for stem, times in Counter(stems(text)).items():
                if stem in self._places:
                    place = self._places[stem]
                    row[place] = (1 + math.log(times)) * self._idf[place]
            norm = float(np.linalg.norm(row))
            if norm:
                row /= norm
            progress(1)
        return rows
