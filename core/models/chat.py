"""The seam to chat models: one request, one reply, and one kind of error that says how it failed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, get_args

from core.errors import ModelError

Reasoning = Literal["none", "low", "medium", "high"]
REASONING: tuple[Reasoning, ...] = get_args(Reasoning)
MAX_ANSWER_TOKENS = 2048
"""Tokens kept for an answer; thinking comes on top of it."""

Outcome = Literal[
    "ok",
    "refused",
    "truncated",
    "empty",
    "unparsable",
    "timeout",
    "rate_limited",
    "overloaded",
    "unavailable",
    "unauthorized",
    "bad_request",
]
"""How a call ended. ``refused`` is the model's own outcome, no error; ``unavailable``: a 5xx or a broken connection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """What a model is asked. ``stage`` says what for (``query``, ``detect_geo``, ``extract`` …); ``model`` None: the
    default one. ``reasoning`` none means no thinking tokens at all."""

    system: str
    prompt: str
    stage: str
    model: str | None = None
    reasoning: Reasoning = "none"
    max_tokens: int = MAX_ANSWER_TOKENS


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one call as the service counted them; ``thinking_tokens`` are part of ``output_tokens``."""

    input_tokens: int = 0
    output_tokens: int = 0
    thinking_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReply:
    """What came back. ``model`` is the one that answered; a refused reply has no text; a cached one cost nothing now,
    so its usage is 0."""

    text: str
    model: str
    usage: Usage = Usage()
    refused: bool = False
    cached: bool = False


class ChatError(ModelError):
    """A call without a usable reply; ``outcome`` says why, ``usage`` what it cost all the same."""

    def __init__(
        self, message: str, outcome: Outcome, *, model: str = "", usage: Usage | None = None
    ) -> None:
        super().__init__(message)
        self.outcome = outcome
        self.model = model
        self.usage = usage or Usage()


class ChatModel(Protocol):
    """A chat model. Safe to share between threads."""

    @property
    def default_model(self) -> str: ...

    def reply(self, request: ChatRequest) -> ChatReply:
        """The reply, complete and not empty, or a refusal.

        Raises:
            ChatError: no usable reply: the service failed, or the reply was truncated or empty.
        """
        ...


class ProvidedChat(ChatModel, Protocol):
    """A chat model that says who answers: ``anthropic``, ``openai``, ``openai@HOST`` for another endpoint."""

    @property
    def provider(self) -> str: ...
