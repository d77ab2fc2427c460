"""What a server keeps for a vector index: the vectors of one kind of rows by one model, of any number of datasets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from core.index.base import Rows, Scores
from core.records import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Where a search looks: rows of these datasets up to ``last_row``; of them only ``members`` unless it is None.

    ``members`` are store row ids, ascending; ``count`` says how many rows with a vector there are in all.
    """

    datasets: Sequence[Dataset]
    last_row: int
    members: Rows | None
    count: int


class VectorTable(Protocol):
    """Row ids are the store's. A row is kept with the hash of its text, and without a vector where its text has none."""

    @property
    def place(self) -> str: ...

    def revisions(self, datasets: Sequence[Dataset]) -> dict[str, int]:
        """Dataset uid → the revision it was last brought to; those that never were are left out."""
        ...

    def writing(self, dataset: Dataset) -> AbstractContextManager[None]:
        """One writer of a dataset at a time; where the server has transactions, all of it or nothing."""
        ...

    def hashes(self, dataset: Dataset) -> Iterator[tuple[int, str]]:
        """Row id and text hash of every row that is kept."""
        ...

    def put(self, dataset: Dataset, row_ids: Rows, hashes: Sequence[str], vectors: Scores) -> None:
        """Adds rows; a vector of zeros says that there is none."""
        ...

    def drop(self, dataset: Dataset, row_ids: Rows) -> None:
        """Removes rows."""
        ...

    def finish(self, dataset: Dataset) -> None:
        """Notes that the dataset is here as of its revision: the last thing a writer does."""
        ...

    def prepare(self) -> None:
        """Makes the graph where there are enough rows for one."""
        ...

    def forget(self, datasets: Sequence[Dataset]) -> None:
        """Removes all that is kept of these datasets."""
        ...

    @property
    def exact(self) -> bool:
        """Whether there is no graph, so that every search looks at every vector."""
        ...

    def without_vector(self, datasets: Sequence[Dataset]) -> Rows:
        """Ids of the rows that are kept without a vector, ascending."""
        ...

    def fetch(self, datasets: Sequence[Dataset], row_ids: Rows) -> tuple[Rows, Scores]:
        """Those of the rows that have a vector, with it, in any order."""
        ...

    def nearest(self, query: Scores, count: int, scope: Scope) -> tuple[Rows, Scores]:
        """The ``count`` rows of greatest inner product with their vectors, of all there are, as the server sums."""
        ...

    def near(self, query: Scores, count: int, scope: Scope) -> tuple[Rows, Scores] | None:
        """The same by the graph, at times not quite the best or fewer; None where ``nearest`` is as fast, or surer."""
        ...
