"""`POST /v1/gb/query` over a real server: the documented shape, with a model that follows a script and without one."""

from __future__ import annotations

import json
import logging

import pytest

from core.errors import ModelError
from core.ingest.ingestor import ingest
from core.ingest.items import ArtifactItem, EntityItem, FactItem
from core.models.chat import ChatError, ChatReply, ChatRequest, Usage
from core.models.prices import cost
from core.models.scripted_chat import Scripted

QUERY = "/v1/gb/query"
GRAPH = [
    ArtifactItem(source="cv", text="Alice joined Acme in 2023 as an engineer. She works on the proxy.", whole=True,
                 summary="Alice joined Acme"),
    EntityItem(name="Alice", type="person", description="engineer"),
    EntityItem(name="Acme", type="organization"),
    EntityItem(name="Globex", type="organization"),
    FactItem(subject="Alice", relation="works_at", object="Acme", valid_at="2025-01-31T09:00:00Z",
             created_at="2025-01-31T09:00:05Z", artifact="cv"),
    FactItem(subject="Alice", relation="worked_at", object="Globex", valid_at="2020-01-01T00:00:00Z",
             invalid_at="2024-12-31T00:00:00Z", created_at="2025-01-31T09:00:05Z",
             expired_at="2025-03-01T00:00:00Z"),
]  # fmt: skip
ASKED = {"user_id": "u1", "query": "Where does Alice work?", "session_id": "chat-42"}
NOTHING = "I don't have any information in memory to answer that."


@pytest.fixture
def script(tmp_path):
    """``script({...}, …)`` is a model that replays these lines."""

    def made(*lines: dict[str, object]) -> Scripted:
        path = tmp_path / "script.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return Scripted(path)

    return made


def test_the_documented_answer_has_the_documented_shape(make_workspace, serve, script):
    chat = script({"stage": "query", "contains": "Where does Alice work?",
                   "reply": {"answer": "Alice works at Acme.", "entities": [1], "edges": [1, 1]}})  # fmt: skip
    client = serve(make_workspace(GRAPH, user_id="u1"), chat=chat)
    reply = client.post(QUERY, json=ASKED)
    assert reply.status_code == 200
    assert reply.json() == {
        "session_id": "chat-42",
        "answer": "Alice works at Acme.",
        "evidence": {
            "entities": [
                {"id": 1, "name": "Alice", "type": "person", "description": "engineer"},
                {"id": 2, "name": "Acme", "type": "organization"},
            ],
            "edges": [
                {"id": 1, "source_id": 1, "target_id": 2, "source": "Alice", "target": "Acme",
                 "relation": "works_at", "artifact_id": 1, "valid_at": "2025-01-31T09:00:00Z",
                 "created_at": "2025-01-31T09:00:05Z"},
            ],
            "passages": [],
        },
    }  # fmt: skip
    without = client.post(QUERY, json={key: ASKED[key] for key in ("user_id", "query")}).json()
    assert list(without) == ["answer", "evidence"]


def test_passages_carry_what_was_given_of_them(make_workspace, serve, script):
    texts = [ArtifactItem(source=f"d{n}", text=f"The proxy note {n}. It fails on big requests.", whole=True,
                          summary="The proxy note") for n in range(6)]  # fmt: skip
    cited = script({"reply": {"answer": "It fails.", "passages": [3, 1, 2, 4, 5, 6, 99]}})
    client = serve(make_workspace(texts, user_id="u1"), chat=cited)
    evidence = client.post(QUERY, json=ASKED | {"query": "The proxy note fails on big requests"}).json()[
        "evidence"
    ]
    passages = evidence["passages"]
    assert evidence["entities"] == evidence["edges"] == []
    assert [passage["artifact_id"] for passage in passages] == [1, 2, 3, 4, 5], (
        "the best five of either index"
    )
    assert {passage["index"] for passage in passages} == {0}
    assert all(passage["parent_id"] for passage in passages)
    assert sum("text" in passage for passage in passages) == 3
    assert all(passage["summary"] == "The proxy note" for passage in passages if "text" not in passage)
    assert all(None not in passage.values() for passage in passages)


