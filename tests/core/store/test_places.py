"""Entities with coordinates: by name, and in boxes as brute force finds them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from core.geo.sphere import Box, boxes, haversine_km
from core.ingest.ingestor import ingest
from core.ingest.items import EntityItem
from core.store import Store
from tests.backends import Place

rng = np.random.default_rng(7)
POINTS = [
    *zip(rng.uniform(-90, 90, 400).tolist(), rng.uniform(-180, 180, 400).tolist(), strict=True),
    (90.0, 0.0), (-90.0, 50.0), (0.0, 180.0), (0.0, -180.0), (89.99, -135.0),
]  # fmt: skip


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, at: Place) -> Iterator[Store]:
    items = [
        EntityItem(name=f"P{n}", type="place", latitude=lat, longitude=lon)
        for n, (lat, lon) in enumerate(POINTS)
    ]
    nowhere = EntityItem(name="Nowhere", type="person")
    with Store.open(at(tmp_path_factory.mktemp("places") / "a.db")) as opened:
        ingest(opened, "main", [(str(n), item) for n, item in enumerate([*items, nowhere])])
        ingest(opened, "else", [("x", items[0])])
        yield opened


@pytest.mark.parametrize(
    ("lat", "lon", "radius"),
    [(0, 0, 3000), (0, 179.9, 2500), (0, -180, 50), (89.9, 10, 1000), (-90, 0, 2000), (10, 20, 20015), (45, 45, 1)],
)  # fmt: skip
def test_boxes_hold_all_that_is_near(store: Store, lat: float, lon: float, radius: float) -> None:
    found = {place.name for place in store.places_in([1], boxes(lat, lon, radius))}
    lats, lons = zip(*POINTS, strict=True)
    near = haversine_km(lat, lon, lats, lons) <= radius
    assert found >= {f"P{n}" for n in np.flatnonzero(near)}
    assert "Nowhere" not in found
    assert len(found) < len(POINTS) or radius == 20015


def test_no_box_holds_nothing(store: Store) -> None:
    assert store.places_in([1], []) == []


def test_many_boxes_name_a_place_once(store: Store) -> None:
    world = Box(south=-90, north=90, west=-180, east=180)
    assert len(store.places_in([1], [world] * 60)) == len(POINTS)
    assert [place.name for place in store.places_in([2], [world])] == ["P0"]
    assert store.places_in([], [world]) == []


def test_places_by_name(store: Store, tmp_path: Path) -> None:
    assert [place.name for place in store.places_named([1], ["p3", "p1", "absent", "nowhere"])] == [
        "P1",
        "P3",
    ]
    assert store.places_named([2], ["p3"]) == []
