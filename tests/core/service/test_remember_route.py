"""`POST /v1/gb/remember` over a real server: what a text becomes, with a model that follows a script and without one."""

from __future__ import annotations

import json

import pytest

from core.models.scripted_chat import Scripted

REMEMBER, QUERY, BRAIN = "/v1/gb/remember", "/v1/gb/query", "/v1/brain/ask"
TEXT = "Alice works at Acme and lives in Paris."
ASKED = {"user_id": "u1", "text": TEXT}
EXTRACTED = {
    "entities": [{"name": "Alice", "type": "person"}, {"name": "Acme", "type": "organization"},
                 {"name": "Paris", "type": "place"}],
    "facts": [{"source": "Alice", "relation": "works_at", "target": "Acme", "description": "Alice works at Acme."},
              {"source": "Alice", "relation": "lives_in", "target": "Paris", "description": "Alice lives in Paris."}],
}  # fmt: skip
KEYS = ["artifact_id", "chunks", "entities", "edges", "superseded", "extracted"]


@pytest.fixture
def script(tmp_path):
    def made(*lines: dict[str, object]) -> Scripted:
        path = tmp_path / "script.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return Scripted(path)

    return made


def test_a_text_is_remembered_and_can_be_asked(make_workspace, serve, script):
    chat = script({"stage": "extract", "reply": EXTRACTED},
                  {"stage": "query", "reply": {"answer": "Alice works at Acme.", "edges": [1]}})  # fmt: skip
    client = serve(make_workspace([]), chat=chat)
    reply = client.post(REMEMBER, json=ASKED | {"session_id": "chat-42", "valid_at": "2025-01-31"})
    assert reply.status_code == 200
    assert reply.json() == {
        "artifact_id": 1,
        "chunks": 1,
        "entities": 3,
        "edges": 2,
        "superseded": 0,
        "extracted": True,
    }
    body = client.post(QUERY, json={"user_id": "u1", "query": "Where does Alice work?"}).json()
    assert body["answer"] == "Alice works at Acme."
    assert [entity["name"] for entity in body["evidence"]["entities"]] == ["Alice", "Acme"]
    edge = body["evidence"]["edges"][0]
    assert (edge["relation"], edge["artifact_id"], edge["valid_at"]) == (
        "works_at",
        1,
        "2025-01-31T00:00:00Z",
    )
    assert set(edge) == {"id", "source_id", "target_id", "source", "target", "relation", "artifact_id", "valid_at",
                         "created_at"}  # fmt: skip


def test_a_newer_text_supersedes(make_workspace, serve, script):
    moved = {"entities": [{"name": "Alice", "type": "person"}, {"name": "Globex", "type": "organization"}],
             "facts": [{"source": "Alice", "relation": "works_at", "target": "Globex"}]}  # fmt: skip
    chat = script({"stage": "extract", "contains": "Globex", "reply": moved},
                  {"stage": "extract", "reply": EXTRACTED},
                  {"stage": "supersede", "reply": {"superseded": [{"fact": 1, "by": 1}]}},
                  {"stage": "query", "reply": {"answer": "At Globex.", "edges": [1, 2, 3]}})  # fmt: skip
    client = serve(make_workspace([]), chat=chat)
    client.post(REMEMBER, json=ASKED | {"valid_at": "2024"})
    later = client.post(
        REMEMBER, json={"user_id": "u1", "text": "Alice moved to Globex.", "valid_at": "2025"}
    ).json()
    assert (later["edges"], later["superseded"]) == (1, 1)
    ask = {"user_id": "u1", "query": "Where does Alice work?"}
    now = client.post(QUERY, json=ask).json()["evidence"]["edges"]
    assert [(edge["id"], edge["target"]) for edge in now] == [(2, "Paris"), (3, "Globex")]
    before = client.post(QUERY, json=ask | {"as_of": "2024-06"}).json()["evidence"]["edges"]
    assert [edge["id"] for edge in before] == [2], "it is not live any more"


