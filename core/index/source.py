"""The store as a source of corpora: rows, texts, and vectors from the embedding cache."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from threading import Lock

import numpy as np

from core.errors import ChangedError, ModelError, StoreError
from core.models.base import Embedder, FloatArray
from core.records import Dataset, text_hash
from core.store import Columns, CorpusKind, Store

SAMPLE = 64
"""Texts that are looked at to see which models a dataset is embedded with."""

TOLERANCE = 0.01
"""How far a stored vector's squared length may be from 1."""


class StoreCorpus:
    """The rows of one kind in some datasets of a store."""

    def __init__(self, store: Store, kind: CorpusKind, datasets: Sequence[Dataset]) -> None:
        self.kind = kind
        self._store = store
        self._datasets = list(datasets)
        self._ids = [dataset.dataset_id for dataset in datasets]
        self._columns: Columns | None = None
        self._lock = Lock()

    @property
    def key(self) -> str:
        """The same for the same datasets, whatever they hold."""
        return ",".join(sorted(dataset.uid for dataset in self._datasets))

    @property
    def fingerprint(self) -> str:
        """Changes with every committed change of the datasets."""
        return ",".join(sorted(f"{dataset.uid}@{dataset.revision}" for dataset in self._datasets))

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

    def vectors(self, embedder: Embedder) -> FloatArray:
        """(n, dim) float32 from the cache; what is missing is embedded and cached. Zeros for texts without tokens."""
        from core.ingest.embed import embed_missing

        self.refuse_other_embedder(embedder)
        embed_missing(self._store, embedder, self._ids, kinds=[self.kind])
        hashes = [text_hash(text) for text in self.texts()]
        cached = self._store.embeddings.get(embedder.model_id, hashes)
        rows = np.zeros((len(hashes), embedder.dim), dtype=np.float32)
        if any(key not in cached for key in hashes):
            raise ChangedError("the dataset changed while its vectors were read; ask again")
        for row, key in enumerate(hashes):
            self._refuse_damaged(cached[key], embedder)
            rows[row] = cached[key]
        return rows

    def _refuse_damaged(self, vector: FloatArray, embedder: Embedder) -> None:
        """Stored vectors have length 1, or are zeros; anything else was not written so."""
        if not sound(vector, embedder.dim):
            names = ", ".join(dataset.name for dataset in self._datasets[:3])
            raise StoreError(
                f"a vector of {names} by {embedder.model_id} is not as it was stored: the database is damaged; "
                "restore a copy, or bring the dataset in again into another file with --db"
            )

    def refuse_other_embedder(self, embedder: Embedder) -> None:
        """A question or a text must not start hours of embedding because another model was named by accident."""
        first = [text_hash(text) for text in islice(self.texts(), SAMPLE)]
        models = self._store.embeddings.models(first)
        if models and embedder.model_id not in models:
            names = ", ".join(dataset.name for dataset in self._datasets[:3])
            raise ModelError(
                f"{names} is embedded with {' and '.join(models)}, not with {embedder.model_id}: "
                f"run `assay embed --dataset {self._datasets[0].name} --embedder NAME` once, or ask with the other one"
            )


def sound(vector: FloatArray, dim: int) -> bool:
    """Whether a stored vector can have been written so: of ``dim`` numbers, and of length 1 or 0."""
    with np.errstate(all="ignore"):
        squared = float(vector @ vector) if vector.shape == (dim,) else np.nan
    return squared == 0 or abs(squared - 1) < TOLERANCE
