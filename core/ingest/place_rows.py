"""Storing the places a question named, so that later questions find them in the database."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from core.errors import StoreError
from core.ingest.graph_rows import normal_name, store_entity
from core.ingest.items import EntityItem
from core.ingest.outcome import Outcome, Target
from core.records import Dataset
from core.store import Store
from core.store.base import dataset_scope
from core.trace import Anchor, Trace

PLACE = "place"
"""Type of an entity that was resolved."""
PLACE_TYPES = frozenset(
    "place location geo city town village municipality capital metropolis settlement district suburb".split()
)
"""Types of entities that are the place of their name: they are given its coordinates."""


def with_places_stored(trace: Trace, store: Store, datasets: Sequence[Dataset]) -> Trace:
    """The trace with its resolved places stored, and their numbers in it. Where several datasets were asked, or the
    database cannot be written, the answer stands all the same and a notice says so."""
    if trace.nearby is None or all(anchor.entity_id is not None for anchor in trace.nearby.anchors):
        return trace
    if len(datasets) > 1:
        return trace.with_notices(["Places are stored only where a single dataset is asked."])
    new = [anchor for anchor in trace.nearby.anchors if anchor.entity_id is None]
    try:
        stored = store_places(store, datasets[0], new)
    except StoreError as error:
        return trace.with_notices([f"The places of the question were not stored: {error}"])
    anchors = tuple(
        anchor if anchor.entity_id is not None else replace(anchor, entity_id=stored.get(anchor.name))
        for anchor in trace.nearby.anchors
    )
    return replace(trace, nearby=replace(trace.nearby, anchors=anchors))


def store_places(store: Store, dataset: Dataset, anchors: Iterable[Anchor]) -> dict[str, int]:
    """Stores resolved places as entities in one transaction; name → row number of the entity that is the place.

    An entity of that name with coordinates keeps them; one of a place's type without gets them; else the place becomes an
    entity of its own. The dataset's revision grows only if something is new. Empty for a dataset deleted meanwhile.
    """
    with store.database.transaction(dataset_scope(dataset.name, dataset.user_id)) as connection:
        target = Target(
            connection=connection, dataset_id=dataset.dataset_id, dataset_name=dataset.name, seen={}
        )
        if not target.rows("SELECT 1 FROM dataset WHERE dataset_id = ?", dataset.dataset_id):
            return {}
        outcomes = {anchor.name: _store(target, anchor) for anchor in anchors}
        if any(outcome != "unchanged" for outcome in outcomes.values()):
            connection.execute(
                "UPDATE dataset SET revision = revision + 1 WHERE dataset_id = ?", (dataset.dataset_id,)
            )
        return {name: _located(target, name) for name in outcomes}


def _store(target: Target, anchor: Anchor) -> Outcome:
    known = target.rows(
        """SELECT name, type, description, latitude FROM entity WHERE dataset_id = ? AND normal_name = ?
           ORDER BY entity_id""",
        target.dataset_id,
        normal_name(anchor.name),
    )
    if any(latitude is not None for *_, latitude in known):
        return "unchanged"
    name, kind, description = next(
        ((name, kind, about) for name, kind, about, _ in known if str(kind).lower() in PLACE_TYPES),
        (anchor.name, PLACE, ""),
    )
    item = EntityItem(
        name=str(name),
        type=str(kind),
        description=str(description) or anchor.about,
        latitude=anchor.latitude,
        longitude=anchor.longitude,
    )
    return store_entity(target, item)


def _located(target: Target, name: str) -> int:
    """The first entity of that name that has coordinates."""
    rows = target.rows(
        """SELECT entity_id FROM entity WHERE dataset_id = ? AND normal_name = ? AND latitude IS NOT NULL
           ORDER BY entity_id LIMIT 1""",
        target.dataset_id,
        normal_name(name),
    )
    return int(str(rows[0][0]))
