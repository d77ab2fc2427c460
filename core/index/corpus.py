"""A corpus: the searchable rows of one kind, with the indexes over them, each opened or built when first used."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from threading import RLock
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from core.index.base import Mask
from core.index.bm25 import BM25Index
from core.index.persist import opened
from core.index.tfidf import TfidfIndex
from core.index.vectors import FaissIndex
from core.models.base import Embedder, FloatArray
from core.store import Columns


class CorpusSource(Protocol):
    """Where rows come from. ``key`` names them for good, ``fingerprint`` changes with every change of them."""

    @property
    def kind(self) -> str: ...

    @property
    def key(self) -> str: ...

    @property
    def fingerprint(self) -> str: ...

    def columns(self) -> Columns: ...

    def texts(self) -> Iterator[str]: ...

    def vectors(self, embedder: Embedder) -> FloatArray: ...


class Corpus:
    """n rows, numbered 0 … n−1 in the order of their row ids. ``notices`` collects what had to be rebuilt."""

    def __init__(
        self,
        source: CorpusSource,
        index_dir: Path | None,
        embedder: Embedder,
        notices: list[str] | None = None,
    ) -> None:
        self.source = source
        self.embedder = embedder
        self.notices = notices if notices is not None else []
        self._index_dir = index_dir
        self._lock = RLock()

    def __len__(self) -> int:
        return len(self.columns.row_ids)

    @cached_property
    def columns(self) -> Columns:
        """What is known of the rows without their texts."""
        return self.source.columns()

    @property
    def tfidf(self) -> TfidfIndex:
        """TF-IDF over the texts."""
        with self._lock:
            return self._tfidf

    @property
    def bm25(self) -> BM25Index:
        """BM25 over the texts."""
        with self._lock:
            return self._bm25

    @property
    def vectors(self) -> FaissIndex:
        """Cosine search over the embeddings."""
        with self._lock:
            return self._vectors

    def mask(
        self,
        *,
        levels: Collection[str] | None = None,
        dataset_ids: Collection[int] | None = None,
        hide_sources: Collection[str] = (),
    ) -> Mask | None:
        """(n,) True for the rows that pass every filter; None where all do."""
        verdicts = [
            self._levels.verdicts(levels, other=False) if levels is not None else None,
            self._datasets.verdicts(dataset_ids, other=False) if dataset_ids is not None else None,
            self._sources.verdicts(hide_sources, other=True) if hide_sources else None,
        ]
        said = [verdict for verdict in verdicts if verdict is not None]
        return np.logical_and.reduce(said) if said else None

    @cached_property
    def neighbours(self) -> NDArray[np.int64]:
        """(n, 2) the rows one position before and after in the same session of the same source; −1 for none."""
        columns = self.columns
        beside = np.full((len(self), 2), -1, dtype=np.int64)
        places = zip(
            columns.dataset_ids.tolist(), columns.sources, columns.sessions, columns.positions, strict=True
        )
        keys = [None if session is None or position is None else (dataset, source, session, position)
                for dataset, source, session, position in places]  # fmt: skip
        rows = {key: row for row, key in enumerate(keys) if key is not None}
        for key, row in rows.items():
            beside[row] = [rows.get((*key[:3], key[3] + step), -1) for step in (-1, 1)]
        return beside

    @cached_property
    def _levels(self) -> _Coded:
        return _Coded(self.columns.levels)

    @cached_property
    def _datasets(self) -> _Coded:
        return _Coded(self.columns.dataset_ids.tolist())

    @cached_property
    def _sources(self) -> _Coded:
        return _Coded(self.columns.sources)

    @cached_property
    def _tfidf(self) -> TfidfIndex:
        stamp = self._stamp("stems")
        return opened(TfidfIndex, self._folder("tfidf"), self._label("TF-IDF index"), stamp,
                      lambda: TfidfIndex.build(self.source.texts()), self.notices.append)  # fmt: skip

    @cached_property
    def _bm25(self) -> BM25Index:
        stamp = self._stamp(BM25Index.space)
        return opened(BM25Index, self._folder("bm25"), self._label("BM25 index"), stamp,
                      lambda: BM25Index.build(self.source.texts()), self.notices.append)  # fmt: skip

    @cached_property
    def _vectors(self) -> FaissIndex:
        stamp = self._stamp("cosine") | {"embedder": self.embedder.model_id}
        return opened(FaissIndex, self._folder("vectors"), self._label("vector index"), stamp,
                      self._embedded, self.notices.append)  # fmt: skip

    def _embedded(self) -> FaissIndex:
        vectors = self.source.vectors(self.embedder)
        without = int((~(np.isfinite(vectors).all(axis=1) & vectors.any(axis=1))).sum())
        if without:
            self.notices.append(f"{without} of {len(vectors)} {self.source.kind}s have no vector (no words, or the "
                                "model gave none) and are found by words only.")  # fmt: skip
        return FaissIndex.build(vectors)

    def _stamp(self, parameters: str) -> dict[str, object]:
        return {"content": self.source.fingerprint, "rows": len(self), "parameters": parameters}

    def _folder(self, index: str) -> Path | None:
        key = sha256(self.source.key.encode()).hexdigest()[:16]
        return self._index_dir / f"{self.source.kind}-{key}" / index if self._index_dir else None

    def _label(self, index: str) -> str:
        return f"{index} of {self.source.kind}s"


class _Coded:
    """A column as one small number a row, so that a filter looks at its distinct values only."""

    def __init__(self, values: Iterable[object]) -> None:
        self._numbers: dict[object, int] = {}
        coded = (self._numbers.setdefault(value, len(self._numbers)) for value in values)
        self._codes = np.fromiter(coded, dtype=np.int32)

    def verdicts(self, wanted: Iterable[object], *, other: bool) -> Mask | None:
        """(n,) ``not other`` for rows with one of the ``wanted`` values, ``other`` for the rest; None: all True."""
        by_value = np.full(len(self._numbers), other)
        by_value[[self._numbers[value] for value in wanted if value in self._numbers]] = not other
        return None if by_value.all() else by_value[self._codes]
