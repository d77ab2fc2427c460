"""Which vector index is used: FAISS in files beside the store, pgvector in its PostgreSQL server, or Milvus.

Written ``NAME``, ``NAME?setting=value&…``, and for Milvus ``milvus:FILE`` or ``milvus://HOST:PORT/DATABASE``.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeVar, cast
from urllib.parse import parse_qsl

from core.errors import UsageError

KINDS = "faiss, pgvector, milvus:FILE or milvus://HOST:PORT, each with ?setting=value&…"
Settings = TypeVar("Settings", "FaissSettings", "PgvectorSettings", "MilvusSettings")


def _number(default: int, low: int, high: int) -> Any:
    return field(default=default, metadata={"low": low, "high": high})


def _choice(default: str, *others: str) -> Any:
    return field(default=default, metadata={"choices": (default, *others)})


@dataclass(frozen=True, slots=True, kw_only=True)
class FaissSettings:
    """``exact_below``: vectors up to which every search is exact."""

    exact_below: int = _number(50_000, 0, 10**9)


@dataclass(frozen=True, slots=True, kw_only=True)
class PgvectorSettings:
    """HNSW by ``m`` links and the depths ``ef_construction`` and ``ef_search``; a scan goes on, in exact or nearly exact
    order, until a filter is filled or ``max_scan_tuples`` were seen. Up to ``exact_below`` rows, of a table or that a
    filter keeps, are searched exactly. ``build_mb`` is the server's memory for making the graph."""

    m: int = _number(16, 2, 100)
    ef_construction: int = _number(128, 4, 1000)
    ef_search: int = _number(200, 1, 1000)
    iterative_scan: Literal["relaxed_order", "strict_order"] = _choice("relaxed_order", "strict_order")
    max_scan_tuples: int = _number(200_000, 1, 2**31 - 1)
    exact_below: int = _number(50_000, 0, 10**9)
    build_mb: int = _number(512, 1, 2**21 - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class MilvusSettings:
    """HNSW by ``m`` links and the depths ``ef_construction`` and ``ef_search``. Up to ``exact_below`` rows, of a
    collection or that a filter keeps, are searched exactly. A new collection is spread over ``shards``."""

    m: int = _number(32, 2, 2048)
    ef_construction: int = _number(200, 8, 4096)
    ef_search: int = _number(200, 1, 16384)
    exact_below: int = _number(16_384, 0, 10**9)
    shards: int = _number(1, 1, 64)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexChoice:
    """A kind of index with its settings; ``address`` is Milvus's file or server."""

    settings: FaissSettings | PgvectorSettings | MilvusSettings
    address: str = ""


def chosen(text: str | None, *, on_server: bool) -> IndexChoice:
    """The index that ``text`` names; None: ``ASSAY_INDEX``, else pgvector for a store on a server, FAISS for a file.

    Raises:
        UsageError: no such index or setting, a value out of its range, pgvector for a store in a file.
    """
    wanted = text or os.environ.get("ASSAY_INDEX") or ("pgvector" if on_server else "faiss")
    name, _, settings = wanted.partition("?")
    kind, _, address = name.partition(":")
    match kind, bool(address):
        case "faiss", False:
            return IndexChoice(settings=_settings(FaissSettings, settings, wanted))
        case "pgvector", False:
            if not on_server:
                raise UsageError(
                    "index pgvector lies in the store's own server: name one with --db postgresql://USER@HOST/DATABASE, "
                    "or leave the choice of index out"
                )
            return IndexChoice(settings=_settings(PgvectorSettings, settings, wanted))
        case "milvus", True:
            return IndexChoice(
                settings=_settings(MilvusSettings, settings, wanted),
                address=f"http:{address}" if address.startswith("//") else address,
            )
    raise UsageError(f"no index {wanted!r}; there are {KINDS}")


def _settings(kind: type[Settings], text: str, wanted: str) -> Settings:
    known = {one.name: one.metadata for one in fields(kind)}
    values: dict[str, Any] = {}
    for name, value in parse_qsl(text, keep_blank_values=True):
        if name not in known:
            raise UsageError(f"index {wanted!r} has no setting {name!r}; there are {', '.join(known)}")
        values[name] = _value(name, value, cast(dict[str, Any], known[name]))
    return kind(**values)


def _value(name: str, value: str, allowed: dict[str, Any]) -> int | str:
    if "choices" in allowed:
        if value not in allowed["choices"]:
            raise UsageError(f"{name} must be one of {', '.join(allowed['choices'])}, got {value!r}")
        return value
    low, high = allowed["low"], allowed["high"]
    if not (value.isascii() and value.isdigit() and low <= int(value) <= high):
        raise UsageError(f"{name} must be a whole number from {low} to {high}, got {value!r}")
    return int(value)
