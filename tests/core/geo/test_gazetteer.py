"""Names that are ambiguous, foreign, abbreviated, or no city's at all."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import UsageError
from core.geo import geonames
from core.geo.names import fold, fold_all
from core.geo.places import GeoResolver, resolver_named
from core.geo.sphere import check_coordinates


@pytest.mark.parametrize(
    ("name", "hint", "expected", "country"),
    [
        ("Paris", None, "Paris", "France"),
        ("paris", None, "Paris", "France"),
        ("  PARIS ", None, "Paris", "France"),
        ("Paris", "Texas", "Paris, Texas", "United States"),
        ("Paris, Texas", None, "Paris, Texas", "United States"),
        ("Paris, Lamar County, Texas", None, "Paris, Texas", "United States"),
        ("Paris, Texas, USA", None, "Paris, Texas", "United States"),
        ("Paris Texas", None, "Paris, Texas", "United States"),
        ("Paris TX", None, "Paris, Texas", "United States"),
        ("Paris\nTexas", None, "Paris, Texas", "United States"),
        ("London", "Canada", "London, Ontario", "Canada"),
        ("London, Ontario", None, "London, Ontario", "Canada"),
        ("Victoria, BC", None, "Victoria, British Columbia", "Canada"),
        ("Perth", "Scotland", "Perth, United Kingdom", "United Kingdom"),
        ("Perth, WA", None, "Perth", "Australia"),
        ("Springfield", None, "Springfield", "United States"),
        ("Springfield, Illinois", None, "Springfield, Illinois", "United States"),
        ("Kansas City, Kansas", None, "Kansas City, Kansas", "United States"),
        ("Kansas City", None, "Kansas City", "United States"),
        ("Atlanta, Georgia", None, "Atlanta", "United States"),
        ("Tbilisi, Georgia", None, "Tbilisi", "Georgia"),
        ("Munich, Bavaria", None, "Munich", "Germany"),  # a division the data does not know is passed over
        ("München", None, "Munich", "Germany"),
        ("Kiev", None, "Kyiv", "Ukraine"),
        ("東京", None, "Tokyo", "Japan"),
        ("Москва", None, "Moscow", "Russia"),
        ("Sao Paulo", None, "São Paulo", "Brazil"),
        ("Sa\u0303o Paulo", None, "São Paulo", "Brazil"),
        ("İSTANBUL", None, "Istanbul", "Turkey"),
        ("ｂｅｒｌｉｎ", None, "Berlin", "Germany"),
        ("Xi'an", None, "Xi’an", "China"),
        ("St Louis", None, "St. Louis", "United States"),
        ("sevilla", None, "Sevilla", "Spain"),
        ("Canton", None, "Guangzhou", "China"),
        ("The Hague", None, "The Hague", "Netherlands"),
        ("NYC", None, "New York City", "United States"),
        ("LA", None, "Los Angeles", "United States"),
        ("D.C.", None, "Washington", "United States"),
        ("Washington, D.C.", None, "Washington", "United States"),
        ("Washington", None, "Washington", "United States"),
        ("New York", None, "New York City", "United States"),
        ("Singapore", None, "Singapore", "Singapore"),
        ("Luxembourg", None, "Luxembourg", "Luxembourg"),
        ("Mexico City", None, "Mexico City", "Mexico"),
        ("Of", None, "Of", "Turkey"),
    ],
)
def test_names_that_resolve(gazetteer, name, hint, expected, country):
    place = gazetteer.resolve(name, hint)
    assert place is not None
    assert (place.name, place.country, place.kind) == (expected, country, "city")


@pytest.mark.parametrize(
    "name",
    ["", " ", ",", ", ,", "?!", "Xanadu", "x" * 10_000, "\x00", "France", "The Netherlands", "Georgia", "Mexico",
     "Jordan", "Texas", "Florida", "Oklahoma", "Ontario", "England", "Europe", "America", "US", "USA", "UK",
     "la", "nyc", "I", "PER", "THE", "AND", "Template:Vandalism"],
)  # fmt: skip
def test_names_that_are_no_point(gazetteer, name):
    assert gazetteer.resolve(name) is None


@pytest.mark.parametrize(("name", "hint"), [("Paris", "Japan"), ("Berlin", "Texas"), ("London", "FR")])
def test_a_region_without_such_a_city_is_not_passed_over(gazetteer, name, hint):
    assert gazetteer.resolve(name, hint) is None
    assert gazetteer.resolve(f"{name}, {hint}") is None


def test_the_name_of_a_place_means_it_again(gazetteer):
    """So that it can be stored, found by name and resolved anew; also for the ambiguous."""
    known = geonames.cities()
    names = {city.name for city in known} | {f"{city.name}, {city.country}" for city in known[::7]}
    places = {place for name in sorted(names)[::11] if (place := gazetteer.resolve(name))}
    assert len(places) > 2000
    assert [place for place in places if gazetteer.resolve(place.name) != place] == []


def test_every_city_is_somewhere(gazetteer):
    assert len(geonames.cities()) > 30_000
    for city in geonames.cities():
        check_coordinates(city.latitude, city.longitude)


@given(st.text(max_size=40), st.none() | st.text(max_size=20))
@settings(max_examples=300)
def test_any_text_resolves_or_does_not(gazetteer, name, hint):
    place = gazetteer.resolve(name, hint)
    assert place is None or gazetteer.resolve(place.name) == place


@given(st.lists(st.text().map(lambda text: text.replace("\n", " ")), max_size=6))
def test_folding_many_is_folding_each(names):
    assert fold_all(names) == ([fold(name) for name in names] or [""])


@given(st.text(max_size=40))
def test_folding_is_done_once(name):
    assert fold(fold(name)) == fold(name)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("St. Louis", "st louis"),
        ("Zürich", "zurich"),
        ("Łódź", "lodz"),
        ("Ærøskøbing", "aeroskobing"),
        ("L’Aquila", "laquila"),
        ("Winston-Salem", "winston salem"),
        ("D.C.", "dc"),
        ("मुंबई", "मुंबई"),
        ("—", ""),
    ],
)
def test_folds(name, expected):
    assert fold(name) == expected


def test_resolvers_by_name():
    resolver: GeoResolver = resolver_named("gazetteer")
    assert resolver.resolve("Oslo").country == "Norway"
    with pytest.raises(UsageError, match="no geo resolver 'google'; there is gazetteer"):
        resolver_named("google")
