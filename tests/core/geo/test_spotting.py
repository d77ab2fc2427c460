"""Cities in questions, without a model: words and people that are called like a city are none."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.geo.places import MAX_PLACES

CITIES = [
    "Paris",
    "Nice",
    "Reading",
    "Mobile",
    "Of",
    "Salt Lake City",
    "Texas",
    "in",
    "near",
    ",",
    ".",
    "the",
    "TX",
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Which cafés are near Paris?", ["Paris"]),
        ("near Paris, Texas", ["Paris, Texas"]),
        ("near Paris Texas", ["Paris, Texas"]),
        ("near Austin TX", ["Austin"]),
        ("20 km of Springfield, Illinois", ["Springfield, Illinois"]),
        ("Hotels in Reading, Pennsylvania and Nice", ["Reading, Pennsylvania", "Nice"]),
        ("Reading, Pennsylvania has hotels", ["Reading, Pennsylvania"]),
        ("near Lyon, Nice or Cannes", ["Lyon", "Nice", "Cannes"]),
        ("flights from Singapore, Malaysia and Thailand", ["Singapore"]),
        ("Is Tokyo bigger than The Hague?", ["Tokyo", "The Hague"]),
        ("What's in Washington, D.C.?", ["Washington"]),
        ("near New York's Central Park", ["New York City"]),
        ("York and New York", ["New York City"]),
        ("Salt Lake City parks", ["Salt Lake City"]),
        ("in St. Louis. Berlin is next", ["St. Louis", "Berlin"]),
        ("letters to Joanna about Mumbai and March, England", ["Mumbai", "March"]),
        ("the population of Boston", ["Boston"]),
        ("in Frankfurt am Main (Germany)", ["Frankfurt am Main"]),
        ("in Rio de Janeiro", ["Rio de Janeiro"]),
        ("in Atlanta, Georgia", ["Atlanta"]),
        ("London, Ontario", ["London, Ontario"]),
        ("hôtels près de São Paulo", ["São Paulo"]),
        ("отели Москва", ["Moscow"]),
        ("東京", ["Tokyo"]),
        ("मुंबई में होटल", ["Mumbai"]),
        ("Sa\u0303o Paulo", ["São Paulo"]),
        ("HOTELS NEAR PARIS AND OF THE MOST", ["Paris"]),
        ("Will you be in LA or NYC?", ["Los Angeles", "New York City"]),
        ("near Mexico City", ["Mexico City"]),
        ("Of course, most live in Of, Turkey", ["Of"]),
        ("Paris, Paris and again Paris", ["Paris"]),
    ],
)
def test_places_are_found(gazetteer, text, expected):
    assert [place.name for place in gazetteer.find(text)] == expected


@pytest.mark.parametrize(
    "text",
    [
        "", "?!", "nice mobile reading of the same split", "Nice weather", "Reading list for Mobile phones", "Of course",
        "In Most cases", "Same US law", "Mobile US carriers", "Where does Alice work?", "Where does Alice Weber work?",
        "What did Alice say to Jordan about Charlotte?", "Does Victoria know Madison at Meridian?", "in Georgia",
        "in Mexico", "all of Europe", "Who is in IT or HR?", "THE SAME SPLIT", "hotels near paris", "in 2024",
        "the Buffalo wings", "LA la land", "in March or May", "What are Joanna's hobbies?", "In Sam's opinion",
        "in Joanna's new book",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_place(gazetteer, text):
    assert gazetteer.find(text) == []


def test_a_long_text_names_a_bounded_number(gazetteer):
    text = "in " + ", ".join(["Paris", "Berlin", "Rome", "Madrid", "Oslo", "Vienna", "Lisbon", "Prague", "Dublin",
                              "Warsaw", "Athens", "Bern", "Riga"])  # fmt: skip
    assert len(gazetteer.find(text)) == MAX_PLACES
    assert len(gazetteer.find(text * 200)) == MAX_PLACES


@given(st.lists(st.one_of(st.sampled_from(CITIES), st.text(max_size=8)), max_size=12).map(" ".join))
@settings(max_examples=200)
def test_any_text_is_read(gazetteer, text):
    found = gazetteer.find(text)
    assert len(set(found)) == len(found) <= MAX_PLACES
    for place in found:
        assert gazetteer.resolve(place.name) == place
