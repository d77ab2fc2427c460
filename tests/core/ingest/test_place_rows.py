"""Storing resolved places: once, in one transaction, whoever else does it at the same time."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from core.errors import StoreError
from core.ingest.place_rows import store_places
from core.store import Store
from core.trace import Anchor

OSLO = Anchor(name="Oslo", latitude=59.91273, longitude=10.74609, about="city in Norway")
LIMA = Anchor(name="Lima", latitude=-12.04318, longitude=-77.02824, about="city in Peru")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "a.db") as opened:
        opened.ensure_dataset("main")
        yield opened


def test_what_is_stored_is_named(store: Store) -> None:
    dataset = store.dataset("main")
    ids = store_places(store, dataset, [OSLO, LIMA])
    assert [(each.name, each.entity_id) for each in store.all_entities([1])] == list(ids.items())
    assert store.dataset("main").revision == dataset.revision + 1
    assert store_places(store, dataset, [LIMA, OSLO]) == ids
    assert store.dataset("main").revision == dataset.revision + 1
    assert store_places(store, dataset, [OSLO, replace(OSLO, name="ＯＳＬＯ")]) == {
        "Oslo": ids["Oslo"],
        "ＯＳＬＯ": ids["Oslo"],
    }


def test_other_coordinates_do_not_overwrite(store: Store) -> None:
    store_places(store, store.dataset("main"), [OSLO])
    store_places(store, store.dataset("main"), [replace(OSLO, latitude=0.0, longitude=0.0)])
    assert [(each.latitude, each.longitude) for each in store.all_entities([1])] == [(59.91273, 10.74609)]


def test_at_the_same_time(store: Store) -> None:
    dataset = store.dataset("main")
    with ThreadPoolExecutor(8) as pool:
        ids = set(pool.map(lambda _: store_places(store, dataset, [OSLO])["Oslo"], range(24)))
    assert len(ids) == len(store.all_entities([1])) == 1
    assert store.dataset("main").revision == dataset.revision + 1


def test_a_dataset_deleted_meanwhile(store: Store) -> None:
    dataset = store.dataset("main")
    store.delete_dataset("main")
    assert store_places(store, dataset, [OSLO]) == {}
    assert store.all_entities([dataset.dataset_id]) == []


def test_all_or_nothing(store: Store) -> None:
    with pytest.raises(StoreError):  # the table itself refuses such a latitude
        store_places(store, store.dataset("main"), [OSLO, replace(LIMA, latitude=91.0)])
    assert store.all_entities([1]) == []
    assert store.dataset("main").revision == 0
