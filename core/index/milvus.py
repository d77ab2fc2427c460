"""Vectors in Milvus: a cluster, one server, or a local file (Milvus Lite). The only module that knows pymilvus.

One collection for each kind of rows and model, of the datasets of any number of stores; the store stays the truth.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from typing import Any

import numpy as np

from core.errors import StoreError, UsageError
from core.index.base import Rows, Scores, cosines
from core.index.choice import MilvusSettings
from core.index.table import Scope
from core.records import Dataset

MOST_HITS = 16_384
"""Hits that Milvus gives at most, and rows that are read or named in a filter at once."""
MOST_DEPTH = 2 * MOST_HITS
SENT = 2048
"""Rows that are written at once."""
TIMEOUT_SECONDS = 60
NAME_LENGTH = 128
REVISIONS = "assay_revisions"


class MilvusTable:
    """Fields: place (dataset and row id, the key), dataset, row id, hash of the text, vector and whether there is one.

    Milvus has no transactions: rows are written before the revision is noted, and written again if that did not come to
    pass. A token is read from ``ASSAY_MILVUS_TOKEN``.
    """

    def __init__(self, address: str, kind: str, model_id: str, dim: int, settings: MilvusSettings) -> None:
        self._library = _library()
        self.place = address
        self._settings = settings
        self._dim = dim
        self._name = f"assay_{kind}_{sha256(model_id.encode()).hexdigest()[:12]}_{dim}"
        with self._errors():
            self._client = self._opened(address)
            self._make()
            self._rows_kept = self._count()
        self.exact = self._index_type() == "FLAT"

    def revisions(self, datasets: Sequence[Dataset]) -> dict[str, int]:
        """Dataset uid → the revision it was last brought to."""
        with self._errors():
            found = self._client.get(
                REVISIONS,
                ids=[self._key(dataset) for dataset in datasets],
                output_fields=["dataset", "revision"],
            )
        return {str(row["dataset"]): int(row["revision"]) for row in found}

    @contextmanager
    def writing(self, dataset: Dataset) -> Iterator[None]:
        """Nothing to lock: two writers of one revision write the same rows under the same keys."""
        yield

    def hashes(self, dataset: Dataset) -> Iterator[tuple[int, str]]:
        """Row id and text hash of every row that is kept."""
        for row in self._all(f'dataset == "{dataset.uid}"', ["row_id", "text_hash"]):
            yield int(row["row_id"]), str(row["text_hash"])

    def put(self, dataset: Dataset, row_ids: Rows, hashes: Sequence[str], vectors: Scores) -> None:
        """Adds rows; a vector of zeros is kept as none."""
        rows = [
            {
                "place": f"{dataset.uid}/{row_id}",
                "dataset": dataset.uid,
                "row_id": row_id,
                "text_hash": text_hash,
                "has_vector": bool(vector.any()),
                "vector": vector,
            }
            for row_id, text_hash, vector in zip(row_ids.tolist(), hashes, vectors, strict=True)
        ]
        with self._errors():
            for start in range(0, len(rows), SENT):
                self._client.upsert(self._name, rows[start : start + SENT])

    def drop(self, dataset: Dataset, row_ids: Rows) -> None:
        """Removes rows."""
        places = [f"{dataset.uid}/{row_id}" for row_id in row_ids.tolist()]
        with self._errors():
            for start in range(0, len(places), SENT):
                self._client.delete(self._name, ids=places[start : start + SENT])

    def finish(self, dataset: Dataset) -> None:
        """Notes that the dataset is here as of its revision."""
        row = {
            "place": self._key(dataset),
            "dataset": dataset.uid,
            "revision": dataset.revision,
            "vector": [0.0, 0.0],
        }
        with self._errors():
            self._client.upsert(REVISIONS, [row])

    def prepare(self) -> None:
        """Makes the graph where there is none and more rows than are searched exactly."""
        with self._errors():
            self.exact = self._index_type() == "FLAT"
            self._rows_kept = self._count()
            if self.exact and self._rows_kept > self._settings.exact_below:
                self._client.flush(self._name)
                self._client.release_collection(self._name)
                self._client.drop_index(self._name, "vector")
                self._client.create_index(self._name, self._index("HNSW"))
                self._client.load_collection(self._name)
                self.exact = False

    def forget(self, datasets: Sequence[Dataset]) -> None:
        """Removes all that is kept of these datasets."""
        with self._errors():
            self._client.delete(REVISIONS, ids=[self._key(dataset) for dataset in datasets])
            self._client.delete(self._name, filter=_among(datasets))

    def without_vector(self, datasets: Sequence[Dataset]) -> Rows:
        """Ids of the rows that are kept without a vector, ascending."""
        found = self._all(f"{_among(datasets)} and has_vector == false", ["row_id"])
        return np.array(sorted(int(row["row_id"]) for row in found), dtype=np.int64)

    def fetch(self, datasets: Sequence[Dataset], row_ids: Rows) -> tuple[Rows, Scores]:
        """Those of the rows that have a vector, with it, in any order."""
        found: list[dict[str, Any]] = []
        with self._errors():
            for start in range(0, len(row_ids), MOST_HITS):
                named = row_ids[start : start + MOST_HITS].tolist()
                where = f"{_among(datasets)} and row_id in {named} and has_vector == true"
                found += self._client.query(
                    self._name, filter=where, output_fields=["row_id", "vector"], limit=MOST_HITS
                )
        return self._arrays(found)

    def nearest(self, query: Scores, count: int, scope: Scope) -> tuple[Rows, Scores]:
        """The ``count`` best of all there are: by Milvus where it looks at all, else read and compared here."""
        listed = scope.members is None or len(scope.members) <= MOST_HITS
        if self.exact and listed and count <= MOST_HITS:
            return self._search(query, count, _filter(scope), {})
        best_rows, best = np.empty(0, dtype=np.int64), np.empty((0, self._dim), dtype=np.float32)
        for row_ids, vectors in self._blocks(scope):
            rows, stored = np.concatenate([best_rows, row_ids]), np.concatenate([best, vectors])
            kept = np.argsort(-cosines(stored, query), kind="stable")[:count]
            best_rows, best = rows[kept], stored[kept]
        return best_rows, best

    def near(self, query: Scores, count: int, scope: Scope) -> tuple[Rows, Scores] | None:
        """The same by the graph. Milvus cannot take a long list as a filter: then more is asked for, and sifted here."""
        if self.exact or scope.count <= self._settings.exact_below or count > MOST_HITS:
            return None
        share = min(1.0, scope.count / max(1, self._rows_kept))
        if scope.members is None or len(scope.members) <= MOST_HITS:
            return self._search(query, count, _filter(scope), self._depth(count, share))
        asked = min(MOST_HITS, int(2 * count / share) + 64)
        row_ids, vectors = self._search(
            query, asked, f"{_among(scope.datasets)} and has_vector == true", self._depth(asked, 1)
        )
        kept = np.isin(row_ids, scope.members)
        return row_ids[kept], vectors[kept]

    def _blocks(self, scope: Scope) -> Iterator[tuple[Rows, Scores]]:
        if scope.members is not None:
            for start in range(0, len(scope.members), MOST_HITS):
                yield self.fetch(scope.datasets, scope.members[start : start + MOST_HITS])
            return
        block: list[dict[str, Any]] = []
        for row in self._all(_filter(scope), ["row_id", "vector"]):
            block.append(row)
            if len(block) == SENT:
                yield self._arrays(block)
                block = []
        if block:
            yield self._arrays(block)

    def _search(self, query: Scores, count: int, where: str, depth: dict[str, int]) -> tuple[Rows, Scores]:
        with self._errors():
            (hits,) = self._client.search(
                self._name,
                data=[query],
                anns_field="vector",
                limit=count,
                filter=where,
                output_fields=["row_id", "vector"],
                search_params={"metric_type": "IP", "params": depth},
            )
        return self._arrays([hit["entity"] for hit in hits])

    def _depth(self, count: int, share: float) -> dict[str, int]:
        """A filter that keeps a small share is searched deeper: most of what the graph comes by does not count."""
        return {"ef": min(MOST_DEPTH, int(max(self._settings.ef_search, 2 * count) / share))}

    def _all(self, where: str, fields: list[str]) -> Iterator[dict[str, Any]]:
        with self._errors():
            rows = self._client.query_iterator(
                self._name, batch_size=SENT, filter=where, output_fields=fields
            )
            try:
                while block := rows.next():
                    yield from block
            finally:
                rows.close()

    def _arrays(self, rows: list[dict[str, Any]]) -> tuple[Rows, Scores]:
        row_ids = np.array([row["row_id"] for row in rows], dtype=np.int64)
        vectors = np.array([row["vector"] for row in rows], dtype=np.float32)
        return row_ids, vectors.reshape(len(rows), self._dim)

    def _count(self) -> int:
        found = self._client.query(self._name, filter="has_vector == true", output_fields=["count(*)"])
        return int(found[0]["count(*)"])

    def _index_type(self) -> str:
        with self._errors():
            return str(self._client.describe_index(self._name, "vector")["index_type"])

    def _index(self, kind: str) -> Any:
        built = {"M": self._settings.m, "efConstruction": self._settings.ef_construction}
        index = self._library.MilvusClient.prepare_index_params()
        index.add_index(
            "vector",
            index_name="vector",
            index_type=kind,
            metric_type="IP",
            params=built if kind == "HNSW" else {},
        )
        return index

    def _make(self) -> None:
        """Both collections, unless they are there."""
        types = self._library.DataType
        text = {"datatype": types.VARCHAR, "max_length": NAME_LENGTH}
        kept = {
            self._name: {
                "row_id": {"datatype": types.INT64},
                "text_hash": text,
                "has_vector": {"datatype": types.BOOL},
                "vector": {"datatype": types.FLOAT_VECTOR, "dim": self._dim},
            },
            REVISIONS: {
                "revision": {"datatype": types.INT64},
                "vector": {"datatype": types.FLOAT_VECTOR, "dim": 2},
            },
        }
        for name, fields in kept.items():
            if not self._client.has_collection(name):
                schema = self._library.MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
                schema.add_field("place", is_primary=True, **text)
                for field, description in {"dataset": text, **fields}.items():
                    schema.add_field(field, **description)
                self._client.create_collection(
                    name,
                    schema=schema,
                    index_params=self._index("FLAT"),
                    consistency_level="Strong",
                    num_shards=self._settings.shards if name == self._name else 1,
                )

    def _opened(self, address: str) -> Any:
        if not address.startswith(("http://", "https://")) and not address.endswith(".db"):
            raise UsageError(f"a local Milvus index is a file whose name ends in .db, got {address!r}")
        # Milvus Lite has no clock of its own to tell, which reading row by row warns of each time
        logging.getLogger("pymilvus").setLevel(logging.ERROR)
        token = os.environ.get("ASSAY_MILVUS_TOKEN", "")
        return self._library.MilvusClient(uri=address, token=token, timeout=TIMEOUT_SECONDS)

    def _key(self, dataset: Dataset) -> str:
        return f"{self._name}/{dataset.uid}"

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except self._library.MilvusException as error:
            said = " ".join(str(error.message).split())
            raise StoreError(
                f"Milvus at {self.place}: {said}; check the address given with --index, or start it; the store itself "
                "is untouched and can be asked with another index"
            ) from None


def _among(datasets: Sequence[Dataset]) -> str:
    named = ", ".join(f'"{dataset.uid}"' for dataset in datasets)
    return f"dataset in [{named}]"


def _filter(scope: Scope) -> str:
    among = _among(scope.datasets)
    if scope.members is not None:
        return f"{among} and row_id in {scope.members.tolist()}"
    return f"{among} and row_id <= {scope.last_row} and has_vector == true"


def _library() -> Any:
    try:
        import pymilvus
    except ImportError as error:
        raise UsageError("vectors in Milvus need pymilvus: run pip install 'assay[milvus]'") from error
    return pymilvus
