"""WordLlama: static 256-d vectors, some hundred times faster than MiniLM and weaker; offline."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from core.errors import ModelError
from core.models.base import FloatArray
from core.progress import Progress, quiet
from core.text import well_formed

DIM = 256
BATCH = 32
"""Texts pooled at once; they are padded to the longest, so texts of a length go together."""
_LOADING = Lock()


class WordLlama:
    """Mean of token vectors, unit length."""

    model_id = "wordllama-256"
    dim = DIM

    def embed(self, texts: Sequence[str], progress: Progress = quiet) -> FloatArray:
        """(n, 256) float32 unit rows; zeros for a text without tokens (the library gives NaN there)."""
        rows = np.zeros((len(texts), DIM), dtype=np.float32)
        spoken = sorted(
            (place for place, text in enumerate(texts) if text.strip()), key=lambda p: len(texts[p])
        )
        if spoken:
            given = [well_formed(texts[place]) for place in spoken]
            with np.errstate(invalid="ignore", divide="ignore"):
                found = np.asarray(_loaded().embed(given, norm=True, batch_size=BATCH), dtype=np.float32)
            rows[spoken] = np.where(np.isfinite(found).all(axis=1, keepdims=True), found, 0)
        progress(len(texts))
        return rows


def _loaded() -> Any:
    with _LOADING:
        return _model()


@cache
def _model() -> Any:
    with _unchanged_logging():
        import wordllama

    # the bundled tokenizer lies beside the package, where the loader does not look by itself
    folder = Path(str(wordllama.__file__)).parent
    try:
        return wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
    except (OSError, ValueError) as error:
        raise ModelError(f"WordLlama's files cannot be loaded ({error}); reinstall wordllama") from error


@contextmanager
def _unchanged_logging() -> Iterator[None]:
    """The library sets the whole process to log at INFO when it is imported."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    try:
        yield
    finally:
        root.setLevel(level)
        root.handlers[:] = handlers
