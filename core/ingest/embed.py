"""Embedding what has no vector yet, batch by batch; a kill loses at most the batch in work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from core.models.base import Embedder
from core.progress import Progress, quiet
from core.records import text_hash
from core.store import CORPUS_KINDS, CorpusKind, Store

WINDOW = 4096
"""Texts that are looked up at once; within a window they are embedded shortest first, so that batches are even."""
BATCH = 256
"""Texts that are embedded and committed at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedReport:
    """Texts newly embedded, texts that had a vector, and how many of the new ones have no tokens."""

    embedded: int
    cached: int
    without_tokens: int


def embed_missing(
    store: Store,
    embedder: Embedder,
    dataset_ids: Sequence[int],
    *,
    kinds: Sequence[CorpusKind] = CORPUS_KINDS,
    progress: Progress = quiet,
) -> EmbedReport:
    """Gives every text of these datasets a vector of this model in the cache.

    A text whose vector is not finite, or that has no tokens, is stored as zeros: it is known and never searched.
    """
    embedded = cached = without = 0
    for kind in kinds:
        for texts in _windows(store.texts(kind, dataset_ids)):
            missing = _missing(store, embedder.model_id, texts)
            cached += len(texts) - len(missing)
            progress(len(texts) - len(missing))
            ordered = sorted(missing.items(), key=lambda item: (len(item[1]), item[0]))
            for start in range(0, len(ordered), BATCH):
                without += _embed(store, embedder, dict(ordered[start : start + BATCH]))
                progress(len(ordered[start : start + BATCH]))
            embedded += len(missing)
    return EmbedReport(embedded=embedded, cached=cached, without_tokens=without)


def _windows(texts: Iterator[str]) -> Iterator[list[str]]:
    while window := list(islice(texts, WINDOW)):
        yield window


def _missing(store: Store, model_id: str, texts: Sequence[str]) -> dict[str, str]:
    by_hash = {text_hash(text): text for text in texts}
    known = store.embeddings.known(model_id, list(by_hash))
    return {key: text for key, text in by_hash.items() if key not in known}


def _embed(store: Store, embedder: Embedder, texts: dict[str, str]) -> int:
    vectors = np.asarray(embedder.embed(list(texts.values())), dtype=np.float32)
    sound = np.isfinite(vectors).all(axis=1, keepdims=True)
    vectors = np.where(sound, vectors, 0).astype(np.float32)
    store.embeddings.put(embedder.model_id, list(texts), vectors)
    return int((~vectors.any(axis=1)).sum())
