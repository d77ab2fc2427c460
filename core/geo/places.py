"""A place with coordinates, and the seam to what knows places by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from core.errors import UsageError

RESOLVERS = "gazetteer"
MAX_PLACES = 10
"""Places of one question that are searched around."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A place and its coordinates in degrees. ``name`` resolves to it again: ``Paris``, but ``Paris, Texas``.
    ``country`` is a country's name, ``kind`` what sort of place it is; ``population`` 0 where unknown."""

    name: str
    latitude: float
    longitude: float
    country: str
    kind: str
    population: int = 0

    @property
    def about(self) -> str:
        """What it is in a few words, e.g. ``city in France``."""
        return f"{self.kind} in {self.country}" if self.country else self.kind


@dataclass(frozen=True, slots=True, kw_only=True)
class GeoSearch:
    """Geo switched on: what resolves places, and whether what lies near those of the question is searched for."""

    resolver: GeoResolver
    nearby: bool = False


class GeoResolver(Protocol):
    """Knows places by name. Safe to share between threads."""

    def resolve(self, name: str, hint: str | None = None) -> Place | None:
        """The place of that name, in the region or country ``hint`` names; None if unknown.

        ``name`` may carry its hint after a comma. Deterministic: ``resolve(place.name) == place``.
        """
        ...

    def find(self, text: str) -> list[Place]:
        """The places ``text`` mentions, in order, each once, at most ``MAX_PLACES``; for use without a model."""
        ...


def resolver_named(name: str) -> GeoResolver:
    """The resolver of that name. Raises UsageError, which lists those there are."""
    if name == "gazetteer":
        from core.geo.gazetteer import Gazetteer

        return Gazetteer()
    raise UsageError(f"no geo resolver {name!r}; there is {RESOLVERS}")
