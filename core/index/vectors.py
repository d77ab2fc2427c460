"""Cosine search with FAISS: exact up to 50,000 vectors, HNSW above. The only module that knows FAISS."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from core.index.base import NOISE, Mask, Rows, Scores, cosines, ranked
from core.progress import bar

FLAT_LIMIT = 50_000
"""Vectors up to which every search is exact."""
FILTER_LIMIT = 200_000
"""Members of a filter up to which they are searched exactly: HNSW loses recall under a filter, and the exact search of
100,000 members takes some 8 ms."""
HNSW_LINKS = 32
BUILD_DEPTH = 200
LEAST_DEPTH = 128
DEPTH_FACTOR = 4
GRAPH_GAIN = 25
"""Searching the graph this deep costs about as much as looking at this many times as many vectors."""
BLOCK = 2_000
"""Vectors that are added to a graph at once."""
FILE, ROWS_FILE = "vectors.faiss", "vectors.npy"


class FaissIndex:
    """Rows that have a vector, by inner product of unit vectors.

    A row's cosine is the same number to the last bit whichever way it is asked for. HNSW: Malkov & Yashunin, 2018,
    M = 32, efConstruction = 200, efSearch = max(128, 4k).
    """

    def __init__(self, index: Any, rows: Rows, size: int) -> None:
        self._index = index
        self._rows = rows  # ascending; FAISS numbers them 0 … len(rows) − 1
        self._size = size
        self._flat = index if self.exact else _faiss().downcast_index(index.storage)

    @classmethod
    def build(cls, vectors: Scores, *, flat_limit: int = FLAT_LIMIT) -> FaissIndex:
        """``from_blocks`` of one block, (n, dim)."""
        return cls.from_blocks([vectors], int(vectors.shape[1]), flat_limit=flat_limit)

    @classmethod
    def from_blocks(cls, blocks: Iterable[Scores], dim: int, *, flat_limit: int = FLAT_LIMIT) -> FaissIndex:
        """From unit rows, block by block; a row of zeros, or one that is not finite, has no vector and is never found.

        The same vectors give the same index however they are cut into blocks: a graph is built by one thread (100,000
        vectors in about two minutes). Beside the index at most ``flat_limit`` vectors are in memory at once.
        """
        faiss = _faiss()
        index = faiss.IndexFlatIP(dim)
        rows = [np.empty(0, dtype=np.int64)]
        size = 0
        with _one_thread(), bar("vector index", unit="vectors") as progress:
            for block in _recut(blocks, BLOCK):
                sound = np.isfinite(block).all(axis=1) & block.any(axis=1)
                rows.append(size + np.flatnonzero(sound))
                size += len(block)
                index.add(np.ascontiguousarray(block[sound], dtype=np.float32))
                if index.ntotal > flat_limit and not hasattr(index, "hnsw"):
                    index = _graph_of(index)
                progress(len(block))
        return cls(index, np.concatenate(rows), size)

    def __len__(self) -> int:
        return self._size

    @property
    def exact(self) -> bool:
        """Whether an unfiltered search looks at every vector."""
        return not hasattr(self._index, "hnsw")

    @property
    def left_out(self) -> Rows:
        """Rows without a vector, ascending."""
        return np.setdiff1d(np.arange(self._size), self._rows, assume_unique=True)

    def search(self, query: Scores, k: int, mask: Mask | None = None) -> tuple[Rows, Scores]:
        """The best rows under the mask by (−cosine, row); never fewer than there are, up to ``k``."""
        members = np.ones(len(self._rows), dtype=bool) if mask is None else mask[self._rows]
        count = int(np.count_nonzero(members))
        wanted = min(k, count)
        if wanted <= 0:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)
        places = self._near(query, wanted, count, members)
        if places is None:
            places = self._exactly(query, wanted, count, members)
        places, found = ranked(places, self._cosines(query, places), wanted)
        return self._rows[places], found

    def vectors(self, rows: Rows) -> Scores:
        """(m, dim) float32; zeros for rows without a vector."""
        found = np.zeros((len(rows), self._index.d), dtype=np.float32)
        places, has = self._places(rows)
        found[has] = self._stored()[places[has]]
        return found

    def cosines(self, query: Scores, rows: Rows) -> Scores:
        """(m,) true cosines; 0 for rows without a vector."""
        found = np.zeros(len(rows), dtype=np.float32)
        places, has = self._places(rows)
        found[has] = self._cosines(query, places[has])
        return found

    def save(self, folder: Path) -> None:
        """Writes ``FILE`` and ``ROWS_FILE`` into ``folder``."""
        faiss = _faiss()
        faiss.write_index(self._index, str(folder / FILE))
        np.save(folder / ROWS_FILE, np.append(self._rows, self._size), allow_pickle=False)

    @classmethod
    def load(cls, folder: Path) -> FaissIndex:
        """Reads what ``save`` wrote."""
        faiss = _faiss()
        rows = np.load(folder / ROWS_FILE, allow_pickle=False)
        return cls(faiss.read_index(str(folder / FILE)), rows[:-1], int(rows[-1]))

    def _near(self, query: Scores, wanted: int, count: int, members: Mask) -> Rows | None:
        """``wanted`` places found by the graph; None where the exact search is as fast, or surer."""
        filtered = count < len(members)
        depth = int(max(LEAST_DEPTH, DEPTH_FACTOR * wanted) * len(members) / count)
        if self.exact or (filtered and count <= FILTER_LIMIT):
            return None
        selector = _selector(members) if filtered else None
        while depth * GRAPH_GAIN < count:
            parameters = _faiss().SearchParametersHNSW(efSearch=depth, sel=selector)
            _, (places,) = self._index.search(query[None, :], wanted, params=parameters)
            if (places >= 0).all():
                return np.asarray(places, dtype=np.int64)
            depth *= 4  # the filter left too little of the graph: look wider
        return None

    def _exactly(self, query: Scores, wanted: int, count: int, members: Mask) -> Rows:
        """Places of at least the ``wanted`` best, with all that FAISS cannot tell from the last of them.

        A selector of everything is not idle: it keeps FAISS on its path for one query, several times faster.
        """
        parameters = _faiss().SearchParameters(sel=_selector(members))
        fetched = min(count, wanted + 8)
        while True:
            (found,), (places,) = self._flat.search(query[None, :], fetched, params=parameters)
            if fetched == count or found[wanted - 1] - found[-1] > NOISE:
                return np.asarray(places, dtype=np.int64)
            fetched = min(count, 4 * fetched)

    def _cosines(self, query: Scores, places: Rows) -> Scores:
        return cosines(self._stored()[places], query)

    def _stored(self) -> Scores:
        """(vectors, dim) float32: FAISS's own memory, valid while the index lives."""
        flat, count = self._flat, len(self._rows)
        if not count:
            return np.zeros((0, flat.d), dtype=np.float32)
        stored: Scores = _faiss().rev_swig_ptr(flat.get_xb(), count * flat.d).reshape(count, flat.d)
        return stored

    def _places(self, rows: Rows) -> tuple[Rows, Mask]:
        """FAISS's numbers of ``rows`` (m,), and whether each has a vector at all."""
        if not len(self._rows):
            return np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=bool)
        places = np.minimum(np.searchsorted(self._rows, rows), len(self._rows) - 1)
        return places, self._rows[places] == rows


