"""Numbers, names and months, however they are written."""

from __future__ import annotations

import pytest

from evals.metrics.mentions import months, names, numbers


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It has 260,000 volumes in 12 rooms.", {"260000", "12"}),
        ("Room 007, floor 0", {"7", "0"}),
        ("on 2024-03-01", {"2024", "3", "1"}),
        ("the 50th of twelve", {"50", "12"}),
        ("3,14 and 1,000,000", {"3", "14", "1000000"}),
        ("１２ rooms", {"12"}),
        ("Twenty people, none left, someone", {"20"}),
        ("the first of them", set()),
        ("", set()),
    ],
)
def test_numbers(text: str, expected: set[str]) -> None:
    assert numbers(text) == expected


def test_an_ordinal_counts_where_it_is_asked_for() -> None:
    assert numbers("the first and the twelfth", ordinals=True) == {"1", "12"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Proxy of Priya's team", {"proxi", "priya"}),
        ("It was Élan Vital", {"élan", "vital"}),
        ("E\u0301lan’s sails", {"élan"}),
        ("iPhone and eBay", set()),
        ("In May I saw Jean-Luc", {"may", "jean", "luc"}),
        ("", set()),
    ],
)
def test_names(text: str, expected: set[str]) -> None:
    assert names(text) == expected


def test_a_date_means_its_month() -> None:
    assert months("from 2024-03-01 to 2024-12-31, not 2024-13-01") == {"march", "decemb"}
