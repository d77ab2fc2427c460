"""Models of sentence-transformers by name, an optional extra: bi-encoders embed, cross-encoders rerank and judge
entailment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from core.errors import ModelError
from core.models.base import FloatArray
from core.progress import Progress, quiet
from core.text import well_formed


class SentenceTransformerEmbedder:
    """Any sentence-transformers model by name or folder."""

    def __init__(self, name: str) -> None:
        self.model_id = f"st-{name.replace('/', '--')}"
        self._model = _loaded("SentenceTransformer", name)
        dimension: Any = getattr(self._model, "get_embedding_dimension", None)
        dimension = dimension or self._model.get_sentence_embedding_dimension  # its former name
        self.dim = int(dimension())

    def embed(self, texts: Sequence[str], progress: Progress = quiet) -> FloatArray:
        """(n, dim) float32 unit rows; zeros for blank texts."""
        rows = np.zeros((len(texts), self.dim), dtype=np.float32)
        spoken = [place for place, text in enumerate(texts) if text.strip()]
        if spoken:
            rows[spoken] = self._model.encode(
                [well_formed(texts[place]) for place in spoken],
                normalize_embeddings=True,
                show_progress_bar=False,
            )
        progress(len(texts))
        return rows


class CrossEncoderReranker:
    """Any cross-encoder by name or folder; the score its own activation gives, in a space that carries its name."""

    def __init__(self, name: str) -> None:
        self.space = f"cross-encoder/{name.replace('/', '--')}"
        self._model = _loaded("CrossEncoder", name)

    def scores(self, question: str, passages: Sequence[str]) -> FloatArray:
        """(n,) float32; a blank passage scores −1000, below every other."""
        rows = np.full(len(passages), -1000.0, dtype=np.float32)
        spoken = [place for place, text in enumerate(passages) if text.strip()]
        if spoken and question.strip():
            pairs = [(well_formed(question), well_formed(passages[place])) for place in spoken]
            found = np.asarray(self._model.predict(pairs, show_progress_bar=False), dtype=np.float32)
            rows[spoken] = found.reshape(len(spoken), -1)[:, 0]
        return rows


class CrossEncoderEntailment:
    """Any cross-encoder of natural language inference by name or folder; one of its labels must be ``entailment``."""

    def __init__(self, name: str) -> None:
        self.space = f"probability/nli-{name.replace('/', '--')}"
        self._model = _loaded("CrossEncoder", name)
        labels = dict(self._model.config.id2label)
        places = [int(place) for place, label in labels.items() if str(label).lower() == "entailment"]
        if len(places) != 1:
            raise ModelError(
                f"model {name!r} judges no entailment: its labels are {', '.join(map(str, labels.values()))}; "
                "choose a model of natural language inference"
            )
        self._entailment = places[0]

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> FloatArray:
        """(n,) float32 in [0, 1], the softmax over the model's labels; 0 for a pair with a blank side."""
        found = np.zeros(len(pairs), dtype=np.float32)
        spoken = [place for place, sides in enumerate(pairs) if all(side.strip() for side in sides)]
        if spoken:
            given = [(well_formed(pairs[place][0]), well_formed(pairs[place][1])) for place in spoken]
            said = self._model.predict(given, apply_softmax=True, show_progress_bar=False)
            found[spoken] = np.asarray(said, dtype=np.float32)[:, self._entailment]
        return found


def _loaded(kind: str, name: str) -> Any:
    try:
        import sentence_transformers
    except ImportError as error:
        raise ModelError(f"model {name!r} needs an extra: pip install 'assay[cross-encoder]'") from error
    try:
        return getattr(sentence_transformers, kind)(name)
    except (OSError, ValueError) as error:
        raise ModelError(f"model {name!r} cannot be loaded: {' '.join(str(error).split())[:200]}") from error
