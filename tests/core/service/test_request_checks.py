"""What each field of a request takes: a table of bodies, the status each gets and what its error says."""

from __future__ import annotations

import json

import httpx
import pytest

from core.ingest.items import EntityItem, FactItem

QUERY, BRAIN = "/v1/gb/query", "/v1/brain/ask"
ASKED = {"user_id": "local", "query": "Where does Alice work?"}
ROUTES = (QUERY, BRAIN)

NO_OBJECT = [
    (b"", "is not JSON"),
    (b"{", "is not JSON"),
    (b"null", "must be a JSON object, got null"),
    (b"[]", "must be a JSON object, got an array"),
    (b'"text"', "must be a JSON object, got a string"),
    (b"1", "must be a JSON object, got a number"),
    (b"true", "must be a JSON object, got a boolean"),
    (b'{"a": 1} {"b": 2}', "is not JSON"),
    (b'{"a": NaN}', "NaN is no JSON number"),
    (b'{"a": -Infinity}', "-Infinity is no JSON number"),
    (b'{"user_id": "a", "user_id": "b"}', "'user_id' stands twice"),
    (b'{"reasoning": {"query": "low", "query": "high"}}', "'query' stands twice"),
    (b"\xff\xfe{}", "not UTF-8 from byte 0"),
    (b"\xef\xbb\xbf{}", "is not JSON"),
    (b"{}".decode().encode("utf-16"), "not UTF-8"),
    (b'{"a": "\\ud800"}', "half of a character"),
    (b'{"\\udc00": 1}', "half of a character"),
    (b'{"a": ' + b"[" * 30_000, "nested too deeply"),
    (b'{"a": ' + b"1" * 30_000 + b"}", "too many digits"),
    (b"{'a': 1}", "is not JSON"),
    (b'{"a": "\x00"}', "is not JSON"),
    (b'{"a": "' + b"x" * 65_536 + b'"}', "more than 65536 bytes"),
]
WRONG_FIELDS = [
    ({"query": "x"}, "user_id is missing"),
    ({"user_id": "u1"}, "query is missing"),
    ({"user_id": ""}, "user_id is empty"),
    ({"user_id": " \t"}, "user_id"),
    ({"user_id": None}, "user_id must be a string"),
    ({"user_id": 1}, "user_id must be a string"),
    ({"user_id": "a\nb"}, "user_id has control characters"),
    ({"user_id": "a" * 201}, "user_id"),
    ({"query": ""}, "query is empty"),
    ({"query": "  \n\u3000"}, "query is empty"),
    ({"query": ["x"]}, "query must be a string"),
    ({"query": None}, "query must be a string"),
    ({"dataset": ""}, "dataset"),
    ({"dataset": 1}, "dataset must be a string"),
    ({"dataset": "a\x00b"}, "dataset cannot be taken"),
    ({"dataset": "a" * 201}, "dataset cannot be taken"),
    ({"session_id": "a" * 129}, "session_id has 129 bytes; at most 128"),
    ({"session_id": "é" * 65}, "session_id has 130 bytes"),
    ({"session_id": "a\nb"}, "session_id has control characters"),
    ({"session_id": "a\x85b"}, "session_id has control characters"),
    ({"session_id": 7}, "session_id must be a string"),
    ({"reasoning": "max"}, "reasoning has no level 'max'; there are none, low, medium, high"),
    ({"reasoning": ""}, "reasoning has no level ''"),
    ({"reasoning": 1}, "reasoning must give a level"),
    ({"reasoning": True}, "reasoning must give a level"),
    ({"reasoning": ["low"]}, "reasoning must give a level"),
    ({"reasoning": {"query": "max"}}, "reasoning has no level 'max'"),
    ({"reasoning": {"query": None}}, "reasoning has no level None"),
    ({"reasoning": {"extract": "low"}}, "reasoning has no stage 'extract'; there are query, detect_geo"),
    ({"reasoning": {"Query": "low"}}, "reasoning has no stage 'Query'"),
    ({"models": "claude-haiku-5-5"}, "models must give a model"),
    ({"models": ["m"]}, "models must give a model"),
    ({"models": {"resolve": "m"}}, "models has no stage 'resolve'"),
    ({"models": {"query": ""}}, "models is no model's name: ''"),
    ({"models": {"query": "a b"}}, "models is no model's name"),
    ({"models": {"query": "../x"}}, "models is no model's name"),
    ({"models": {"query": "m\n"}}, "models is no model's name"),
    ({"models": {"query": "a" * 129}}, "models is no model's name"),
    ({"models": {"query": 1}}, "models is no model's name"),
    ({"geo_nearby": "true"}, "geo_nearby"),
    ({"geo_nearby": 1}, "geo_nearby"),
    ({"geo_nearby": True}, "need a server that has geo on"),
    ({"geo_radius_km": 10}, "need a server that has geo on"),
    ({"geo_radius_km": 0}, "geo_radius_km"),
    ({"geo_radius_km": -1}, "geo_radius_km"),
    ({"geo_radius_km": 20015.1}, "geo_radius_km"),
    ({"geo_radius_km": "10"}, "geo_radius_km"),
    ({"geo_radius_km": True}, "geo_radius_km"),
    ({"geo_radius_km": 10, "geo_nearby": False}, "drop one"),
    ({"as_of": "yesterday"}, "as_of not a date or time: 'yesterday'"),
    ({"as_of": ""}, "as_of not a date"),
    ({"known_at": 2024}, "known_at must be a string"),
    ({"qurey": "x"}, "'qurey' is no field of this request; there are user_id, query"),
]
TAKEN = [
    {},
    {"session_id": "é" * 64},
    {"session_id": "a" * 128},
    {"session_id": None},
    {"dataset": "main", "reasoning": None, "models": None, "geo_nearby": None, "geo_radius_km": None},
    {"reasoning": "HIGH"},
    {"reasoning": {"query": "Medium", "detect_geo": "none"}},
    {"reasoning": {}, "models": {}},
    {"models": {"query": "claude-haiku-5-5", "detect_geo": "org/model:7b@v1.0"}},
    {"geo_nearby": False},
    {"as_of": "2024", "known_at": "2099-01-01T00:00:00+02:00"},
]


