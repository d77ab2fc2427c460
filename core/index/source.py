"""The store as a source of corpora: rows, texts, and vectors from the embedding cache."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from core.errors import ChangedError, ModelError, StoreError
from core.models.base import Embedder, FloatArray
from core.records import Dataset, text_hash
from core.store import Columns, CorpusKind, Store

SAMPLE = 64
"""Texts that are looked at to see which models a dataset is embedded with."""

BLOCK = 4096
"""Rows whose vectors are read at once."""

TOLERANCE = 0.01
"""How far a stored vector's squared length may be from 1."""


class StoreCorpus:
    """The rows of one kind in some datasets of a store."""

    def __init__(self, store: Store, kind: CorpusKind, datasets: Sequence[Dataset]) -> None:
        self.kind = kind
        self._store = store
        self.datasets = list(datasets)
        self._ids = [dataset.dataset_id for dataset in datasets]
        self._columns: Columns | None = None
        self._lock = Lock()

    @property
    def key(self) -> str:
        """The same for the same datasets, whatever they hold."""
        return ",".join(sorted(dataset.uid for dataset in self.datasets))

    @property
    def fingerprint(self) -> str:
        """Changes with every committed change of the datasets."""
        return ",".join(sorted(f"{dataset.uid}@{dataset.revision}" for dataset in self.datasets))

    def columns(self) -> Columns:
        """Row numbers, sources, levels, sessions and positions, as they were when they were first read."""
        with self._lock:
            if self._columns is None:
                self._columns = self._store.columns(self.kind, self._ids)
            return self._columns

    def texts(self) -> Iterator[str]:
        """The text an index sees, row by row; rows that were added since the columns were read are left out."""
        rows = self.columns().row_ids
        return self._store.texts(self.kind, self._ids, last_row=int(rows[-1]) if len(rows) else 0)

    def vectors(self, embedder: Embedder) -> Iterator[FloatArray]:
        """(at most ``BLOCK``, dim) float32 blocks in row order, from the cache; what is missing is embedded and cached.
        Zeros for texts without tokens."""
        self.embed(embedder)
        texts = self.texts()
        while block := [text_hash(text) for text in islice(texts, BLOCK)]:
            yield self.cached(embedder, block)

    def embed(self, embedder: Embedder) -> None:
        """Gives every text a vector in the cache.

        Raises:
            ModelError: the datasets are embedded with another model.
        """
        from core.ingest.embed import embed_missing

        self.refuse_other_embedder(embedder)
        embed_missing(self._store, embedder, self._ids, kinds=[self.kind])

    def cached(self, embedder: Embedder, hashes: Sequence[str]) -> FloatArray:
        """(n, dim) float32 of these texts.

        Raises:
            ChangedError: one has no vector. StoreError: one is not as it was stored.
        """
        cached = self._store.embeddings.get(embedder.model_id, hashes)
        rows = np.zeros((len(hashes), embedder.dim), dtype=np.float32)
        if any(key not in cached for key in hashes):
            raise ChangedError("the dataset changed while its vectors were read; ask again")
        for row, key in enumerate(hashes):
            self._refuse_damaged(cached[key], embedder)
            rows[row] = cached[key]
        return rows

    def hashed(self, dataset: Dataset) -> tuple[NDArray[np.int64], list[str]]:
        """Row ids of one of the datasets, ascending, and the hashes of their texts, as they are now.

        Raises:
            ChangedError: rows were added or removed between the two readings.
        """
        row_ids = self._store.columns(self.kind, [dataset.dataset_id]).row_ids
        last = int(row_ids[-1]) if len(row_ids) else 0
        texts = self._store.texts(self.kind, [dataset.dataset_id], last_row=last)
        hashes = [text_hash(text) for text in texts]
        if len(hashes) != len(row_ids):
            raise ChangedError("the dataset changed while its vectors were read; ask again")
        return row_ids, hashes

    def _refuse_damaged(self, vector: FloatArray, embedder: Embedder) -> None:
        """Stored vectors have length 1, or are zeros; anything else was not written so."""
        if not sound(vector, embedder.dim):
            names = ", ".join(dataset.name for dataset in self.datasets[:3])
            raise StoreError(
                f"a vector of {names} by {embedder.model_id} is not as it was stored: the database is damaged; "
                "restore a copy, or bring the dataset in again into another file with --db"
            )

    def refuse_other_embedder(self, embedder: Embedder) -> None:
        """A question or a text must not start hours of embedding because another model was named by accident."""
        first = [text_hash(text) for text in islice(self.texts(), SAMPLE)]
        models = self._store.embeddings.models(first)
        if models and embedder.model_id not in models:
            names = ", ".join(dataset.name for dataset in self.datasets[:3])
            raise ModelError(
                f"{names} is embedded with {' and '.join(models)}, not with {embedder.model_id}: "
                f"run `assay embed --dataset {self.datasets[0].name} --embedder NAME` once, or ask with the other one"
            )


def sound(vector: FloatArray, dim: int) -> bool:
    """Whether a stored vector can have been written so: of ``dim`` numbers, and of length 1 or 0."""
    with np.errstate(all="ignore"):
        squared = float(vector @ vector) if vector.shape == (dim,) else np.nan
    return squared == 0 or abs(squared - 1) < TOLERANCE
