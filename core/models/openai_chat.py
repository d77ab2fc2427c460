"""Chat models of OpenAI, and of servers that speak the same protocol (``OPENAI_BASE_URL``): Ollama, vLLM, llama.cpp.

Chat Completions, as that is what all of them serve. No ``temperature``: models that reason refuse it.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from core.models import openai_client
from core.models.background import CONNECT_SECONDS
from core.models.chat import ChatReply, ChatRequest, Reasoning, Usage
from core.models.faults import Patience, said
from core.models.hosted_chat import THINKING_TOKENS, HostedChat, complete, counted
from core.text import well_formed

if TYPE_CHECKING:
    import httpx2

OFFICIAL = "api.openai.com"
NEVER_THINKS = re.compile(r"^(gpt-3|gpt-4|chatgpt-|gpt-[\d.]+-chat)")
"""Models that refuse ``reasoning_effort``: none is sent, at any level."""
LEAST_EFFORT: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"^o\d"), "low"),
    (re.compile(r"^gpt-5(-mini|-nano)?(-\d{4}-\d{2}-\d{2})?$"), "minimal"),
)
"""Models that cannot leave thinking: level none asks them for their least effort, and the reply counts what they
thought. Every other model is sent ``none``, which OpenAI's newer models, Ollama, vLLM and llama.cpp take."""
_THOUGHT = re.compile(r"^\s*<think>.*?</think>\s*", re.DOTALL)


class OpenAIChat(HostedChat):
    """A model by its name at the endpoint; a local server takes any key that is not empty."""

    service = "OPENAI"

    def __init__(self, model: str, patience: Patience | None = None) -> None:
        super().__init__(model, patience)
        openai_client.load_chats()

    @property
    def provider(self) -> str:
        host = _host()
        return "openai" if host == OFFICIAL else f"openai@{host.replace(':', '.')}"

    async def _once(self, http: httpx2.AsyncClient, model: str, request: ChatRequest) -> ChatReply:
        client = openai_client.asking(http, seconds=self._patience.seconds, connect=CONNECT_SECONDS)
        official = _host() == OFFICIAL or _host().endswith(".openai.azure.com")
        try:
            completion = await client.chat.completions.create(**body(model, request, official=official))
        except openai_client.StatusError as error:
            if error.code == "content_filter":
                return ChatReply(text="", model=model, refused=True)
            again = error.code != "insufficient_quota"
            raise self._by_status(
                error, model, error.status_code, error.response.headers, again=again
            ) from None
        except openai_client.BrokenConnectionError as error:
            raise self._unreachable(error, model) from None
        except (openai_client.ServiceError, ValueError) as error:
            raise self._unreadable(said(error), model) from None
        return self._read(completion, model)

    def _read(self, completion: object, model: str) -> ChatReply:
        choices = getattr(completion, "choices", None)
        message = getattr(choices[0], "message", None) if isinstance(choices, list) and choices else None
        if not isinstance(choices, list) or message is None:
            raise self._unreadable("no choice in the body", model)
        answered, stop = getattr(completion, "model", None) or model, choices[0].finish_reason
        usage = _usage(getattr(completion, "usage", None))
        if getattr(message, "refusal", None) or stop == "content_filter":
            return ChatReply(text="", model=answered, usage=usage, refused=True)
        content = getattr(message, "content", None)
        text = _THOUGHT.sub("", content) if isinstance(content, str) else ""
        return complete(text, stop=stop, done=stop in ("stop", None), model=answered, usage=usage)


def body(model: str, request: ChatRequest, *, official: bool) -> dict[str, Any]:
    """What is sent. ``official``: to OpenAI itself, whose newer models know no ``max_tokens``, as other servers may
    know nothing else."""
    effort = _effort(model, request.reasoning)
    room = THINKING_TOKENS["low" if effort in ("minimal", "low") else request.reasoning] if effort else 0
    said_by = (("system", request.system), ("user", request.prompt))
    return {
        "model": model,
        "messages": [{"role": role, "content": well_formed(text)} for role, text in said_by if text],
        "max_completion_tokens" if official else "max_tokens": request.max_tokens + room,
        **({"reasoning_effort": effort} if effort else {}),
    }


def _effort(model: str, level: Reasoning) -> str | None:
    if NEVER_THINKS.search(model):
        return None
    if level == "none":
        return next((least for pattern, least in LEAST_EFFORT if pattern.search(model)), "none")
    return level


def _host() -> str:
    url = os.environ.get("OPENAI_BASE_URL", "").strip()
    return urlsplit(url).netloc.rpartition("@")[2] if url else OFFICIAL


def _usage(usage: object) -> Usage:
    return Usage(
        input_tokens=counted(usage, "prompt_tokens"),
        output_tokens=counted(usage, "completion_tokens"),
        thinking_tokens=counted(getattr(usage, "completion_tokens_details", None), "reasoning_tokens"),
    )
