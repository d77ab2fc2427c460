"""Tokens: hashed in their file, tied to users, asked for by every route that reads data."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import DataError, UsageError
from core.ingest.ingestor import ingest
from core.ingest.items import NodeItem
from core.service.errors import Refusal
from core.service.tokens import Tokens, admitted, hashed, new_token, read_tokens

ASK, QUERY = "/v1/brain/ask", "/v1/gb/query"


@pytest.fixture
def tokens_file(tmp_path: Path) -> tuple[Path, str, str]:
    """A file of two tokens: the first speaks for u1 and u2, the second for u3."""
    (first, line), (second, other) = new_token(["u1", "u2"]), new_token(["u3"])
    path = tmp_path / "tokens"
    path.write_text(f"# who may ask\n\n{line}   # a comment\n{other}\n")
    return path, first, second


def test_the_file_holds_hashes_and_no_token(tokens_file):
    path, first, second = tokens_file
    text = path.read_text()
    assert first not in text
    assert second not in text
    assert f"sha256:{hashed(first)} u1,u2" in text
    tokens = read_tokens(path)
    assert tokens.holder(f"Bearer {first}") == ("u1", "u2")
    assert tokens.holder(f"bearer  {second} ") == ("u3",)
    assert len(first) > 40
    assert first != new_token(["u1"])[0]


@pytest.mark.parametrize(
    "sent", [None, "", "Bearer", "Bearer ", "Basic dTpw", "Bearer wrong", "Bearer \x00", "Bearer é", "token"]
)
def test_without_a_known_token_there_is_401(tokens_file, sent):
    with pytest.raises(Refusal, match="token") as refusal:
        read_tokens(tokens_file[0]).holder(sent)
    assert (refusal.value.status, refusal.value.headers) == (401, {"WWW-Authenticate": "Bearer"})


def test_the_hash_itself_is_no_token(tokens_file):
    path, first, _ = tokens_file
    with pytest.raises(Refusal, match="not known"):
        read_tokens(path).holder(f"Bearer {hashed(first)}")


def test_a_user_the_token_does_not_speak_for_is_403():
    assert admitted("u1", ("u1", "u2")) == "u1"
    for user in ("u3", "U1", "u1 ", "", "*"):
        with pytest.raises(Refusal, match="does not speak for") as refusal:
            admitted(user, ("u1", "u2"))
        assert refusal.value.status == 403


@pytest.mark.parametrize(
    "line",
    ["secret u1", "sha256:abc u1", "sha256:" + "z" * 64 + " u1", "sha256:" + "0" * 64, "sha256:" + "0" * 64 + " ,",
     "sha256:" + "0" * 64 + " u1 u2", "0" * 64 + " u1"],
)  # fmt: skip
def test_a_malformed_line_is_named(tmp_path, line):
    path = tmp_path / "tokens"
    path.write_text(f"# first\n{line}\n")
    with pytest.raises(DataError, match=r"tokens:2: not a token"):
        read_tokens(path)


def test_a_file_without_tokens_twice_one_or_unreadable_is_refused(tmp_path):
    path = tmp_path / "tokens"
    with pytest.raises(UsageError, match="cannot be read as a tokens file"):
        read_tokens(path)
    path.write_text("# none\n")
    with pytest.raises(UsageError, match="holds no token"):
        read_tokens(path)
    line = new_token(["u1"])[1]
    path.write_text(f"{line}\n{line}\n")
    with pytest.raises(DataError, match="tokens:2: this token stands in the file twice"):
        read_tokens(path)


@pytest.mark.parametrize("users", [[], [""], ["a b"], ["a,b"], ["a#"], ["a\n"]])
def test_a_user_that_cannot_stand_in_the_file_gets_no_token(users):
    with pytest.raises(UsageError):
        new_token(users)


def test_a_route_asks_for_the_token_and_answers_of_its_users_only(make_workspace, serve, turns, tokens_file):
    path, first, second = tokens_file
    workspace = make_workspace(turns, user_id="u1")
    other = NodeItem(level="L0", text="Requests over 10KB fail at the mirror.", source="theirs", turn="1")
    ingest(workspace.store, "main", [("test:1", other)], user_id="u3")
    client = serve(workspace, tokens=read_tokens(path), deterministic=True)
    question = {"question": "Why do requests over 10KB fail?"}

    def ask(token: str | None, **more: str):
        headers = {"authorization": f"Bearer {token}"} if token else {}
        return client.post(ASK, json=question | more, headers=headers)

    def sources(reply) -> set[str]:
        return {cited["source"] for cited in reply.json()["citations"]}

    assert ask(None).status_code == ask("wrong").status_code == 401
    assert ask(None).headers["www-authenticate"] == "Bearer"
    assert ask(first, user_id="u3").status_code == 403
    assert sources(ask(first)) == sources(ask(first, user_id="u1")) == {"log", "notes"}
    assert sources(ask(second)) == {"theirs"}
    assert ask(first, user_id="u2").json()["reason"] == "no_evidence"
    assert client.post(QUERY, json={}).status_code == 401, "before the body is looked at"
    graph = {"query": "x", "user_id": "u3"}
    assert client.post(QUERY, json=graph, headers={"authorization": f"Bearer {first}"}).status_code == 403
    assert client.get("/healthz").status_code == 200
    document = client.get("/openapi.json").json()
    assert document["components"]["securitySchemes"] == {"bearer": {"type": "http", "scheme": "bearer"}}
    assert document["paths"][ASK]["post"]["security"] == [{"bearer": []}]


def test_comparing_reads_every_hash(monkeypatch):
    compared = []
    monkeypatch.setattr("hmac.compare_digest", lambda known, sent: compared.append(known) or known == sent)
    tokens = Tokens({hashed("a"): ("u1",), hashed("b"): ("u2",)})
    assert tokens.holder("Bearer a") == ("u1",)
    assert len(compared) == 2
