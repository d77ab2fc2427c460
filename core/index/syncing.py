"""Bringing a server's vectors to what the store holds. The store is the truth: they can be checked and made anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.errors import ChangedError
from core.index.base import Rows
from core.index.source import StoreCorpus
from core.index.table import VectorTable
from core.models.base import Embedder
from core.progress import bar
from core.records import Dataset

BLOCK = 4096
"""Rows that are brought at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Rows of a dataset that a table lacks, and rows it should not have, of ``rows`` in all."""

    rows: int
    missing: int
    stray: int


def bring(source: StoreCorpus, table: VectorTable, embedder: Embedder) -> None:
    """Adds and removes rows until the table holds what the store does; what is there already is left alone.

    Raises:
        ChangedError: the store changed meanwhile. ModelError: the datasets are embedded with another model.
    """
    stale = _stale(source.datasets, table)
    if stale:
        source.embed(embedder)  # hours, perhaps: before anything is locked
    for dataset in stale:
        with table.writing(dataset):
            if _stale([dataset], table):  # another process may have been first
                _bring_one(source, table, embedder, dataset)
                table.finish(dataset)
    table.prepare()


def differences(source: StoreCorpus, table: VectorTable) -> dict[str, Difference]:
    """Dataset name → what ``bring`` would do, whatever revision the table says it is of."""
    found = {}
    for dataset in source.datasets:
        row_ids, _, drop, add = _compared(source, table, dataset)
        found[dataset.name] = Difference(rows=len(row_ids), missing=len(add), stray=len(drop))
    return found


def current(datasets: Sequence[Dataset], table: VectorTable) -> bool:
    """Whether the table holds these datasets as they are now."""
    return not _stale(datasets, table)


def _stale(datasets: Sequence[Dataset], table: VectorTable) -> list[Dataset]:
    there = table.revisions(datasets)
    if any(there.get(dataset.uid, -1) > dataset.revision for dataset in datasets):
        raise ChangedError("the dataset changed while it was being opened; ask again")
    return [dataset for dataset in datasets if there.get(dataset.uid) != dataset.revision]


def _bring_one(source: StoreCorpus, table: VectorTable, embedder: Embedder, dataset: Dataset) -> None:
    row_ids, hashes, drop, add = _compared(source, table, dataset)
    if len(drop):
        table.drop(dataset, drop)
    with bar(f"vectors to {table.place}", total=len(add), unit="vectors") as progress:
        for start in range(0, len(add), BLOCK):
            block = add[start : start + BLOCK]
            wanted = [hashes[place] for place in block]
            table.put(dataset, row_ids[block], wanted, source.cached(embedder, wanted))
            progress(len(block))


def _compared(
    source: StoreCorpus, table: VectorTable, dataset: Dataset
) -> tuple[Rows, list[str], Rows, Rows]:
    """The store's row ids and hashes of a dataset; ids that are not to stay; places of rows that are to come."""
    row_ids, hashes = source.hashed(dataset)
    wanted = dict(zip(row_ids.tolist(), hashes, strict=True))
    drop, kept = [], set()
    for row_id, text_hash in table.hashes(dataset):
        if wanted.get(row_id) == text_hash:
            kept.add(row_id)
        else:
            drop.append(row_id)
    add = [place for place, row_id in enumerate(row_ids.tolist()) if row_id not in kept]
    return row_ids, hashes, np.array(drop, dtype=np.int64), np.array(add, dtype=np.int64)
