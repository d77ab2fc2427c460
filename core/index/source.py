"""The store as a source of corpora: rows, texts, and vectors from the embedding cache."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from core.models.base import Embedder, FloatArray
from core.records import Dataset, text_hash
from core.store import Columns, CorpusKind, Store


class StoreCorpus:
    """The rows of one kind in some datasets of a store."""

    def __init__(self, store: Store, kind: CorpusKind, datasets: Sequence[Dataset]) -> None:
        self.kind = kind
        self._store = store
        self._datasets = list(datasets)
        self._ids = [dataset.dataset_id for dataset in datasets]

    @property
    def key(self) -> str:
        """The same for the same datasets, whatever they hold."""
        return ",".join(sorted(dataset.uid for dataset in self._datasets))

    @property
    def fingerprint(self) -> str:
        """Changes with every committed change of the datasets."""
        return ",".join(sorted(f"{dataset.uid}@{dataset.revision}" for dataset in self._datasets))

    def columns(self) -> Columns:
        """Row numbers, sources, levels, sessions and positions."""
        return self._store.columns(self.kind, self._ids)

    def texts(self) -> Iterator[str]:
        """The text an index sees, row by row."""
        return self._store.texts(self.kind, self._ids)

    def vectors(self, embedder: Embedder) -> FloatArray:
        """(n, dim) float32 from the cache; what is missing is embedded and cached. Zeros for texts without tokens."""
        from core.ingest.embed import embed_missing

        embed_missing(self._store, embedder, self._ids, kinds=[self.kind])
        hashes = [text_hash(text) for text in self.texts()]
        cached = self._store.embeddings.get(embedder.model_id, hashes)
        rows = np.zeros((len(hashes), embedder.dim), dtype=np.float32)
        for row, key in enumerate(hashes):
            rows[row] = cached[key]
        return rows