def _faiss() -> Any:
    """Imported when first used; its type stubs do not know all of it."""
    import faiss

    return faiss


def _graph_of(flat: Any) -> Any:
    """A graph over the vectors of a flat index, which it takes over block by block."""
    faiss = _faiss()
    graph = faiss.IndexHNSWFlat(flat.d, HNSW_LINKS, faiss.METRIC_INNER_PRODUCT)
    graph.hnsw.efConstruction = BUILD_DEPTH
    for start in range(0, flat.ntotal, BLOCK):
        graph.add(flat.reconstruct_n(start, min(BLOCK, flat.ntotal - start)))
    return graph


def _recut(blocks: Iterable[Scores], size: int) -> Iterator[Scores]:
    """The same rows in blocks of ``size``; the last may be smaller."""
    left: list[Scores] = []
    for block in blocks:
        left.append(block)
        while sum(map(len, left)) >= size:
            joined = np.concatenate(left)
            yield joined[:size]
            left = [joined[size:]]
    if any(map(len, left)):
        yield np.concatenate(left)


def _selector(members: Mask) -> Any:
    return _faiss().IDSelectorBitmap(np.packbits(members, bitorder="little"))


@contextmanager
def _one_thread() -> Iterator[None]:
    """Several threads would link a graph in the order they happen to run."""
    faiss = _faiss()
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(threads)