def test_ids_that_were_not_sent_are_no_evidence(make_workspace, serve, script):
    workspace = make_workspace(GRAPH, user_id="u1")
    ingest(workspace.store, "main", [("test:1", item) for item in GRAPH], user_id="u2")
    everything = list(range(20))
    chat = script(
        {"reply": {"answer": "All.", "entities": everything, "edges": everything, "passages": everything}}
    )
    client = serve(workspace, chat=chat)
    evidence = {
        user: client.post(QUERY, json=ASKED | {"user_id": user}).json()["evidence"] for user in ("u1", "u2")
    }
    ids = {user: {kind: {row.get("id", row.get("artifact_id")) for row in rows} for kind, rows in found.items()}
           for user, found in evidence.items()}  # fmt: skip
    assert ids["u1"]["edges"] == {1}, "the superseded fact is not sent"
    assert all(ids["u1"][kind].isdisjoint(ids["u2"][kind]) for kind in ids["u1"])
    assert (ids["u2"]["entities"], ids["u2"]["edges"]) == ({4, 5}, {3})


def test_a_model_that_finds_nothing_says_so_without_evidence(make_workspace, serve, script):
    chat = script(
        {"reply": {"answer": "The graph does not say where Alice lives.", "entities": [], "edges": []}}
    )
    body = serve(make_workspace(GRAPH, user_id="u1"), chat=chat).post(QUERY, json=ASKED).json()
    assert body["answer"] == "The graph does not say where Alice lives."
    assert body["evidence"] == {"entities": [], "edges": [], "passages": []}


def test_an_empty_dataset_gives_the_fixed_answer_without_a_model_call(make_workspace, serve, script):
    workspace = make_workspace([], user_id="u1")
    workspace.store.ensure_dataset("main", "u1")
    body = serve(workspace, chat=script({"outcome": "unavailable"})).post(QUERY, json=ASKED).json()
    assert (body["answer"], body["evidence"]) == (NOTHING, {"entities": [], "edges": [], "passages": []})


@pytest.mark.parametrize(
    "line",
    [{"outcome": outcome} for outcome in ("truncated", "empty", "unparsable", "timeout", "rate_limited", "overloaded",
                                          "unavailable", "unauthorized", "bad_request")]
    + [{"reply": reply} for reply in ("no json", '{"answer": 1}', {"answer": " "}, {"entities": [1]},
                                      {"answer": "x", "edges": ["one"]})],
)  # fmt: skip
def test_a_model_that_fails_is_a_502_and_recorded(make_workspace, serve, script, line):
    workspace = make_workspace(GRAPH, user_id="u1")
    reply = serve(workspace, chat=script(line)).post(QUERY, json=ASKED)
    assert (reply.status_code, list(reply.json())) == (502, ["error"])
    kept = workspace.store.journals.inferences("u1", session_id="chat-42")
    assert [call["stage"] for call in kept] == ["query", "embed"]
    assert kept[0]["outcome"] == line.get("outcome", kept[0]["outcome"]) != "ok"
    assert workspace.store.journals.trajectories("u1")[0].outcome == "error"


def test_a_refusal_is_an_outcome_and_no_failure(make_workspace, serve, script):
    reply = serve(make_workspace(GRAPH, user_id="u1"), chat=script({"outcome": "refused"})).post(
        QUERY, json=ASKED
    )
    assert reply.status_code == 200
    assert "declined" in reply.json()["answer"]
    assert reply.json()["evidence"] == {"entities": [], "edges": [], "passages": []}


