"""What an index answers. Rows are numbered 0 … n−1 in the corpus's order; a mask keeps a filter inside the search."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]
Scores = NDArray[np.float32]
Mask = NDArray[np.bool_]
"""(n,) True where a row may be returned."""


class VectorIndex(Protocol):
    """Cosine search over unit vectors; rows without a vector (a text without tokens) are never returned."""

    def __len__(self) -> int: ...

    def search(self, query: Scores, k: int, mask: Mask | None = None) -> tuple[Rows, Scores]:
        """The best ``min(k, number of rows with a vector under the mask)`` rows, by (−cosine, row). Never underfilled:
        where an approximate search would return fewer, it searches wider and finally exactly."""
        ...

    def vectors(self, rows: Rows) -> Scores:
        """(m, dim) float32; zeros for rows without a vector."""
        ...


class LexicalIndex(Protocol):
    """Scores of every row for a question; ``(n,)`` float32, 0 where no term is shared."""

    def __len__(self) -> int: ...

    @property
    def space(self) -> str: ...

    def scores(self, question: str) -> Scores: ...
