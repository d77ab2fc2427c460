"""A small HTTP server on 127.0.0.1 that speaks both chat protocols, and fails in every way that can be asked for.

``server.will(Answer("…"), Status(429))`` queues what the next requests get; the last one goes on for good. The real
libraries are pointed at it through their base URLs, so nothing of them is replaced.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import Any

KEY = "sk-test-0123456789"


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A whole reply. ``stop`` is ``complete``, ``truncated``, ``refused`` or a word of the protocol's own."""

    text: str | None = "Clouds carry rain."
    stop: str = "complete"
    thinking: str = ""
    tokens: tuple[int, int, int] = (11, 7, 0)
    """Input, output, and thinking among the output."""
    model: str | None = None
    refusal: str | None = None
    byte_every: float = 0.0
    """Seconds between two bytes, headers included: a server that drips."""
    wait: float = 0.0
    """Seconds before the first byte."""
    body_cut_at: int | None = None
    """Bytes of the body after which the socket is closed."""


@dataclass(frozen=True, kw_only=True)
class Status:
    """An error of the service."""

    code: int
    message: str = "no"
    headers: Mapping[str, str] = field(default_factory=dict)
    error_code: str | None = None


@dataclass(frozen=True, kw_only=True)
class Raw:
    """A body as it is, e.g. one that is no JSON."""

    body: str
    content_type: str = "application/json"
    code: int = 200


class Hang:
    """Takes the request and never answers."""


class Close:
    """Takes the request and closes the socket."""


Behaviour = Answer | Status | Raw | Hang | Close
_STOPS = {
    "anthropic": {"complete": "end_turn", "truncated": "max_tokens", "refused": "refusal"},
    "openai": {"complete": "stop", "truncated": "length", "refused": "content_filter"},
}


class FaultServer:
    """``requests``: (path, body) of each request, in order; ``keys``: the Authorization header of each; ``asked``: set
    from the first request on; ``connections``: how many sockets were opened; ``most_at_once``: how many requests were
    open together."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.keys: list[str | None] = []
        self.connections = self.most_at_once = self._open = 0
        self._queue: list[Behaviour] = [Answer()]
        self._lock = Lock()
        self.over = Event()
        self.asked = Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [body for _, body in self.requests]

    def will(self, *behaviours: Behaviour) -> None:
        """What the next requests get, one each; the last goes on."""
        with self._lock:
            self._queue = list(behaviours)

    def stop(self) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _next(self, path: str, body: dict[str, Any], key: str | None) -> Behaviour:
        with self._lock:
            self.requests.append((path, body))
            self.keys.append(key)
            self.asked.set()
            return self._queue.pop(0) if len(self._queue) > 1 else self._queue[0]

    def _count(self, more: int) -> None:
        with self._lock:
            self._open += more
            self.most_at_once = max(self.most_at_once, self._open)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                super().setup()
                server.connections += 1

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server._count(1)
                try:
                    self._behave(server._next(self.path, body, self.headers.get("Authorization")), body)
                except OSError:  # the client hung up first, as it should when its time is over
                    self.close_connection = True
                finally:
                    server._count(-1)

            def _behave(self, behaviour: Behaviour, body: dict[str, Any]) -> None:
                kind = "anthropic" if self.path.endswith("/messages") else "openai"
                match behaviour:
                    case Hang():
                        self._hang_up_after(60)
                    case Close():
                        self._hang_up_after(0)
                    case Raw(body=text, content_type=content_type, code=code):
                        self._send(code, text.encode(), {"Content-Type": content_type})
                    case Status(code=code, headers=headers):
                        self._send(code, json.dumps(_error(kind, behaviour)).encode(), headers)
                    case Answer():
                        server.over.wait(behaviour.wait)
                        self._send(200, json.dumps(_reply(kind, behaviour, body)).encode(), {}, behaviour)

            def _hang_up_after(self, seconds: float) -> None:
                server.over.wait(seconds)
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)

            def _send(
                self, code: int, content: bytes, headers: Mapping[str, str], how: Answer | None = None
            ) -> None:
                lines = {"Content-Type": "application/json", "Content-Length": str(len(content)), **headers}
                head = f"HTTP/1.1 {code} Said\r\n" + "".join(f"{key}: {lines[key]}\r\n" for key in lines)
                whole = head.encode() + b"\r\n" + (content[: how.body_cut_at] if how else content)
                if how and how.byte_every:
                    for byte in whole:
                        if server.over.wait(how.byte_every):
                            break
                        self.wfile.write(bytes([byte]))
                else:
                    self.wfile.write(whole)
                if how and how.body_cut_at is not None:
                    self._hang_up_after(0)

            def log_message(self, *given: object) -> None:
                pass

        return Handler


def _reply(kind: str, how: Answer, body: dict[str, Any]) -> dict[str, Any]:
    stop, model = _STOPS[kind].get(how.stop, how.stop), how.model or body["model"]
    read, written, thought = how.tokens
    if kind == "anthropic":
        thinking = [{"type": "thinking", "thinking": how.thinking, "signature": "s"}] if how.thinking else []
        texts = [{"type": "text", "text": how.text}] if how.text is not None else []
        return {
            "id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": [*thinking, *texts],
            "stop_reason": stop, "stop_sequence": None,
            "usage": {"input_tokens": read, "output_tokens": written,
                      "output_tokens_details": {"thinking_tokens": thought}},
        }  # fmt: skip
    message = {"role": "assistant", "content": how.text, "refusal": how.refusal}
    if how.thinking:
        message["reasoning"] = how.thinking
    return {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": stop}],
        "usage": {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written,
                  "completion_tokens_details": {"reasoning_tokens": thought}},
    }  # fmt: skip


def _error(kind: str, how: Status) -> dict[str, Any]:
    if kind == "anthropic":
        return {"type": "error", "error": {"type": "api_error", "message": how.message}}
    return {"error": {"message": how.message, "type": "api_error", "code": how.error_code}}