def test_level_and_model_of_the_stage_reach_the_model(make_workspace, serve):
    asked: list[ChatRequest] = []

    class Model:
        default_model = "m"

        def reply(self, request: ChatRequest) -> ChatReply:
            asked.append(request)
            return ChatReply(text='{"answer": "At Acme.", "edges": [1]}', model=request.model or "m")

    workspace = make_workspace(GRAPH, user_id="u1")
    client = serve(workspace, chat=Model())
    for change in ({}, {"reasoning": "HIGH"}, {"reasoning": {"detect_geo": "low"}},
                   {"reasoning": {"query": "low"}, "models": {"query": "big", "detect_geo": "small"}}):  # fmt: skip
        assert client.post(QUERY, json=ASKED | change).status_code == 200
    assert [(request.reasoning, request.model) for request in asked] == [
        ("none", None), ("high", None), ("none", None), ("low", "big"),
    ]  # fmt: skip
    last = workspace.store.journals.inferences("u1")[0]
    assert (last["model"], last["reasoning"], last["type"], last["session_id"]) == (
        "big",
        "low",
        "query",
        "chat-42",
    )


def test_without_a_model_it_answers_out_of_its_evidence(make_workspace, serve):
    client = serve(make_workspace(GRAPH, user_id="u1"), deterministic=True)
    body = client.post(QUERY, json=ASKED).json()
    assert "Alice works at Acme" in body["answer"]
    assert [edge["id"] for edge in body["evidence"]["edges"]] == [1]
    assert {entity["name"] for entity in body["evidence"]["entities"]} >= {"Alice", "Acme"}
    past = client.post(QUERY, json=ASKED | {"as_of": "2022", "known_at": "2025-02-01"}).json()
    assert [(edge["relation"], edge["expired_at"]) for edge in past["evidence"]["edges"]] == [
        ("worked_at", "2025-03-01T00:00:00Z")
    ]


def test_what_breaks_inside_is_said_in_the_log_and_not_to_the_caller(make_workspace, serve, caplog):
    class Broken:
        default_model = "m"

        def reply(self, request: ChatRequest) -> ChatReply:
            raise KeyError("sk-secret of the caller's text")

    client = serve(make_workspace(GRAPH, user_id="u1"), chat=Broken())
    with caplog.at_level(logging.ERROR):
        reply = client.post(QUERY, json=ASKED)
    assert reply.status_code == 500
    assert reply.json() == {"error": "the server failed on this request; its log says where"}
    assert "KeyError at " in caplog.text
    assert "test_graph_route.py:" in caplog.text
    assert "sk-secret" not in caplog.text
    assert "Traceback" not in caplog.text


