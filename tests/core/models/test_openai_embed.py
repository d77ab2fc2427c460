"""The real SDK against a small server that speaks the embeddings protocol."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import numpy as np
import pytest

from core.errors import ModelError
from core.models import openai_embed
from core.models.openai_embed import MAX_BYTES, OpenAIEmbedder

KEY = "sk-test-0123456789"


class Service:
    """Answers in the order of ``replies`` (status, body), else with a vector made of each text's length."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.replies: list[tuple[int, dict[str, Any]]] = []
        self.dim = 1536

    def answer(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        self.requests.append(body)
        if self.replies:
            return self.replies.pop(0)
        vectors = [[float(len(text)), 1.0] + [0.0] * (self.dim - 2) for text in body["input"]]
        data = [{"object": "embedding", "index": n, "embedding": vector} for n, vector in enumerate(vectors)]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return 200, {"object": "list", "model": body["model"], "usage": usage, "data": data[::-1]}


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    served = Service()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            assert self.headers["Authorization"] == f"Bearer {KEY}"
            status, reply = served.answer(body)
            content = json.dumps(reply).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *given: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{server.server_port}/v1")
    yield served
    server.shutdown()
    server.server_close()
    thread.join()


def test_unit_rows_in_the_order_asked_and_zeros_for_blanks_that_are_not_sent(service: Service):
    seen: list[int] = []
    rows = OpenAIEmbedder("text-embedding-3-small").embed(["a", " \n", "abc", ""], seen.append)
    assert service.requests[0]["input"] == ["a", "abc"]
    assert rows.shape == (4, 1536)
    assert rows[:, :2] == pytest.approx(
        np.array([[0.5**0.5, 0.5**0.5], [0, 0], [0.9**0.5, 0.1**0.5], [0, 0]])
    )
    assert sum(seen) == 4


def test_no_texts_need_no_request(service: Service):
    assert OpenAIEmbedder("text-embedding-3-large").embed([]).shape == (0, 3072)
    assert service.requests == []


def test_the_model_s_id_names_its_space_and_an_unknown_dimension_is_asked_for(service: Service):
    service.dim = 12
    model = OpenAIEmbedder("nomic-embed-text")
    assert (model.model_id, model.dim) == ("openai-nomic-embed-text", 12)
    assert model.embed(["x"]).shape == (1, 12)


def test_requests_keep_within_the_service_s_limits(service: Service):
    texts = ["x"] * 2049 + ["é" * MAX_BYTES] * 80 + ["ab\ud800"]
    rows = OpenAIEmbedder("text-embedding-3-small").embed(texts)
    sent = [request["input"] for request in service.requests]
    assert [text for request in sent for text in request] == (
        ["x"] * 2049 + ["é" * (MAX_BYTES // 2)] * 80 + ["ab\ufffd"]
    )
    for request in sent:
        assert len(request) <= 2048
        assert max(len(text.encode()) for text in request) <= 8192
        assert sum(len(text.encode()) for text in request) <= 300_000
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1)


def test_a_passing_fault_is_retried(service: Service, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.01)
    service.replies = [(500, {"error": {"message": "overloaded"}})]
    assert OpenAIEmbedder("text-embedding-3-small").embed(["abc"]).any()
    assert len(service.requests) == 2


@pytest.mark.parametrize(
    ("status", "message", "advice"),
    [
        (401, f"Incorrect API key provided: {KEY}.\nSee your keys.", "check OPENAI_API_KEY"),
        (401, "Incorrect API key provided: sk-te**********6789", "check OPENAI_API_KEY"),
        (404, "The model `text-embedding-3-small` does not exist", "check the model's name"),
        (429, "Rate limit reached", "run again"),
    ],
)
def test_a_refusal_is_one_line_without_the_key(
    service: Service, monkeypatch: pytest.MonkeyPatch, status: int, message: str, advice: str
):
    monkeypatch.setattr(openai_embed, "RETRIES", 0)
    service.replies = [(status, {"error": {"message": message}})] * 3
    with pytest.raises(ModelError, match=advice) as caught:
        OpenAIEmbedder("text-embedding-3-small").embed(["abc"])
    said = str(caught.value)
    assert str(status) in said
    assert "\n" not in said
    assert "sk-" not in said
    assert caught.value.__cause__ is None


def test_a_service_that_is_not_there(service: Service, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(openai_embed, "RETRIES", 0)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with pytest.raises(ModelError, match=r"text-embedding-3-small failed: the service cannot be reached"):
        OpenAIEmbedder("text-embedding-3-small").embed(["abc"])


def test_vectors_of_another_length_are_refused(service: Service):
    service.dim = 8
    with pytest.raises(ModelError, match=r"1 vectors of \[8\] numbers for 1 texts of 1536"):
        OpenAIEmbedder("text-embedding-3-small").embed(["abc"])


def test_a_vector_of_zeros_stays_zeros(service: Service):
    data = [{"object": "embedding", "index": 0, "embedding": [0.0] * 1536}]
    service.replies = [(200, {"object": "list", "model": "m", "data": data, "usage": {}})]
    assert not OpenAIEmbedder("text-embedding-3-small").embed(["abc"]).any()


def test_without_a_key_the_error_says_which_to_set(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ModelError, match="OPENAI_API_KEY is not set"):
        OpenAIEmbedder("text-embedding-3-small")
