"""The offline gazetteer: some 34,000 cities by their names in many languages, resolved without a model or network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from threading import Lock

from core.geo.geonames import City, cities
from core.geo.names import fold, fold_all
from core.geo.places import MAX_PLACES, Place
from core.geo.regions import Region, Regions
from core.geo.spotting import BIG_CITY, Spot, spots

ALTERNATE = 0.1
"""Share of its population a city stands for under another name than its own: `Sevilla` is Seville, not a village."""
CODE = 3
"""Letters an alternate name of capitals has at most and is then an abbreviation (``NYC``), matched in capitals only."""
KNOWN_BY_CODE = {2: 500_000, 3: 1_000_000}
"""Inhabitants a city has whose abbreviation of so many letters is taken; others are mostly airports' (``THE``)."""


class Gazetteer:
    """Resolves cities. The data is read at first use (some 2 s) and kept; safe to share between threads.

    A name that several cities have means the most populous, within the region its hint names if it has one. A hint
    that is no known region is passed over. Countries, states and continents are no points and resolve to nothing, but
    where a city in them has the very same name (Singapore, New York) and for a capital (Washington).
    """

    def __init__(self) -> None:
        self._lock = Lock()

    def resolve(self, name: str, hint: str | None = None) -> Place | None:
        """The city of that name; None if unknown, or if no city of that name lies in the region ``hint`` names."""
        for bare, region in self._readings(name, hint):
            city = self._city(bare, self._tables.regions.named(region) if region else ())
            if city is not None:
                return self._place(city, f"{bare}, {region}" if region else bare)
            if region and self._tables.regions.named(region):
                return None
        return None

    def find(self, text: str) -> list[Place]:
        """The cities ``text`` mentions, in order, each once, at most 10. See ``core.geo.spotting`` for what counts."""
        places = dict.fromkeys(spot.place for spot in spots(text, self))
        return list(places)[:MAX_PLACES]

    def spot(self, name: str, region: str | None, *, loose: bool = False) -> Spot | None:
        """``name`` as it stands in a text as a city: as ``resolve`` has it, but ``region`` must be known and hold it.

        ``loose``: the region follows without a comma, where a code is a state's (``Austin TX``), never a country's."""
        regions = self._tables.regions.named(region) if region else ()
        if loose and region and region.isupper():
            regions = [found for found in regions if found.division]
        city = self._city(name, regions) if regions or not region else None
        if city is None:
            return None
        return Spot(
            place=self._place(city, f"{name}, {region}" if region else name),
            known_by=not name.isascii() or fold(name) == fold(city.name),
            code=bool(self._tables.by_code(name)),
        )

    def is_region(self, name: str) -> bool:
        """Whether ``name`` is a country's, a state's or a continent's."""
        return self._tables.regions.is_region(name)

    @cached_property
    def _loaded(self) -> _Tables:
        return _Tables()

    @property
    def _tables(self) -> _Tables:
        with self._lock:
            return self._loaded

    def _readings(self, name: str, hint: str | None) -> Iterator[tuple[str, str | None]]:
        """Name and region in the ways ``name`` can be read, the likeliest first."""
        if hint and hint.strip():
            yield name, hint
            yield name, None
            return
        yield name, None
        parts = [part.strip() for part in name.split(",") if part.strip()]
        if len(parts) > 1:
            for region in (*parts[:0:-1],):
                if self._tables.regions.named(region):
                    yield parts[0], region
            yield parts[0], None
            return
        words = name.split()
        for cut in range(len(words) - 1, max(0, len(words) - 4), -1):
            region = " ".join(words[cut:])
            if self._tables.regions.named(region):
                yield " ".join(words[:cut]), region

    def _city(self, name: str, regions: Sequence[Region]) -> City | None:
        """The most populous city of that name in one of ``regions`` (none: anywhere)."""
        known = self._tables
        matches, short = known.rows(fold(name)), known.by_code(name)
        if regions:
            matches = [
                match
                for match in (*matches, *short)
                if any(region.holds(known.cities[match[0]]) for region in regions)
            ]
        elif short:
            matches = short
        elif known.regions.is_region(name):
            matches = [match for match in matches if self._stands_for_region(name, *match)]
        best = max(
            matches, key=lambda match: (known.weight(*match), match[1], -match[0]), default=(None, False)
        )[0]
        return None if best is None else known.cities[best]

    def _stands_for_region(self, name: str, row: int, own_name: bool) -> bool:
        city = self._tables.cities[row]
        for region in self._tables.regions.named(name):
            capital = self._tables.regions.countries[region.country].capital
            known_as = own_name or (region.division is not None and city.population >= BIG_CITY)
            if region.holds(city) and known_as:
                return True
            if own_name and city.country == region.country and city.name == capital:
                return True
        return False

    def _place(self, city: City, said: str) -> Place:
        region = self._tables.regions.of(city)
        country = self._tables.regions.countries[city.country].name
        names = (city.name, f"{city.name}, {region.name}", f"{city.name}, {country}", said)
        name = next(name for name in names if name is said or self._means(name, city))
        return Place(
            name=name,
            latitude=city.latitude,
            longitude=city.longitude,
            country=country,
            kind="city",
            population=city.population,
        )

    def _means(self, name: str, city: City) -> bool:
        for bare, region in self._readings(name, None):
            found = self._city(bare, self._tables.regions.named(region) if region else ())
            if found is not None:
                return found is city
        return False


class _Tables:
    """The data by folded name: rows of cities, ``~row`` where the name is another than the city's own."""

    def __init__(self) -> None:
        self.cities = cities()
        self.regions = Regions()
        self._by_name: dict[str, list[int]] = {}
        self._by_code: dict[str, list[int]] = {}
        keys = iter(fold_all([name for city in self.cities for name in (city.name, *city.alternates)]))
        for row, city in enumerate(self.cities):
            own = next(keys)
            self._add(own, row)
            for name in city.alternates:
                key = next(keys)
                code = name.replace(".", "")
                if len(code) <= CODE and code.isascii() and code.isupper():
                    if self._is_known_by(code, city):
                        self._by_code.setdefault(code, []).append(row)
                elif key != own and _is_name(name, key):
                    self._add(key, ~row)

    def rows(self, key: str) -> list[tuple[int, bool]]:
        """Rows of the cities of that folded name, each with whether it is the city's own."""
        return [(row, True) if row >= 0 else (~row, False) for row in self._by_name.get(key, ())]

    def by_code(self, name: str) -> list[tuple[int, bool]]:
        """Rows of the cities abbreviated so."""
        return [(row, False) for row in self._by_code.get(name.strip().replace(".", ""), ())]

    def weight(self, row: int, own_name: bool) -> float:
        """How likely the name means this city."""
        return self.cities[row].population * (1.0 if own_name else ALTERNATE)

    def _is_known_by(self, code: str, city: City) -> bool:
        regions = self.regions.named(code)
        taken = regions and not any(region.division or region.holds(city) for region in regions)
        return len(code) in KNOWN_BY_CODE and city.population >= KNOWN_BY_CODE[len(code)] and not taken

    def _add(self, key: str, row: int) -> None:
        if key:
            self._by_name.setdefault(key, []).append(row)


def _is_name(name: str, key: str) -> bool:
    """Not a lower-case transliteration, a template's name or a letter or two, which the data holds as well."""
    return len(key) > (2 if key.isascii() else 1) and ":" not in name and not ("a" <= name[0] <= "z")
