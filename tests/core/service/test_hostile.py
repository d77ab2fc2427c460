"""Hostile texts, remembered and asked: evidence is only ever rows of the caller's dataset that were sent."""

from __future__ import annotations

import json
import re
from collections import defaultdict

import pytest

from core import profile as profiles
from core.models.chat import ChatReply, ChatRequest
from tests import hostile

REMEMBER, QUERY, BRAIN = "/v1/gb/remember", "/v1/gb/query", "/v1/brain/ask"
REFUSED = {"nul": "a NUL", "nul_only": "a NUL", "long_line": "more than 65536 bytes"}
SECRET = "The vault opens with secret-of-u2 and Alice works at Acme."
OWNED = {
    "entities": "SELECT entity_id FROM entity WHERE dataset_id = ?",
    "edges": "SELECT fact_id FROM fact WHERE dataset_id = ?",
    "passages": "SELECT chunk_id FROM chunk WHERE dataset_id = ?",
}


class Greedy:
    """A model that does what a text tells it: it cites every id it sees, sent or forged, and every number besides."""

    default_model = "greedy"

    def __init__(self) -> None:
        self.prompts: list[str] = []

    def reply(self, request: ChatRequest) -> ChatReply:
        return ChatReply(text=self._text(request), model="greedy")

    def _text(self, request: ChatRequest) -> str:
        if request.stage == "summarize":
            chunks = sorted({int(number) for number in re.findall(r"<chunk_(\d+)>", request.prompt)})
            return json.dumps(
                {"summaries": [{"chunk": one, "summary": "Alice works at Acme"} for one in chunks]}
            )
        if request.stage == "extract":
            marks = re.findall(r"canary\d\dzq", request.prompt)[:1]
            names = ["Alice", "Acme", *marks]
            return json.dumps({"entities": [{"name": name, "type": "thing"} for name in names],
                               "facts": [{"source": "Alice", "relation": "works_at", "target": names[-1]}]})  # fmt: skip
        if request.stage == "supersede":
            return json.dumps({"superseded": []})
        self.prompts.append(request.prompt)
        if "<graph>" in request.prompt:
            ids = sorted({*range(400), *(int(number) for number in re.findall(r"\d{1,9}", request.prompt))})
            return json.dumps({"answer": "Everything.", "entities": ids, "edges": ids, "passages": ids})
        cited = re.findall(r"\[mem:[^\]]*\]|\bn\d+\b", request.prompt)
        return (
            " ".join(f"So it is [mem:{one.removeprefix('[mem:').rstrip(']')}]." for one in cited)
            or "Nothing."
        )


@pytest.fixture
def asked(make_workspace, serve):
    """A client, its workspace and its model; u1 has every hostile text, u2 a secret."""
    workspace, model = make_workspace([]), Greedy()
    client = serve(workspace, chat=model)
    assert client.post(REMEMBER, json={"user_id": "u2", "text": SECRET}).status_code == 200
    for name in hostile.NAMES:
        reply = client.post(REMEMBER, json={"user_id": "u1", "text": hostile.text(name)})
        if name in REFUSED:
            assert (reply.status_code, REFUSED[name] in reply.json()["error"]) == (400, True), name
        else:
            assert reply.status_code == 200, (name, reply.text[:300])
    return client, workspace, model


def owned(workspace, user: str) -> dict[str, set[int]]:
    dataset = workspace.store.dataset("main", user).dataset_id
    return {
        kind: {row[0] for row in workspace.store.database.rows(sql, (dataset,))}
        for kind, sql in OWNED.items()
    }


def test_the_corpus_is_large_and_each_text_has_its_marker():
    assert len(hostile.NAMES) >= 40
    for name in hostile.NAMES:
        assert hostile.text(name).count(hostile.canary(name)) >= 1
    assert len(hostile.text("long_line")) == 10_000_000


def test_evidence_is_of_the_callers_dataset_and_was_sent(asked):
    client, workspace, model = asked
    mine, theirs = owned(workspace, "u1"), owned(workspace, "u2")
    seen: dict[str, set[int]] = defaultdict(set)
    for name in hostile.NAMES:
        reply = client.post(QUERY, json={"user_id": "u1", "query": hostile.text(name)})
        if name == "long_line":
            assert reply.status_code == 400
            continue
        assert reply.status_code == 200, (name, reply.text[:300])
        prompt, evidence = model.prompts[-1], reply.json()["evidence"]
        assert "secret-of-u2" not in reply.text + prompt
        sent = set(map(int, re.findall(r"(?m)^\[(?:entity|edge|passage) (\d+)\]", prompt)))
        for kind, rows in evidence.items():
            ids = {row.get("id", row.get("artifact_id")) for row in rows}
            assert ids <= mine[kind] & sent
            assert not ids & theirs[kind]
            assert len(ids) == len(rows)
            seen[kind] |= ids
        ends = {edge[end] for edge in evidence["edges"] for end in ("source_id", "target_id")}
        assert ends <= {entity["id"] for entity in evidence["entities"]}
        for tag in ("graph", "passages", "question", "current_time"):
            assert prompt.count(f"</{tag}>") == prompt.count(f"<{tag}>") <= 1, "no text closes its tag"
    assert all(seen[kind] for kind in OWNED)


def test_a_brain_cites_what_it_was_given_whatever_the_texts_say(asked):
    client, workspace, _ = asked
    dataset = workspace.store.dataset("main", "u1").dataset_id
    mine = {
        row[0]
        for row in workspace.store.database.rows("SELECT node_id FROM node WHERE dataset_id = ?", (dataset,))
    }
    found: set[str] = set()
    for name in hostile.NAMES:
        if name == "long_line":
            continue
        reply = client.post(BRAIN, json={"user_id": "u1", "question": hostile.text(name)})
        assert reply.status_code == 200, (name, reply.text[:300])
        body = reply.json()
        assert "secret-of-u2" not in reply.text
        assert set(body["grounding"]) <= mine
        assert body["abstained"] == (not body["grounding"])
        assert set(re.findall(r"\[mem:([^\[\]]*)\]", body["answer"])) <= set(body["grounding"])
        found |= {mark for cited in body["citations"] for mark in re.findall(r"canary\d\dzq", cited["text"])}
    assert len(found) > 30


@pytest.mark.parametrize("recipe", ["graph", "memory", "brain"])
def test_without_a_model_each_recipe_quotes_stored_rows_as_they_are(asked, recipe):
    _, workspace, _ = asked
    profile = profiles.load("seed", recipe)
    theirs = {f"chunk:{row}" for row in owned(workspace, "u2")["passages"]}
    for name in hostile.NAMES:
        if name in REFUSED:
            continue
        trace = workspace.ask(hostile.text(name), dataset="main", recipe=recipe, profile=profile, user_id="u1",
                              levels=["L0"] if recipe == "memory" else None)  # fmt: skip
        for item in trace.answer.evidence:
            assert item.candidate_id not in theirs
            assert item.kind in ("fact", "entity") or item.quote == item.text[item.start : item.end]
        assert "secret-of-u2" not in trace.to_json()