def test_a_key_in_an_error_is_not_passed_on(make_workspace, serve, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-very-secret")

    class Leaking:
        default_model = "m"

        def reply(self, request: ChatRequest) -> ChatReply:
            raise ChatError("the service does not know sk-ant-very-secret", "unauthorized")

    reply = serve(make_workspace(GRAPH, user_id="u1"), chat=Leaking()).post(QUERY, json=ASKED)
    assert reply.status_code == 502
    assert "very-secret" not in reply.text
    assert "the service does not know" in reply.text


def test_a_damaged_store_is_a_502_that_names_no_path(make_workspace, serve, caplog):
    workspace = make_workspace(GRAPH, user_id="u1")
    with workspace.store.database.transaction() as connection:
        connection.execute("UPDATE embedding SET vector = x'00'")
        connection.execute("DROP TABLE fact")
    reply = serve(workspace, deterministic=True).post(QUERY, json=ASKED)
    assert reply.status_code == 502
    assert reply.json() == {"error": "the store could not be searched or written; the server's log says why"}
    assert str(workspace.store.database.path) in caplog.text


def test_a_fact_that_ended_shows_both_times_and_one_of_no_text_no_artifact(make_workspace, serve):
    ended = FactItem(subject="Alice", relation="works_at", object="Acme", valid_at="2020-01-01T00:00:00Z",
                     invalid_at="2022-01-01T00:00:00Z", created_at="2025-01-31T00:00:00Z")  # fmt: skip
    body = serve(make_workspace([ended], user_id="u1"), deterministic=True).post(QUERY, json=ASKED).json()
    assert body["evidence"]["edges"] == [
        {"id": 1, "source_id": 1, "target_id": 2, "source": "Alice", "target": "Acme", "relation": "works_at",
         "valid_at": "2020-01-01T00:00:00Z", "invalid_at": "2022-01-01T00:00:00Z", "created_at": "2025-01-31T00:00:00Z"}
    ]  # fmt: skip


def test_a_passage_of_a_long_text_has_its_place_in_it(make_workspace, serve):
    filler = "The canal is long and its locks are slow to fill. " * 60
    long = ArtifactItem(source="log", text=f"{filler}The proxy buffer refuses large requests.")
    workspace = make_workspace([ArtifactItem(source="first", text="Lunch.", whole=True), long], user_id="u1")
    chunks = workspace.store.chunks(range(1, 50))
    last = chunks[-1]
    question = {"query": last.text[-300:]}
    body = serve(workspace, deterministic=True).post(QUERY, json=ASKED | question).json()
    found = {row["artifact_id"]: row for row in body["evidence"]["passages"]}
    assert last.position > 1
    assert (found[last.chunk_id]["parent_id"], found[last.chunk_id]["index"]) == (2, last.position)
    assert found[last.chunk_id]["text"] == last.text


def test_a_summary_is_given_only_where_the_search_found_it(make_workspace, serve):
    items = [ArtifactItem(source="a", text="proxy buffer limit", summary="lunch at the canal", whole=True),
             ArtifactItem(source="b", text="proxy buffer limits", summary="proxy buffer limit", whole=True)]  # fmt: skip
    client = serve(make_workspace(items, user_id="u1"), deterministic=True)
    passages = client.post(QUERY, json=ASKED | {"query": "proxy buffer limit"}).json()["evidence"]["passages"]
    assert [(row["artifact_id"], row.get("summary")) for row in passages] == [
        (1, None),
        (2, "proxy buffer limit"),
    ]
    assert "summary" not in passages[0]


def test_a_question_that_cannot_be_embedded_is_a_502_and_recorded(make_workspace, serve, script, monkeypatch):
    def fails(texts, progress=None):
        raise ModelError("embedding with text-embedding-3-small failed: timeout")

    workspace = make_workspace(GRAPH, user_id="u1")
    monkeypatch.setattr(workspace.embedder, "embed", fails)
    reply = serve(workspace, chat=script({"reply": {"answer": "never"}})).post(QUERY, json=ASKED)
    assert (reply.status_code, reply.json()) == (
        502,
        {"error": "embedding with text-embedding-3-small failed: timeout"},
    )
    (call,) = workspace.store.journals.trajectories("u1", session_id="chat-42")
    assert (call.outcome, call.kind) == ("error", "query")


def test_a_call_is_kept_with_its_tokens_and_cost_and_said_as_an_event(
    make_workspace, serve, script, monkeypatch, tmp_path
):
    (tmp_path / "prices.toml").write_text(
        'as_of = "2026-01-01"\n[models]\nbag-64 = {input = 0, output = 0}\n'
    )
    monkeypatch.setenv("ASSAY_PRICES", str(tmp_path / "prices.toml"))
    usage = {"input_tokens": 1000, "output_tokens": 100}
    line = {"reply": {"answer": "At Acme.", "edges": [1]}, "model": "claude-haiku-5-5", "usage": usage}
    workspace = make_workspace(GRAPH, user_id="u1")
    assert serve(workspace, chat=script(line)).post(QUERY, json=ASKED).status_code == 200
    call = next(one for one in workspace.store.journals.inferences("u1") if one["stage"] == "query")
    spent = cost("claude-haiku-5-5", Usage(**usage))
    assert (call["type"], call["input_tokens"], call["output_tokens"]) == ("query", 1000, 100)
    assert call["cost_usd"] == spent > 0
    (event,) = workspace.store.journals.events("u1")
    assert {
        "session_id": "chat-42",
        "kind": "query",
        "outcome": "ok",
        "cost_usd": spent,
    }.items() <= event.items()
