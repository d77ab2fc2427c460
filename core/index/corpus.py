"""A corpus: the searchable rows of one kind, with the indexes over them, each opened or built when first used."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sized
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from threading import RLock
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from core.errors import ChangedError
from core.index.base import Mask, Rows, VectorIndex
from core.index.bm25 import BM25Index
from core.index.choice import FaissSettings
from core.index.persist import opened
from core.index.tfidf import TfidfIndex
from core.index.vectors import FaissIndex
from core.models.base import Embedder, FloatArray
from core.store import Columns

Index = TypeVar("Index", bound=Sized)
NAMED = 3
"""Sources that a notice names."""


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

    def vectors(self, embedder: Embedder) -> Iterator[FloatArray]: ...


Served = Callable[[Rows, Callable[[str], None]], VectorIndex | None]
"""Opens the vector index of the rows of these ids at a server; None where FAISS is to make one in memory."""


class Corpus:
    """n rows, numbered 0 … n−1 in the order of their row ids. ``notices`` collects what had to be rebuilt."""

    def __init__(
        self,
        source: CorpusSource,
        index_dir: Path | None,
        embedder: Embedder,
        notices: list[str] | None = None,
        *,
        served: Served | None = None,
        faiss: FaissSettings = FaissSettings(),
    ) -> None:
        self.source = source
        self.embedder = embedder
        self.notices = notices if notices is not None else []
        self._index_dir = index_dir
        self._served = served
        self._settings = faiss
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
    def vectors(self) -> VectorIndex:
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
        """(n, 2) the rows one position before and after in the same session, source and level; −1 for none."""
        columns = self.columns
        beside = np.full((len(self), 2), -1, dtype=np.int64)
        runs = zip(
            columns.dataset_ids.tolist(), columns.sources, columns.levels, columns.sessions, strict=True
        )
        keys = [None if run[-1] is None or position is None else (run, position)
                for run, position in zip(runs, columns.positions, strict=True)]  # fmt: skip
        rows = {key: row for row, key in enumerate(keys) if key is not None}
        for (run, position), row in rows.items():
            beside[row] = [rows.get((run, position + step), -1) for step in (-1, 1)]
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
                      lambda: self._whole(TfidfIndex.build(self.source.texts())), self.notices.append)  # fmt: skip

    @cached_property
    def _bm25(self) -> BM25Index:
        stamp = self._stamp(BM25Index.space)
        return opened(BM25Index, self._folder("bm25"), self._label("BM25 index"), stamp,
                      lambda: self._whole(BM25Index.build(self.source.texts())), self.notices.append)  # fmt: skip

    @cached_property
    def _vectors(self) -> VectorIndex:
        index = self._served(self.columns.row_ids, self.notices.append) if self._served else None
        if index is None:
            index = self._faiss(None if self._served else self._folder("vectors"))
        self._note_left_out(index)
        return index

    def _faiss(self, folder: Path | None) -> FaissIndex:
        stamp = self._stamp("cosine") | {"embedder": self.embedder.model_id}

        def build() -> FaissIndex:
            blocks = self.source.vectors(self.embedder)
            return FaissIndex.from_blocks(blocks, self.embedder.dim, flat_limit=self._settings.exact_below)

        return opened(FaissIndex, folder, self._label("vector index"), stamp, lambda: self._whole(build()),
                      self.notices.append)  # fmt: skip

    def _whole(self, index: Index) -> Index:
        if len(index) != len(self):
            raise ChangedError(
                f"the {self.source.kind}s changed while they were indexed ({len(self)} rows, then {len(index)}); "
                "ask again"
            )
        return index

    def _note_left_out(self, index: VectorIndex) -> None:
        rows = index.left_out.tolist()
        if rows:
            sources = list(dict.fromkeys(filter(None, (self.columns.sources[row] for row in rows))))
            named = ", ".join(sources[:NAMED]) + (" …" if len(sources) > NAMED else "")
            self.notices.append(
                f"{len(rows)} of {len(self)} {self.source.kind}s have no vector (no words, or the model gave none) "
                f"and are found by words only{': ' + named if named else ''}."
            )

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
