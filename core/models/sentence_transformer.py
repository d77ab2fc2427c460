"""Models of sentence-transformers by name, an optional extra: bi-encoders embed, cross-encoders rerank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from core.errors import ModelError
from core.models.base import FloatArray
from core.progress import Progress, quiet


class SentenceTransformerEmbedder:
    """Any sentence-transformers model by name or folder."""

    def __init__(self, name: str) -> None:
        self.model_id = f"st-{name.replace('/', '--')}"
        self._model = _loaded("SentenceTransformer", name)
        newer = getattr(self._model, "get_embedding_dimension", None)  # its later name
        self.dim = int((newer or self._model.get_sentence_embedding_dimension)())

    def embed(self, texts: Sequence[str], progress: Progress = quiet) -> FloatArray:
        """(n, dim) float32 unit rows; zeros for blank texts."""
        rows = np.zeros((len(texts), self.dim), dtype=np.float32)
        spoken = [place for place, text in enumerate(texts) if text.strip()]
        if spoken:
            rows[spoken] = self._model.encode(
                [texts[place] for place in spoken], normalize_embeddings=True, show_progress_bar=False
            )
        progress(len(texts))
        return rows


class CrossEncoderReranker:
    """Any cross-encoder by name or folder; its raw score, in a space that carries its name."""

    def __init__(self, name: str) -> None:
        self.space = f"cross-encoder/{name.replace('/', '--')}"
        self._model = _loaded("CrossEncoder", name)

    def scores(self, question: str, passages: Sequence[str]) -> FloatArray:
        """(n,) float32; a blank passage scores −1000, below every other."""
        rows = np.full(len(passages), -1000.0, dtype=np.float32)
        spoken = [place for place, text in enumerate(passages) if text.strip()]
        if spoken and question.strip():
            pairs = [(question, passages[place]) for place in spoken]
            found = np.asarray(self._model.predict(pairs, show_progress_bar=False), dtype=np.float32)
            rows[spoken] = found.reshape(len(spoken), -1)[:, 0]
        return rows


def _loaded(kind: str, name: str) -> Any:
    try:
        import sentence_transformers
    except ImportError as error:
        raise ModelError(f"model {name!r} needs an extra: pip install 'assay[cross-encoder]'") from error
    try:
        return getattr(sentence_transformers, kind)(name)
    except (OSError, ValueError) as error:
        raise ModelError(f"model {name!r} cannot be loaded: {' '.join(str(error).split())[:200]}") from error
