"""What an index answers. Rows are numbered 0 … n−1 in the corpus's order; a mask keeps a filter inside the search."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]
Scores = NDArray[np.float32]
Mask = NDArray[np.bool_]
"""(n,) True where a row may be returned."""
NOISE = 1e-6
"""How far a library's sums may lie from those that order the result; hits this close to the last are all looked at."""


class VectorIndex(Protocol):
    """Cosine search over unit vectors; rows without a vector (a text without tokens) are never returned.

    A row's cosine is the same number to the last bit whichever way it is asked for, and from whichever index.
    """

    def __len__(self) -> int: ...

    @property
    def exact(self) -> bool:
        """Whether an unfiltered search looks at every vector."""
        ...

    @property
    def left_out(self) -> Rows:
        """Rows without a vector, ascending."""
        ...

    def search(self, query: Scores, k: int, mask: Mask | None = None) -> tuple[Rows, Scores]:
        """The best ``min(k, number of rows with a vector under the mask)`` rows, by (−cosine, row). Never underfilled:
        where an approximate search would return fewer, it searches wider and finally exactly."""
        ...

    def vectors(self, rows: Rows) -> Scores:
        """(m, dim) float32; zeros for rows without a vector."""
        ...

    def cosines(self, query: Scores, rows: Rows) -> Scores:
        """(m,) true cosines; 0 for rows without a vector."""
        ...


class LexicalIndex(Protocol):
    """Scores of every row for a question; ``(n,)`` float32, 0 where no term is shared."""

    def __len__(self) -> int: ...

    @property
    def space(self) -> str: ...

    def scores(self, question: str) -> Scores: ...


def cosines(vectors: Scores, query: Scores) -> Scores:
    """(m,) inner products of (m, dim) rows with (dim,), each row summed by itself: a matrix product's last bits would
    depend on how many rows stand beside it."""
    found: Scores = np.einsum("ij,j->i", vectors, query)
    return found


def ranked(places: Rows, found: Scores, wanted: int) -> tuple[Rows, Scores]:
    """The ``wanted`` best of some rows by (−cosine, row)."""
    order = np.lexsort((places, -found))[:wanted]
    return places[order], found[order]
