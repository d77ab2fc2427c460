"""Cosine search with FAISS: exact up to 50,000 vectors, HNSW above. The only module that knows FAISS."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from core.index.base import Mask, Rows, Scores

FLAT_LIMIT = 50_000
"""Vectors up to which every search is exact; also how many members of a filter are searched exactly."""
HNSW_LINKS = 32
BUILD_DEPTH = 200
LEAST_DEPTH = 128
FILE, ROWS_FILE = "vectors.faiss", "vectors.npy"


class FaissIndex:
    """Rows that have a vector, by inner product of unit vectors.

    HNSW: Malkov & Yashunin, 2018, M = 32, efConstruction = 200, efSearch = max(128, 2k), deeper by as much as a
    filter leaves fewer rows.
    """

    def __init__(self, index: Any, rows: Rows, size: int) -> None:
        self._index = index
        self._rows = rows  # ascending; FAISS numbers them 0 … len(rows) − 1
        self._size = size

    @classmethod
    def build(cls, vectors: Scores, *, flat_limit: int = FLAT_LIMIT) -> FaissIndex:
        """From (n, dim) unit rows; a row of zeros, or one that is not finite, has no vector and is never found."""
        faiss = _faiss()
        sound = np.isfinite(vectors).all(axis=1) & vectors.any(axis=1)
        rows = np.flatnonzero(sound)
        dim = int(vectors.shape[1])
        index = faiss.IndexFlatIP(dim)
        if len(rows) > flat_limit:
            index = faiss.IndexHNSWFlat(dim, HNSW_LINKS, faiss.METRIC_INNER_PRODUCT)
            index.hnsw.efConstruction = BUILD_DEPTH
        if len(rows):
            index.add(np.ascontiguousarray(vectors[rows], dtype=np.float32))
        return cls(index, rows, len(vectors))

    def __len__(self) -> int:
        return self._size

    @property
    def exact(self) -> bool:
        """Whether an unfiltered search looks at every vector."""
        return not hasattr(self._index, "hnsw")

    def search(self, query: Scores, k: int, mask: Mask | None = None) -> tuple[Rows, Scores]:
        """The best rows under the mask by (−cosine, row); never fewer than there are, up to ``k``."""
        members = np.arange(len(self._rows)) if mask is None else np.flatnonzero(mask[self._rows])
        wanted = min(k, len(members))
        if wanted <= 0:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)
        if self.exact or len(members) <= FLAT_LIMIT:
            return self._exactly(query, wanted, members)
        return self._graph(query, wanted, members, filtered=mask is not None)

    def vectors(self, rows: Rows) -> Scores:
        """(m, dim) float32; zeros for rows without a vector."""
        found = np.zeros((len(rows), self._index.d), dtype=np.float32)
        place = np.minimum(np.searchsorted(self._rows, rows), max(0, len(self._rows) - 1))
        has = self._rows[place] == rows if len(self._rows) else np.zeros(len(rows), dtype=bool)
        found[has] = self._stored[place[has]]
        return found

    def cosines(self, query: Scores, rows: Rows) -> Scores:
        """(m,) true cosines; 0 for rows without a vector."""
        cosines: Scores = np.vecdot(self.vectors(rows), query)
        return cosines

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

    @cached_property
    def _stored(self) -> Scores:
        """(rows with a vector, dim), a view of FAISS's own memory."""
        faiss = _faiss()
        flat = self._index if self.exact else faiss.downcast_index(self._index.storage)
        dim = int(self._index.d)
        if not len(self._rows):
            return np.zeros((0, dim), dtype=np.float32)
        stored: Scores = faiss.rev_swig_ptr(flat.get_xb(), len(self._rows) * dim).reshape(-1, dim)
        return stored

    def _exactly(self, query: Scores, wanted: int, members: Rows) -> tuple[Rows, Scores]:
        if self.exact and len(members) == len(self._rows):
            cosines, places = self._index.search(query[None, :], min(wanted + 1, len(members)))
            if wanted == len(members) or cosines[0, wanted - 1] > cosines[0, wanted]:
                return self._ordered(places[0], cosines[0], wanted)
            # the last place is tied: FAISS picks any of the equal ones, below the first row is taken
        # vecdot, not matmul: one thread, since a few megabytes are read before a second one has woken up
        cosines = np.concatenate([np.vecdot(self._stored[block], query) for block in _blocks(members)])
        best = np.argpartition(-cosines, wanted - 1)
        best = np.flatnonzero(cosines >= cosines[best[wanted - 1]])  # with all that tie with the last
        order = np.lexsort((members[best], -cosines[best]))[:wanted]
        return self._rows[members[best][order]], cosines[best][order].astype(np.float32)

    def _graph(self, query: Scores, wanted: int, members: Rows, *, filtered: bool) -> tuple[Rows, Scores]:
        faiss = _faiss()
        selector = faiss.IDSelectorBatch(members) if filtered else None
        depth = max(LEAST_DEPTH, 2 * wanted) * len(self._rows) // len(members)
        while depth <= 2 * len(self._rows):
            parameters = faiss.SearchParametersHNSW(efSearch=depth, sel=selector)
            cosines, places = self._index.search(query[None, :], wanted, params=parameters)
            if (places[0] >= 0).all():
                return self._ordered(places[0], cosines[0], wanted)
            depth *= 4  # the filter left too little of the graph: look wider
        return self._exactly(query, wanted, members)

    def _ordered(self, places: Rows, cosines: Scores, wanted: int) -> tuple[Rows, Scores]:
        order = np.lexsort((places, -cosines))[:wanted]
        return self._rows[places[order]], cosines[order].astype(np.float32)


def _faiss() -> Any:
    """Imported when first used; its type stubs do not know all of it."""
    import faiss

    return faiss


def _blocks(members: Rows, size: int = 16_384) -> list[Rows]:
    return [members[start : start + size] for start in range(0, len(members), size)]
