"""A vector index whose vectors a server keeps. Candidates come from the server, the order and the cosines from here."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.errors import ChangedError
from core.index.base import NOISE, Mask, Rows, Scores, cosines, ranked
from core.index.table import Scope, VectorTable
from core.records import Dataset


class ServedIndex:
    """n rows of some datasets, of which ``left_out`` have no vector. What it finds is what FAISS would find, to the bit:
    servers sum in orders of their own, so each candidate's cosine is computed here, from its vector."""

    def __init__(
        self, table: VectorTable, datasets: Sequence[Dataset], row_ids: Rows, left_out: Rows, dim: int
    ) -> None:
        self._table = table
        self._datasets = list(datasets)
        self._row_ids = row_ids  # ascending
        self._dim = dim
        self._has = np.ones(len(row_ids), dtype=bool)
        self._has[left_out] = False

    def __len__(self) -> int:
        return len(self._row_ids)

    @property
    def exact(self) -> bool:
        """Whether an unfiltered search looks at every vector."""
        return self._table.exact

    @property
    def left_out(self) -> Rows:
        """Rows without a vector, ascending."""
        return np.flatnonzero(~self._has)

    def search(self, query: Scores, k: int, mask: Mask | None = None) -> tuple[Rows, Scores]:
        """The best rows under the mask by (−cosine, row); never fewer than there are, up to ``k``.

        Raises:
            ChangedError: rows went away meanwhile.
        """
        members = self._has if mask is None else self._has & mask
        count = int(np.count_nonzero(members))
        wanted = min(k, count)
        if wanted <= 0:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)
        if not query.any():  # all are equally near, and come in row order
            return np.flatnonzero(members)[:wanted], np.zeros(wanted, dtype=np.float32)
        scope = Scope(
            datasets=self._datasets,
            last_row=int(self._row_ids[-1]),
            members=None if count == np.count_nonzero(self._has) else self._row_ids[members],
            count=count,
        )
        found = self._near(query, wanted, scope)
        return found if found is not None else self._exactly(query, wanted, scope)

    def vectors(self, rows: Rows) -> Scores:
        """(m, dim) float32; zeros for rows without a vector."""
        distinct, inverse = np.unique(rows, return_inverse=True)
        places, stored = self._placed(*self._table.fetch(self._datasets, self._row_ids[distinct]))
        if len(places) != np.count_nonzero(self._has[distinct]):
            raise _changed()
        table = np.zeros((len(distinct), self._dim), dtype=np.float32)
        table[np.searchsorted(distinct, places)] = stored
        return table[inverse]

    def cosines(self, query: Scores, rows: Rows) -> Scores:
        """(m,) true cosines; 0 for rows without a vector."""
        return cosines(self.vectors(rows), query)

    def _near(self, query: Scores, wanted: int, scope: Scope) -> tuple[Rows, Scores] | None:
        found = self._table.near(query, wanted, scope)
        if found is None:
            return None
        places, stored = self._placed(*found)
        return ranked(places, cosines(stored, query), wanted) if len(places) >= wanted else None

    def _exactly(self, query: Scores, wanted: int, scope: Scope) -> tuple[Rows, Scores]:
        """With all that the server cannot tell from the last of the ``wanted``."""
        fetched = min(scope.count, wanted + 8)
        while True:
            places, stored = self._placed(*self._table.nearest(query, fetched, scope))
            if len(places) < fetched:
                raise _changed()
            rows, found = ranked(places, cosines(stored, query), len(places))
            if fetched == scope.count or found[wanted - 1] - found[-1] > NOISE:
                return rows[:wanted], found[:wanted]
            fetched = min(scope.count, 4 * fetched)

    def _placed(self, row_ids: Rows, vectors: Scores) -> tuple[Rows, Scores]:
        """Row numbers instead of the store's ids; rows that came in meanwhile are left out."""
        if not len(row_ids):
            return np.empty(0, dtype=np.int64), np.empty((0, self._dim), dtype=np.float32)
        places = np.minimum(np.searchsorted(self._row_ids, row_ids), len(self._row_ids) - 1)
        known = self._row_ids[places] == row_ids
        return places[known], vectors[known]


def _changed() -> ChangedError:
    return ChangedError("the dataset changed while it was being asked; ask again")