def test_without_a_model_it_is_refused_or_stores_chunks_and_says_so(make_workspace, serve):
    workspace = make_workspace([])
    refused = serve(workspace).post(REMEMBER, json=ASKED)
    assert (refused.status_code, "no chat model" in refused.json()["error"]) == (503, True)
    assert workspace.store.datasets("u1") == [], "nothing was begun"
    client = serve(workspace, deterministic=True)
    stored = client.post(
        REMEMBER, json=ASKED | {"text": f"{TEXT} " + "The office has a garden. " * 100}
    ).json()
    assert list(stored) == KEYS
    assert (stored["chunks"] > 1, stored["entities"], stored["edges"], stored["extracted"]) == (
        True,
        0,
        0,
        False,
    )
    body = client.post(
        QUERY, json={"user_id": "u1", "query": "Alice works at Acme and lives in Paris"}
    ).json()
    brain = client.post(BRAIN, json={"user_id": "u1", "question": "Where does Alice work?"}).json()
    assert TEXT in body["answer"] or body["evidence"]["passages"] == []
    assert TEXT in brain["citations"][0]["text"]


def test_the_same_text_again_changes_nothing(make_workspace, serve):
    client = serve(make_workspace([]), deterministic=True)
    first, again = (client.post(REMEMBER, json=ASKED).json() for _ in range(2))
    assert first == again
    other = client.post(REMEMBER, json=ASKED | {"session_id": "s2"}).json()
    assert other["artifact_id"] != first["artifact_id"]


@pytest.mark.parametrize(
    ("change", "said"),
    [({"text": ""}, "text is empty"), ({"text": " \n"}, "text is empty"), ({"text": "a\x00b"}, "a NUL at character 1"),
     ({"text": None}, "text must be a string"), ({"user_id": ""}, "user_id is empty"),
     ({"valid_at": "soon"}, "valid_at not a date or time"), ({"valid_at": 2024}, "valid_at must be a string"),
     ({"session_id": "a" * 129}, "129 bytes"), ({"dataset": "\n"}, "dataset cannot be taken"),
     ({"reasoning": {"query": "low"}}, "no stage 'query'; there are summarize, extract, supersede"),
     ({"models": {"detect_geo": "m"}}, "no stage 'detect_geo'"), ({"query": "x"}, "'query' is no field"),
     ({"text": "x" * 65_536}, "more than 65536 bytes")],
)  # fmt: skip
def test_what_cannot_be_taken_is_refused_before_anything_is_stored(make_workspace, serve, change, said):
    workspace = make_workspace([])
    reply = serve(workspace, deterministic=True).post(REMEMBER, json=ASKED | change)
    assert (reply.status_code, list(reply.json())) == (400, ["error"])
    assert said in reply.json()["error"]
    assert workspace.store.datasets("u1") == []


@pytest.mark.parametrize("line", [{"outcome": "truncated"}, {"outcome": "refused"}, {"reply": "no json"},
                                  {"reply": {"entities": []}}, {"reply": {"entities": [], "facts": [{}]}}])  # fmt: skip
def test_a_model_that_fails_stores_nothing_and_is_recorded(make_workspace, serve, script, line):
    workspace = make_workspace([])
    reply = serve(workspace, chat=script(line)).post(REMEMBER, json=ASKED | {"session_id": "s1"})
    assert (reply.status_code, list(reply.json())) == (502, ["error"])
    assert workspace.store.datasets("u1") == []
    kept = workspace.store.journals.inferences("u1", session_id="s1")
    assert [(call["stage"], call["type"]) for call in kept] == [("extract", "remember")]
    assert kept[0]["outcome"] != "ok"


def test_level_and_model_of_each_stage_are_recorded(make_workspace, serve, script):
    workspace = make_workspace([])
    client = serve(workspace, chat=script({"stage": "extract", "reply": EXTRACTED, "model": "m"}))
    assert client.post(REMEMBER, json=ASKED | {"reasoning": "Low"}).status_code == 200
    call = workspace.store.journals.inferences("u1")[0]
    assert (call["stage"], call["reasoning"]) == ("extract", "low")
