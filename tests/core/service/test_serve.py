"""`assay serve` as a program: the documents' own calls, who may listen where, and how it ends."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from core.errors import AssayError
from core.service.serve_cli import serve
from core.service.tokens import hashed
from tests.fault_server import Answer

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = [
    {"stage": "extract", "contains": "Alice works at Acme",
     "reply": {"entities": [{"name": "Alice", "type": "person"}, {"name": "Acme", "type": "organization"},
                            {"name": "Paris", "type": "place"}],
               "facts": [{"source": "Alice", "relation": "works_at", "target": "Acme"},
                         {"source": "Alice", "relation": "lives_in", "target": "Paris"}]}},
    {"stage": "query", "contains": "Where does Alice work?",
     "reply": {"answer": "Alice works at Acme.", "entities": [1, 2], "edges": [1], "passages": []}},
]  # fmt: skip
COMMAND = "from workbench.cli import main; main()"


def program(*arguments: str, **environment: str) -> subprocess.Popen[str]:
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("ASSAY_", "ANTHROPIC_", "OPENAI_"))
    }
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, *arguments],
        env=kept | {"PYTHONPATH": str(ROOT)} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., tuple[subprocess.Popen[str], str]]]:
    """``start("--answerer", …)`` runs `assay serve` on a free port and gives it with its address."""
    running = []

    def begun(*arguments: str, **environment: str) -> tuple[subprocess.Popen[str], str]:
        process = program(
            "serve", "--db", str(tmp_path / "assay.db"), "--port", "0", *arguments, **environment
        )
        running.append(process)
        line = process.stdout.readline()
        found = re.search(r"serving (http://\S+) ", line)
        assert found, (line, process.stderr.read() if process.poll() is not None else "")
        return process, found[1]

    yield begun
    for process in running:
        process.kill()
        process.communicate(timeout=30)


def ended(process: subprocess.Popen[str], number: int = signal.SIGTERM) -> tuple[int, str, str]:
    process.send_signal(number)
    out, error = process.communicate(timeout=60)
    return process.returncode, out, error


def test_the_documents_own_calls_run_and_give_the_documented_shape(start, tmp_path):
    script = tmp_path / "script.jsonl"
    script.write_text("".join(json.dumps(line) + "\n" for line in SCRIPT))
    process, address = start("--answerer", f"scripted:{script}", "--profile", "seed")
    place = address.removeprefix("http://").replace("127.0.0.1", "localhost")

    def curl(line: str) -> dict[str, object]:
        done = subprocess.run(["/bin/sh", "-c", line.replace("localhost:7878", place)], capture_output=True, timeout=60,
                              text=True, check=True)  # fmt: skip
        return json.loads(done.stdout)

    remembered = curl(
        """curl -s localhost:7878/v1/gb/remember -d '{"user_id":"u1","text":"Alice works at Acme and lives in Paris."}'"""
    )
    assert remembered == {
        "artifact_id": 1,
        "chunks": 1,
        "entities": 3,
        "edges": 2,
        "superseded": 0,
        "extracted": True,
    }
    answered = curl(
        """curl -s localhost:7878/v1/gb/query   -d '{"user_id":"u1","query":"Where does Alice work?"}'"""
    )
    assert list(answered) == ["answer", "evidence"]
    assert list(answered["evidence"]) == ["entities", "edges", "passages"]
    assert answered["answer"] == "Alice works at Acme."
    assert [entity["name"] for entity in answered["evidence"]["entities"]] == ["Alice", "Acme"]
    in_session = curl(
        """curl -s localhost:7878/v1/gb/query -H 'content-type: application/json' """
        """-d '{"user_id": "u1", "query": "Where does Alice work?", "session_id": "chat-42"}'"""
    )
    assert in_session == {"session_id": "chat-42"} | answered
    asked = curl(
        """curl -s localhost:7878/v1/brain/ask -d """
        """'{ "question": "What policy controls outbound followups?", "scope": "workspace" }'"""
    )
    assert list(asked) == ["answer", "abstained", "reason", "citations", "grounding", "trace_id"]
    assert (asked["abstained"], asked["citations"], asked["grounding"]) == (True, [], [])
    assert curl("curl -s localhost:7878/healthz") == {"status": "ok"}
    assert "openapi" in curl("curl -s localhost:7878/openapi.json")
    assert ended(process) == (0, "", ""), "nothing is logged that went well"


def test_without_a_key_it_starts_and_the_graph_answers_503(start):
    process, address = start()
    with httpx.Client(base_url=address, timeout=60) as client:
        reply = client.post("/v1/gb/remember", json={"user_id": "u1", "text": "Alice works at Acme."})
        assert (reply.status_code, "ANTHROPIC_API_KEY" in reply.json()["error"]) == (503, True)
        assert client.post("/v1/brain/ask", json={"question": "Why?"}).json()["reason"] == "no_evidence"
    assert ended(process, signal.SIGINT)[0] == 0


def test_what_has_begun_is_finished_when_it_is_told_to_stop(start, chat_server):
    chat_server.will(Answer(text='{"entities": [], "facts": []}', wait=2.0))
    process, address = start("--answerer", "anthropic", ANTHROPIC_API_KEY=os.environ["ANTHROPIC_API_KEY"],
                             ANTHROPIC_BASE_URL=os.environ["ANTHROPIC_BASE_URL"])  # fmt: skip
    with ThreadPoolExecutor(1) as pool:
        body = {"user_id": "u1", "text": "Alice works at Acme."}
        begun = pool.submit(httpx.post, f"{address}/v1/gb/remember", json=body, timeout=60)
        assert chat_server.asked.wait(30)
        process.send_signal(signal.SIGTERM)
        assert begun.result().json()["chunks"] == 1
    assert process.wait(30) == 0
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{address}/healthz")


def test_tokens_are_made_once_and_asked_for(start, tmp_path):
    made = program("token", "create", "--user", "u1")
    out, error = made.communicate(timeout=60)
    assert (made.returncode, error) == (0, "")
    token, line = out.splitlines()[1], out.splitlines()[3]
    assert line == f"sha256:{hashed(token)} u1"
    file = tmp_path / "tokens"
    file.write_text(f"{line}\n")
    _, address = start("--answerer", "deterministic", "--tokens", str(file), "--host", "0.0.0.0")
    address = address.replace("0.0.0.0", "127.0.0.1")
    body = {"user_id": "u1", "text": "Alice works at Acme."}
    assert httpx.post(f"{address}/v1/gb/remember", json=body).status_code == 401
    signed = {"authorization": f"Bearer {token}"}
    assert (
        httpx.post(f"{address}/v1/gb/remember", json=body | {"user_id": "u2"}, headers=signed).status_code
        == 403
    )
    assert httpx.post(f"{address}/v1/gb/remember", json=body, headers=signed, timeout=60).status_code == 200


@pytest.mark.parametrize(
    ("change", "said"),
    [({"host": "0.0.0.0"}, "can be reached from other machines: give --tokens FILE"),
     ({"host": "::"}, "can be reached from other machines"),
     ({"tokens": Path("/nowhere/tokens")}, "cannot be read as a tokens file"),
     ({"answerer": "nobody"}, "no chat model 'nobody'"),
     ({"answerer": "anthropic"}, "ANTHROPIC_API_KEY is not set"),
     ({"profile": "nowhere"}, "nowhere"),
     ({"embedder": "wordllama", "profile": "default"}, "wordllama"),
     ({"geo": "nowhere"}, "nowhere"),
     ({"host": "192.0.2.1", "tokens": Path("TOKENS")}, "cannot listen on 192.0.2.1:0")],
)  # fmt: skip
def test_what_cannot_be_served_is_refused_before_anything_is(tmp_path, monkeypatch, change, said):
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ASSAY_CHAT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "TOKENS").write_text(f"sha256:{hashed('x')} u1\n")
    usual = dict.fromkeys(("tokens", "answerer", "profile", "embedder", "geo"))
    settings = usual | {"host": "127.0.0.1", "threads": 1, "timeout": 10.0} | change
    with pytest.raises(AssayError, match=re.escape(said)):
        serve(db=tmp_path / "assay.db", port=0, **settings)


def test_a_port_that_is_taken_is_named(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        process = program("serve", "--db", str(tmp_path / "assay.db"), "--port", str(port))
        out, error = process.communicate(timeout=60)
    assert (process.returncode, out, error.count("\n")) == (2, "", 1)
    assert error.startswith("error: ")
    assert f"cannot listen on 127.0.0.1:{port}: Address already in use" in error
