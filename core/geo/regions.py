"""Countries, states and provinces: what a place's name is made definite by (``Paris, Texas``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.geo.geonames import City, Country, continents, countries, us_states
from core.geo.names import fold

DIVISIONS: dict[str, dict[str, str]] = {
    "AU": {"01": "Australian Capital Territory", "02": "New South Wales", "03": "Northern Territory",
           "04": "Queensland", "05": "South Australia", "06": "Tasmania", "07": "Victoria", "08": "Western Australia"},
    "CA": {"01": "Alberta", "02": "British Columbia", "03": "Manitoba", "04": "New Brunswick",
           "05": "Newfoundland and Labrador", "07": "Nova Scotia", "08": "Ontario", "09": "Prince Edward Island",
           "10": "Quebec", "11": "Saskatchewan", "12": "Yukon", "13": "Northwest Territories", "14": "Nunavut"},
    "GB": {"ENG": "England", "NIR": "Northern Ireland", "SCT": "Scotland", "WLS": "Wales"},
}  # fmt: skip
"""First-order divisions by GeoNames' codes; the data itself names only the states of the US."""
CODES = {
    "AU": {"ACT": "01", "NSW": "02", "NT": "03", "QLD": "04", "SA": "05", "TAS": "06", "VIC": "07", "WA": "08"},
    "CA": {"AB": "01", "BC": "02", "MB": "03", "NB": "04", "NL": "05", "NS": "07", "ON": "08", "PE": "09", "QC": "10",
           "SK": "11", "YT": "12", "NT": "13", "NU": "14"},
}  # fmt: skip
"""The codes people write where GeoNames has numbers; in the US both are the same."""
ALSO = {"US": ("America",), "GB": ("UK", "Britain", "Great Britain"), "NL": ("Holland",), "TR": ("Türkiye",),
        "KR": ("Korea",), "CD": ("DR Congo", "DRC"), "CN": ("PRC",), "BY": ("Belorussia",)}  # fmt: skip
"""Names of countries that people use and the data lacks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """A country, or one division of it. ``name`` is what a place is made definite by."""

    name: str
    country: str
    division: str | None = None
    capital: str = ""

    def holds(self, city: City) -> bool:
        """Whether the city lies in it."""
        return city.country == self.country and self.division in (None, city.division)


class Regions:
    """All regions, by name and by code."""

    def __init__(self) -> None:
        known = countries()
        self.countries: dict[str, Country] = {country.code: country for country in known}
        self.divisions = DIVISIONS | {"US": us_states()}
        self._by_name: dict[str, list[Region]] = {}
        self._by_code: dict[str, list[Region]] = {}
        for code, divisions in self.divisions.items():
            said = CODES.get(code, {division: division for division in divisions})
            short = {division: letters for letters, division in said.items()}
            for division, name in divisions.items():
                self._add(Region(name=name, country=code, division=division), [name, short[division]])
        for country in known:
            region = Region(name=country.name, country=country.code, capital=fold(country.capital))
            self._add(region, [country.name, *country.variants, *ALSO.get(country.code, ())])
        self._beyond = {fold(name) for name in (*continents(), "America", "Australasia")}

    def named(self, name: str) -> Sequence[Region]:
        """The regions of that name, states before countries; a code (``TX``, ``FR``) counts in capitals only."""
        found = self._by_name.get(fold(name), [])
        bare = name.strip().replace(".", "")
        return [*found, *(self._by_code.get(bare, []) if bare.isupper() else [])]

    def is_region(self, name: str) -> bool:
        """Whether ``name`` is that of a region or a continent, which is no point on a map."""
        return bool(self.named(name)) or fold(name) in self._beyond

    def of(self, city: City) -> Region:
        """The region that tells the city from others of its name: its state where that has a name, else its country."""
        country = self.countries[city.country]
        division = self.divisions.get(city.country, {}).get(city.division)
        if division and city.country != "GB":
            return Region(name=division, country=city.country, division=city.division)
        return Region(name=country.name, country=city.country)

    def _add(self, region: Region, names: Sequence[str]) -> None:
        for name in names:
            code = name.isupper() and len(name) <= 3
            table, key = (self._by_code, name) if code else (self._by_name, fold(name))
            if region not in table.setdefault(key, []):
                table[key].append(region)
