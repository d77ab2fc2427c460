"""What storing one item comes to, and where it is stored."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from core.store.base import Connection

Outcome = Literal["added", "updated", "unchanged"]


class Refused(ValueError):  # noqa: N818 (an outcome, not an accident)
    """An item that contradicts what is stored or came before; the message says how."""


class Early(Refused):
    """An item that names something which is not there yet, and may come later in the same input."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """An open transaction on one dataset. ``seen`` maps (kind, key) to the content hash seen in this input."""

    connection: Connection
    dataset_id: int
    dataset_name: str
    seen: dict[tuple[str, str], str]

    def repeated(self, kind: str, key: str, content: str) -> bool:
        """Whether this input already held ``key``; the same key with other content is refused."""
        before = self.seen.get((kind, key))
        if before is not None and before != content:
            raise Refused(f"{kind} {key!r} came before with other content; the first is kept")
        self.seen[kind, key] = content
        return before is not None

    def rows(self, sql: str, *values: object) -> list[tuple[object, ...]]:
        """All rows of a query in this transaction."""
        return self.connection.execute(sql, values).fetchall()


def content_hash(*values: object) -> str:
    """sha256 (hex) of the values in order."""
    return sha256(json.dumps(values, ensure_ascii=True, default=str).encode()).hexdigest()