@pytest.fixture
def client(make_workspace, serve) -> httpx.Client:
    fact = FactItem(subject="Alice", relation="works_at", object="Acme")
    items = [EntityItem(name="Alice", type="person"), EntityItem(name="Acme", type="organization"), fact]
    return serve(make_workspace(items), deterministic=True)


def refused(reply: httpx.Response, status: int) -> str:
    assert (reply.status_code, list(reply.json())) == (status, ["error"]), reply.text
    assert reply.headers["content-type"] == "application/json"
    return reply.json()["error"]


@pytest.mark.parametrize("route", ROUTES)
def test_a_body_that_is_no_object_is_refused(client, route):
    for body, said in NO_OBJECT:
        assert said in refused(client.post(route, content=body), 400), body[:40]


def test_a_field_that_cannot_be_taken_is_refused_and_named(client):
    for change, said in WRONG_FIELDS:
        body = {"query": "x"} if said == "user_id is missing" else ASKED | change
        body = change if said == "query is missing" else body
        assert said in refused(client.post(QUERY, json=body), 400), change


def test_what_is_documented_is_taken(client):
    for change in TAKEN:
        reply = client.post(QUERY, json=ASKED | change)
        assert reply.status_code == 200, reply.text
        assert reply.json().get("session_id") == change.get("session_id")


def test_everything_that_is_wrong_is_said_at_once(client):
    said = refused(client.post(QUERY, json={"query": " ", "session_id": "\n", "k": 1}), 400)
    assert said.count(";") >= 3
    assert all(name in said for name in ("user_id", "query", "session_id", "'k'"))


def test_brain_takes_a_question_a_scope_and_a_user(client):
    for body, said in (
        ({}, "question is missing"),
        ({"question": ""}, "question is empty"),
        ({"question": "x", "scope": ""}, "scope"),
        ({"question": "x", "scope": 1}, "scope must be a string"),
        ({"question": "x", "user_id": ""}, "user_id is empty"),
        ({"question": "x", "session_id": "s"}, "'session_id' is no field"),
    ):
        assert said in refused(client.post(BRAIN, json=body), 400), body


def test_the_body_counts_however_it_is_sent_and_its_sender_reads_why(client):
    def parts(size: int):
        for _ in range(size // 1000):
            yield b"x" * 1000

    for size in (66_000, 10_000_000):
        assert "more than 65536" in refused(client.post(QUERY, content=parts(size)), 400)
        assert "more than 65536" in refused(client.post(QUERY, content=b"x" * size), 400)
    whole = json.dumps(ASKED).encode()
    exact = whole[:-1] + b" " * (65_536 - len(whole)) + b"}"
    assert client.post(QUERY, content=exact).status_code == 200
    assert "more than 65536" in refused(client.post(QUERY, content=exact + b" "), 400)


def test_the_content_type_does_not_matter_as_curl_sends_a_form(client):
    for kind in ("application/x-www-form-urlencoded", "text/plain", "application/json; charset=utf-8"):
        reply = client.post(QUERY, content=json.dumps(ASKED), headers={"content-type": kind})
        assert reply.status_code == 200


def test_checks_come_in_order(make_workspace, serve, turns):
    """400, then 404, then 503, then the work."""
    client = serve(make_workspace(turns))
    wrong = ASKED | {"dataset": "nowhere"}
    assert "level" in refused(client.post(QUERY, json=wrong | {"reasoning": "max"}), 400)
    assert "geo on" in refused(client.post(QUERY, json=wrong | {"geo_nearby": True}), 400)
    assert "no dataset 'nowhere'" in refused(client.post(QUERY, json=wrong), 404)
    assert "no dataset 'ma?n'" in refused(client.post(QUERY, json=ASKED | {"dataset": "ma?n"}), 404)
    assert "no dataset 'main'" in refused(client.post(QUERY, json=ASKED | {"user_id": "u2"}), 404)
    assert "no chat model is configured" in refused(client.post(QUERY, json=ASKED), 503)


def test_other_paths_and_methods_are_refused_in_the_same_shape(client):
    assert "no such path" in refused(client.get("/v1/gb"), 404)
    assert "no such path" in refused(client.post("/v1/gb/query/", json=ASKED), 404)
    reply = client.get(QUERY)
    assert "GET is not taken" in refused(reply, 405)
    assert reply.headers["allow"] == "POST"
    assert client.get("/healthz").json() == {"status": "ok"}


def test_the_description_is_whole_and_loads_nothing(client):
    document = client.get("/openapi.json").json()
    assert set(document["paths"]) >= {QUERY, BRAIN, "/healthz"}
    fields = document["paths"][QUERY]["post"]["requestBody"]["content"]["application/json"]["schema"][
        "properties"
    ]
    page = client.get("/docs")
    assert page.status_code == 200
    assert all(f"<code>{name}</code>" in page.text for name in fields)
    assert "src=" not in page.text
    assert "http-equiv" not in page.text
    assert page.headers["content-security-policy"].startswith("default-src 'none'")
