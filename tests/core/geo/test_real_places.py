"""The gazetteer on real data: the cities of GeoQuery, and questions full of people's names."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from core.geo.gazetteer import Gazetteer

pytestmark = pytest.mark.data


def test_the_cities_of_geoquery(public_data: Path, gazetteer: Gazetteer) -> None:
    """377 of 386; the nine others are townships, districts of Hawaii and a town of 6,000."""
    database = public_data / "geoquery" / "geography-db.added-in-2020.sqlite"
    with closing(sqlite3.connect(f"file:{database}?mode=ro&immutable=1", uri=True)) as connection:
        rows = connection.execute("SELECT city_name, state_name FROM city").fetchall()
    found = [gazetteer.resolve(city, state) for city, state in rows]
    assert len(rows) == 386
    assert sum(place is not None for place in found) >= 377
    assert {place.country for place in found if place} == {"United States"}


def test_people_of_conversations_are_no_cities(public_data: Path, gazetteer: Gazetteer) -> None:
    """Joanna, Jordan, Sam and the like: 1,986 questions, of which 50 name a city; none is a person."""
    conversations = json.loads((public_data / "locomo" / "locomo10.json").read_text())
    questions = [row["question"] for conversation in conversations for row in conversation["qa"]]
    found = {place.name for question in questions for place in gazetteer.find(question)}
    assert len(questions) == 1986
    assert found >= {"Paris", "Rio de Janeiro", "Tokyo", "Boston", "Fort Wayne"}
    assert not found & {"Johannesburg", "Damascus", "March", "Alice", "Jordan"}
    assert sum(bool(gazetteer.find(question)) for question in questions) <= 55
