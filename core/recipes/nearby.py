"""What lies near the places of a question: the places searched around, and the entities within the radius."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.errors import UsageError
from core.geo import detect
from core.geo.places import GeoResolver, GeoSearch
from core.geo.sphere import boxes, check_radius, within
from core.ingest.graph_rows import normal_name
from core.profile import Profile
from core.recipes.inquiry import Inquiry, Record
from core.records import Entity
from core.stages.keywords import stands_in
from core.trace import Anchor, Nearby, NearbyEntity

DECLINED = "The model declined to list the places of the question; none of them was searched around."
NO_PLACE = "The question names no known place, so nothing was searched nearby."


def with_radius(profile: Profile, geo: GeoResolver | None, radius_km: float) -> Profile:
    """``profile`` with that radius. Raises UsageError for a radius out of range, without geo, for another recipe."""
    if geo is None:
        raise UsageError(
            "what lies nearby is searched only with geo on: open the workspace with geo='gazetteer' "
            "(--geo gazetteer), or leave the radius out"
        )
    if profile.recipe != "graph":
        raise UsageError(f"what lies nearby is searched by recipe graph, not by {profile.recipe}")
    return profile.with_values({"geo.radius_km": check_radius(radius_km)})


def mentioned(inquiry: Inquiry, geo: GeoSearch, record: Record) -> tuple[str, ...]:
    """Names of the places the question mentions: by the model (stage ``detect_geo``) where there is one, whether or not
    nearby is asked for; else by the resolver, and only if it is."""
    if inquiry.chat is not None:
        names = inquiry.by_model(
            detect.STAGE,
            detect.SYSTEM,
            detect.prompt(inquiry.question),
            lambda reply: None if reply.refused else detect.read(reply, inquiry.question),
        )
        if names is None and geo.nearby:
            record.notices.append(DECLINED)
    else:
        names = tuple(place.name for place in geo.resolver.find(inquiry.question)) if geo.nearby else ()
    record.lap(detect.STAGE, places=len(names or ()))
    return names or ()


def search(
    inquiry: Inquiry, geo: GeoSearch, names: Sequence[str], matched: Sequence[Entity], record: Record
) -> tuple[Nearby | None, list[Entity]]:
    """Around the places of those names and the ``matched`` entities with coordinates; None where there is neither.

    A place that is stored lies where the store says, another where the resolver does. Also returns the entities found,
    nearest first, at most ``geo.entities`` of them.
    """
    named = _named(inquiry, geo, names, record)
    anchors = [*named.values(), *_matched(inquiry, named, matched)]
    if not anchors:
        record.notices.append(NO_PLACE)
        return None, []
    radius = inquiry.profile.number("geo.radius_km")
    found = _found(inquiry, anchors, {anchor.entity_id for anchor in named.values()}, radius)
    kept = found[: inquiry.profile.count("geo.entities")]
    if len(kept) < len(found):
        record.notices.append(
            f"{len(found)} entities lie within {radius:g} km; the nearest {len(kept)} are given (geo.entities)."
        )
    nearby = Nearby(
        radius_km=radius,
        anchors=tuple(anchors),
        found=tuple(_nearby(entity, km, anchor) for km, entity, anchor in kept),
        within=len(found),
    )
    return nearby, [entity for _, entity, _ in kept]


def lines(nearby: Nearby | None) -> list[str]:
    """One line for each entity found: what a model is told of it."""
    if nearby is None:
        return []
    return [
        f"[entity {item.entity_id}] {item.name} ({item.type}) lies {item.distance_km:.1f} km from {item.anchor}"
        for item in nearby.found
    ]


def _named(inquiry: Inquiry, geo: GeoSearch, names: Sequence[str], record: Record) -> dict[str, Anchor]:
    """The place of each name as an anchor; names that nobody knows are said."""
    anchors: dict[str, Anchor] = {}
    for name in names:
        anchor = _stored(inquiry, name)
        if anchor is None and (place := geo.resolver.resolve(name)):
            anchor = _stored(inquiry, place.name) or Anchor(
                name=place.name, latitude=place.latitude, longitude=place.longitude, about=place.about
            )
        if anchor is None:
            record.notices.append(f"No place called {name!r} is known; it was not searched around.")
        elif anchor not in anchors.values():
            anchors[name] = anchor
    return anchors


def _stored(inquiry: Inquiry, name: str) -> Anchor | None:
    stored = inquiry.store.places_named(inquiry.dataset_ids, [normal_name(name)])
    return _anchor(stored[0]) if stored else None


def _matched(inquiry: Inquiry, named: dict[str, Anchor], matched: Sequence[Entity]) -> list[Anchor]:
    """The matched entities that are places, but for those a name of the question tells apart from what it means: `York`
    is not meant by `New York`, and neither of `Paris` and `Paris, Texas` by the other."""
    known = {anchor.entity_id for anchor in named.values()}
    only_named = inquiry.profile.choice("geo.anchors") == "named"
    return [
        _anchor(entity)
        for entity in matched
        if entity.latitude is not None
        and entity.entity_id not in known
        and not (only_named and not stands_in(entity.name, inquiry.question))
        and not any(_is_another(entity.name, name) for name in named)
    ]


def _is_another(name: str, said: str) -> bool:
    """Whether a place is not the one said, though its name is a part of that, or that made definite by a region."""
    if normal_name(name) == normal_name(said):
        return False
    return stands_in(name, said) or normal_name(name.partition(",")[0]) == normal_name(said)


def _found(
    inquiry: Inquiry, anchors: Sequence[Anchor], named: set[int | None], radius: float
) -> list[tuple[float, Entity, Anchor]]:
    """Each entity once, with its nearest anchor that is not itself, by (distance, row number). Places that the question
    names are what is searched around, never what is found."""
    areas = [box for anchor in anchors for box in boxes(anchor.latitude, anchor.longitude, radius)]
    places = inquiry.store.places_in(inquiry.dataset_ids, areas)
    lats = np.array([place.latitude for place in places], dtype=np.float64)
    lons = np.array([place.longitude for place in places], dtype=np.float64)
    nearest: dict[int, tuple[float, Entity, Anchor]] = {}
    for anchor in anchors:
        rows, distances = within(anchor.latitude, anchor.longitude, radius, lats, lons)
        for row, km in zip(rows.tolist(), distances.tolist(), strict=True):
            place = places[row]
            if place.entity_id in named or place.entity_id == anchor.entity_id:
                continue
            if row not in nearest or km < nearest[row][0]:
                nearest[row] = (km, place, anchor)
    return sorted(nearest.values(), key=lambda found: (found[0], found[1].entity_id))


def _anchor(entity: Entity) -> Anchor:
    assert entity.latitude is not None
    assert entity.longitude is not None
    return Anchor(
        name=entity.name,
        latitude=entity.latitude,
        longitude=entity.longitude,
        entity_id=entity.entity_id,
        about=entity.description or entity.type,
    )


def _nearby(entity: Entity, km: float, anchor: Anchor) -> NearbyEntity:
    assert entity.latitude is not None
    assert entity.longitude is not None
    return NearbyEntity(
        entity_id=entity.entity_id,
        name=entity.name,
        type=entity.type,
        latitude=entity.latitude,
        longitude=entity.longitude,
        distance_km=km,
        anchor=anchor.name,
    )
