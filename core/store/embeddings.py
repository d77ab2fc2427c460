"""The embedding cache: one vector for each (model, text)."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.errors import StoreError
from core.store.base import Connection, Database


class Embeddings:
    """float32 vectors by model id and text hash. A vector of zeros says: this text has no tokens."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, model_id: str, hashes: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """The vectors that are there; missing ones are left out."""
        rows = self._database.stream(
            """SELECT text_hash, vector FROM embedding
               WHERE model_id = ? AND text_hash IN (SELECT value FROM json_each(?))""",
            (model_id, json.dumps(list(dict.fromkeys(hashes)))),
        )
        return {str(key): _vector(vector) for key, vector in rows}

    def known(self, model_id: str, hashes: Sequence[str]) -> set[str]:
        """Which of the hashes have a vector."""
        rows = self._database.rows(
            """SELECT text_hash FROM embedding WHERE model_id = ? AND text_hash IN (SELECT value FROM json_each(?))""",
            (model_id, json.dumps(list(dict.fromkeys(hashes)))),
        )
        return {str(key) for (key,) in rows}

    def models(self, hashes: Sequence[str]) -> list[str]:
        """The models that have a vector of any of the hashes, by name."""
        rows = self._database.rows(
            "SELECT DISTINCT model_id FROM embedding WHERE text_hash IN (SELECT value FROM json_each(?)) ORDER BY 1",
            (json.dumps(list(dict.fromkeys(hashes))),),
        )
        return [str(model_id) for (model_id,) in rows]

    def put(self, model_id: str, hashes: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Stores (n, dim) vectors in one transaction.

        Raises:
            StoreError: a vector is not finite, or the shapes do not fit.
        """
        self._database.write(lambda connection: self.put_within(connection, model_id, hashes, vectors))

    @staticmethod
    def put_within(
        connection: Connection, model_id: str, hashes: Sequence[str], vectors: NDArray[np.float32]
    ) -> None:
        """``put`` as a part of an open transaction."""
        array = np.ascontiguousarray(vectors, dtype="<f4")
        if array.ndim != 2 or len(array) != len(hashes):
            raise StoreError(
                f"{len(hashes)} texts but vectors of shape {array.shape}: expected ({len(hashes)}, dim)"
            )
        if not np.isfinite(array).all():
            raise StoreError(f"model {model_id} gave a vector that is not finite; it was not stored")
        rows = {key: (model_id, key, vector.tobytes()) for key, vector in zip(hashes, array, strict=True)}
        connection.executemany(
            """INSERT INTO embedding VALUES (?, ?, ?)
               ON CONFLICT (model_id, text_hash) DO UPDATE SET vector = excluded.vector""",
            [
                rows[key] for key in sorted(rows)
            ],  # two writers of the same rows in one order cannot block each other
        )

    def count(self, model_id: str) -> int:
        """How many vectors of a model there are."""
        return int(
            str(self._database.rows("SELECT count(*) FROM embedding WHERE model_id = ?", (model_id,))[0][0])
        )


def _vector(value: object) -> NDArray[np.float32]:
    if not isinstance(value, bytes) or len(value) % 4:
        raise StoreError(
            "a stored vector is not as it was stored: the database is damaged; restore a copy, "
            "or bring the dataset in again into another file with --db"
        )
    return np.frombuffer(value, dtype="<f4")
