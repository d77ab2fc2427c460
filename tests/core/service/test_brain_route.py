"""`POST /v1/brain/ask` over a real server: cited or silent, and of the caller's own datasets only."""

from __future__ import annotations

from core.ingest.ingestor import ingest
from core.ingest.items import NodeItem

ASK = "/v1/brain/ask"


def test_an_answer_is_cited_and_grounded(make_workspace, serve, turns):
    client = serve(make_workspace(turns))
    reply = client.post(ASK, json={"question": "Why did requests over 10KB fail?", "scope": "main"})
    body = reply.json()
    assert reply.status_code == 200
    assert list(body) == ["answer", "abstained", "reason", "citations", "grounding", "trace_id"]
    assert (body["abstained"], body["reason"]) == (False, None)
    assert body["grounding"] == [cited["id"] for cited in body["citations"]]
    assert all(f"[mem:{cited['id']}]" in body["answer"] for cited in body["citations"])
    assert body["citations"][0]["source"] in ("log", "notes")
    assert len(body["trace_id"]) == 24


def test_it_abstains_with_a_reason(make_workspace, serve, turns):
    client = serve(make_workspace(turns))
    body = client.post(ASK, json={"question": "Who won the chess match?"}).json()
    assert (body["abstained"], body["reason"]) == (True, "below_floor")
    assert body["citations"] == body["grounding"] == []
    assert client.post(ASK, json={"question": "what is the?"}).json()["reason"] == "no_terms"


def test_scope_is_one_dataset_or_all_of_the_user(make_workspace, serve, turns):
    workspace = make_workspace(turns)
    other = NodeItem(level="L0", text="Requests over 10KB fail at the mirror too.", source="other", turn="o1")
    for dataset, user in (("second", "local"), ("*", "local"), ("third", "u2")):
        ingest(workspace.store, dataset, [("test:1", other)], user_id=user)
    client = serve(workspace)

    def sources(**asked):
        body = client.post(ASK, json={"question": "Why do requests over 10KB fail?", **asked}).json()
        return {cited["source"] for cited in body["citations"]}

    assert sources(scope="second") == sources(scope="*") == {"other"}
    assert sources(scope="main") == {"log", "notes"}
    assert sources(scope="workspace") == sources() == sources(scope=None) == {"log", "notes", "other"}
    assert sources(user_id="u2") == {"other"}


def test_an_unknown_dataset_is_404_and_a_workspace_without_any_abstains(make_workspace, serve, turns):
    client = serve(make_workspace(turns))
    reply = client.post(ASK, json={"question": "Why?", "scope": "mai*"})
    assert (reply.status_code, "no dataset 'mai*'" in reply.json()["error"]) == (404, True)
    body = client.post(ASK, json={"question": "Why?", "user_id": "nobody"}).json()
    assert (body["abstained"], body["reason"], body["trace_id"]) == (True, "no_evidence", None)
