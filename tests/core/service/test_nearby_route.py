"""`geo_nearby` and `geo_radius_km` over a real server: the search they turn on, and the `nearby` of the response."""

from __future__ import annotations

import pytest

from core.geo.places import resolver_named
from core.ingest.items import EntityItem
from core.models.chat import ChatReply, ChatRequest

QUERY = "/v1/gb/query"
ITEMS = [
    EntityItem(name="Kranzler", type="cafe", latitude=52.5038, longitude=13.3304),
    EntityItem(name="Zwinger", type="palace", latitude=51.0530, longitude=13.7338),
]
ASKED = {"user_id": "local", "query": "What is near Berlin?"}


class Model:
    """Lists Berlin when asked for places, else cites the first entity."""

    default_model = "m"

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, str | None]] = []

    def reply(self, request: ChatRequest) -> ChatReply:
        self.asked.append((request.stage, request.reasoning, request.model))
        places = request.stage == "detect_geo"
        return ChatReply(
            text='{"places": ["Berlin"]}' if places else '{"answer": "A cafe.", "entities": [1]}', model="m"
        )


@pytest.fixture
def with_geo(make_workspace):
    workspace = make_workspace(ITEMS)
    workspace.geo = resolver_named("gazetteer")
    return workspace


def test_nearby_is_there_when_it_is_asked_for(with_geo, serve):
    client = serve(with_geo, deterministic=True)
    assert "nearby" not in client.post(QUERY, json=ASKED).json()
    assert "nearby" not in client.post(QUERY, json=ASKED | {"geo_nearby": False}).json()
    found = client.post(QUERY, json=ASKED | {"geo_nearby": True}).json()["nearby"]
    assert list(found) == ["radius_km", "anchors", "nearby"]
    assert found["radius_km"] == 50
    assert [anchor["name"] for anchor in found["anchors"]] == ["Berlin"]
    assert [(one["id"], one["name"], one["anchor"]) for one in found["nearby"]] == [(1, "Kranzler", "Berlin")]
    assert 0 < found["nearby"][0]["distance_km"] < 10
    wide = client.post(QUERY, json=ASKED | {"geo_radius_km": 20015}).json()["nearby"]
    assert (wide["radius_km"], [one["name"] for one in wide["nearby"]]) == (20015, ["Kranzler", "Zwinger"])
    nowhere = client.post(QUERY, json=ASKED | {"query": "What is it?", "geo_nearby": True}).json()
    assert "nearby" not in nowhere, "the question has no place"


def test_places_of_the_question_are_kept_as_entities(with_geo, serve):
    client = serve(with_geo, deterministic=True)
    client.post(QUERY, json=ASKED | {"geo_nearby": True})
    again = client.post(QUERY, json=ASKED | {"geo_nearby": True}).json()["nearby"]
    stored = again["anchors"][0]["id"]
    assert with_geo.store.entities([stored])[0].name == "Berlin"


def test_both_stages_run_at_their_own_level_and_model(with_geo, serve):
    model = Model()
    body = ASKED | {"geo_radius_km": 5, "reasoning": {"detect_geo": "LOW"}, "models": {"query": "big"}}
    reply = serve(with_geo, chat=model).post(QUERY, json=body)
    assert reply.status_code == 200
    assert model.asked == [("detect_geo", "low", None), ("query", "none", "big")]
