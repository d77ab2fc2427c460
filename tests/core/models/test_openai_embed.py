"""The real SDK against a small server of the test's own on 127.0.0.1."""

import gc
import json
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import numpy as np
import pytest

from core.errors import ModelError
from core.models import openai_embed
from core.models.openai_embed import MAX_BYTES, MAX_INPUTS, MAX_REQUEST_BYTES, OpenAIEmbedder

KEY = "sk-test-0123456789abcdef"
MODEL = "text-embedding-3-small"
DIM = 1536


def vector_of(text: str, dim: int) -> list[float]:
    """Of length 2 or more, so that only a normalised one is of unit length."""
    vector = [0.0] * dim
    vector[len(text.encode()) % dim] = 2.0
    vector[sum(text.encode()) % dim] += 1.0
    return vector


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        server.requests.append((self.path, self.headers["Authorization"], body))
        if server.mode == "slow":
            time.sleep(1.5)
        if server.mode in ("hang-up", "slow"):
            self.close_connection = True
            return
        if isinstance(server.mode, int):
            self._send(server.mode, {"error": {"message": f"no good key {KEY}", "type": "test"}})
            return
        data = [{"object": "embedding", "index": index, "embedding": vector_of(text, server.dim)}
                for index, text in enumerate(body["input"])]  # fmt: skip
        data = data[1:] if server.mode == "short" else data[::-1]
        reply = {
            "object": "list",
            "data": data,
            "model": body["model"],
            "usage": {"prompt_tokens": 1, "total_tokens": 1},
        }
        self._send(200, {"page": "hello"} if server.mode == "page" else reply)

    def _send(self, status, body):
        payload = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        self.send_header("Retry-After-Ms", "5")
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, *_):
        pass


@pytest.fixture
def service(monkeypatch):
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        server.requests, server.mode, server.dim = [], "right", DIM
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{server.server_port}/v1")
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        yield server
        gc.collect()
        server.shutdown()
        thread.join()


def unit(text: str, dim: int = DIM) -> np.ndarray:
    vector = np.array(vector_of(text, dim))
    return vector / np.linalg.norm(vector)


def test_vectors_are_of_unit_length_and_in_the_order_of_the_texts(service):
    texts = ["first", "a second one", "", "third, ü", "  \n"]
    model = OpenAIEmbedder(MODEL)
    counted: list[int] = []
    rows = model.embed(texts, counted.append)
    assert (model.model_id, model.dim) == (f"openai-{MODEL}", DIM)
    assert rows.dtype == np.float32
    for place, text in enumerate(texts):
        np.testing.assert_allclose(rows[place], unit(text) if text.strip() else np.zeros(DIM), atol=1e-6)
    ((path, authorization, body),) = service.requests
    assert (path, authorization, body["model"]) == ("/v1/embeddings", f"Bearer {KEY}", MODEL)
    assert body["input"] == ["first", "a second one", "third, ü"]
    assert sum(counted) == len(texts)


def test_nothing_is_sent_for_blank_texts(service):
    assert not OpenAIEmbedder(MODEL).embed(["", " "]).any()
    assert OpenAIEmbedder(MODEL).embed([]).shape == (0, DIM)
    assert service.requests == []


@pytest.mark.parametrize(
    ("count", "length", "requests"),
    [(MAX_INPUTS, 1, 1), (MAX_INPUTS + 1, 1, 2), (75, 4000, 1), (76, 4000, 2), (80, MAX_BYTES * 2, 3)],
)
def test_requests_stay_within_the_service_s_limits(count, length, requests, service):
    service.dim = 3
    texts = [chr(97 + place % 26) * length for place in range(count)]
    OpenAIEmbedder("local-three").embed(texts)
    asked, *sent = [body["input"] for _, _, body in service.requests]
    assert len(asked) == 1  # a model whose dimension is not known is asked for it once
    assert len(sent) == requests
    assert [text for batch in sent for text in batch] == [text[:MAX_BYTES] for text in texts]
    for batch in sent:
        assert len(batch) <= MAX_INPUTS
        assert sum(len(text.encode()) for text in batch) <= MAX_REQUEST_BYTES
        assert all(len(text.encode()) <= MAX_BYTES for text in batch)


def test_a_long_text_is_cut_between_characters(service):
    OpenAIEmbedder(MODEL).embed(["x" + "é" * MAX_BYTES, "lone \ud800"])
    first, second = service.requests[0][2]["input"]
    assert first == "x" + "é" * ((MAX_BYTES - 1) // 2)
    assert second == "lone ?"


@pytest.mark.parametrize(
    ("mode", "said", "tries"),
    [
        (400, "answered 400", 1),
        (401, "check OPENAI_API_KEY", 1),
        (429, "answered 429", 3),
        (500, "answered 500", 3),
        ("hang-up", "APIConnectionError", 3),
        ("short", "1 vectors for 2 texts", 1),
        ("page", "no list of embeddings", 1),
    ],
)
def test_a_refusal_is_one_line_without_the_key(mode, said, tries, service):
    service.mode = mode
    with pytest.raises(ModelError) as caught:
        OpenAIEmbedder(MODEL).embed(["one", "two"])
    message = str(caught.value)
    assert said in message
    assert MODEL in message
    assert "\n" not in message
    assert KEY not in message
    assert len(service.requests) == tries


def test_a_service_that_does_not_answer_in_time(service, monkeypatch):
    monkeypatch.setattr(openai_embed, "TIMEOUT_SECONDS", 0.2)
    service.mode = "slow"
    with pytest.raises(ModelError, match="APITimeoutError"):
        OpenAIEmbedder(MODEL).embed(["one"])


def test_a_service_that_gives_other_dimensions_is_refused(service):
    service.dim = 8
    with pytest.raises(ModelError, match="have 8 dimensions where 1536 were expected"):
        OpenAIEmbedder(MODEL).embed(["one"])


def test_a_vector_of_zeros_stays_zeros(service, monkeypatch):
    monkeypatch.setitem(globals(), "vector_of", lambda text, dim: [0.0] * dim)
    assert not OpenAIEmbedder(MODEL).embed(["one"]).any()


def test_without_a_key_it_says_what_to_set(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ModelError, match="OPENAI_API_KEY is not set; set it, or use --embedder minilm"):
        OpenAIEmbedder(MODEL)
