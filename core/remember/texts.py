"""The texts an index sees of what is about to be stored, as the store will give them, and their vectors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from core.errors import StoreError
from core.index.source import sound
from core.models.base import Embedder, FloatArray
from core.records import text_hash
from core.store import Store


def titled(title: str, text: str) -> str:
    """A node's or chunk's text."""
    return f"{title}\n{text}" if title else text


def entity_text(name: str, kind: str, description: str) -> str:
    """An entity's text."""
    return f"{name} ({kind})" + (f": {description}" if description else "")


def fact_text(source: str, relation: str, target: str, description: str) -> str:
    """A fact's text."""
    return f"{source} {relation.replace('_', ' ')} {target}" + (f": {description}" if description else "")


@dataclass(slots=True)
class Vectors:
    """Unit vectors by text: from the cache, else embedded now and kept in ``made`` until they are stored."""

    store: Store
    embedder: Embedder
    made: dict[str, FloatArray] = field(default_factory=dict)

    def of(self, texts: Sequence[str]) -> FloatArray:
        """(n, dim) float32 in the order of ``texts``; zeros for a text without tokens or whose vector is not finite.

        Raises:
            StoreError: a stored vector is damaged.
        """
        self.add(texts)
        hashes = [text_hash(text) for text in texts]
        known = self.store.embeddings.get(
            self.embedder.model_id, [key for key in hashes if key not in self.made]
        )
        rows = [self.made[key] if key in self.made else known[key] for key in hashes]
        if not all(sound(row, self.embedder.dim) for row in rows):
            raise StoreError(
                f"a vector by {self.embedder.model_id} is not as it was stored: the database is damaged; restore a copy, "
                "or bring the dataset in again into another file with --db"
            )
        return np.array(rows, dtype=np.float32).reshape(len(texts), self.embedder.dim)

    def add(self, texts: Iterable[str]) -> None:
        """Embeds what has no vector yet."""
        by_hash = {text_hash(text): text for text in texts}
        wanted = [key for key in by_hash if key not in self.made]
        known = self.store.embeddings.known(self.embedder.model_id, wanted)
        missing = {key: by_hash[key] for key in wanted if key not in known}
        if not missing:
            return
        rows = np.asarray(self.embedder.embed(list(missing.values())), dtype=np.float32)
        rows = np.where(np.isfinite(rows).all(axis=1, keepdims=True), rows, 0).astype(np.float32)
        self.made.update(zip(missing, rows, strict=True))

    def array(self) -> tuple[list[str], FloatArray]:
        """Hashes and (n, dim) vectors of what was embedded."""
        rows = np.array(list(self.made.values()), dtype=np.float32)
        return list(self.made), rows.reshape(len(self.made), self.embedder.dim)
