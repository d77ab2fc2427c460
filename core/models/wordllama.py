"""WordLlama: static 256-d vectors, some hundred times faster than MiniLM and weaker; offline."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from core.models.base import FloatArray
from core.progress import Progress, quiet

DIM = 256


class WordLlama:
    """Mean of token vectors, unit length."""

    model_id = "wordllama-256"
    dim = DIM

    def embed(self, texts: Sequence[str], progress: Progress = quiet) -> FloatArray:
        """(n, 256) float32 unit rows; zeros for a text without tokens (the library gives NaN there)."""
        rows = np.zeros((len(texts), DIM), dtype=np.float32)
        spoken = [place for place, text in enumerate(texts) if text.strip()]
        if spoken:
            with np.errstate(invalid="ignore", divide="ignore"):
                found = np.asarray(
                    _model().embed([texts[place] for place in spoken], norm=True), dtype=np.float32
                )
            rows[spoken] = np.where(np.isfinite(found).all(axis=1, keepdims=True), found, 0)
        progress(len(texts))
        return rows


@cache
def _model() -> Any:
    root = logging.getLogger()
    level, handlers = root.level, root.handlers[:]
    import wordllama

    root.setLevel(level)  # the library sends everybody's log to stderr
    root.handlers[:] = handlers
    # the bundled tokenizer lies beside the package, where the loader does not look by itself
    folder = Path(str(wordllama.__file__)).parent
    return wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
