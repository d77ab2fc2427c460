"""Anthropic's chat models. The only module that knows Anthropic's library.

No ``temperature``, ``top_p`` or ``top_k`` is ever sent, as the models refuse them: what makes a run repeatable is the
cache of replies. Thinking is switched off by saying so, as it is on where nothing is said.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import anthropic
import anthropic.resources.messages  # or the library imports it at the first call, on that call's time
from anthropic.types import Message

from core.models.background import CONNECT_SECONDS
from core.models.chat import ChatReply, ChatRequest, Usage
from core.models.faults import Patience, said
from core.models.hosted_chat import THINKING_TOKENS, HostedChat, complete, counted
from core.text import well_formed

if TYPE_CHECKING:
    import httpx2

DEFAULT_MODEL = "claude-haiku-5-5"
ALWAYS_THINKS = re.compile(r"^claude-(fable|mythos)-|^claude-opus-5-5")
"""Models that refuse ``disabled``: level none asks them for the least effort, and the reply counts what they thought."""
THINKS_BY_BUDGET = re.compile(r"^claude-[a-z]+-4(-[0-5])?(-\d{8})?$")
"""Models from before adaptive thinking: a level is a budget of tokens."""


class AnthropicChat(HostedChat):
    """A Claude model. ``ANTHROPIC_API_KEY`` (or ``ANTHROPIC_AUTH_TOKEN``) and ``ANTHROPIC_BASE_URL`` apply."""

    service = "ANTHROPIC"
    provider = "anthropic"

    def __init__(self, model: str = DEFAULT_MODEL, patience: Patience | None = None) -> None:
        super().__init__(model, patience)

    async def _once(self, http: httpx2.AsyncClient, model: str, request: ChatRequest) -> ChatReply:
        seconds = self._patience.seconds
        timeout = anthropic.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds))
        client = anthropic.AsyncAnthropic(http_client=http, timeout=timeout, max_retries=0)
        try:
            message = await client.messages.create(**body(model, request))
        except anthropic.APIStatusError as error:
            raise self._by_status(error, model, error.status_code, error.response.headers) from None
        except anthropic.APIConnectionError as error:
            raise self._unreachable(error, model) from None
        except (anthropic.AnthropicError, ValueError) as error:
            raise self._unreadable(said(error), model) from None
        return self._read(message, model)

    def _read(self, message: object, model: str) -> ChatReply:
        """Blocks are told apart by their type, so that thinking is never taken for the answer."""
        if not isinstance(message, Message) or not isinstance(getattr(message, "content", None), list):
            raise self._unreadable("no message in the body", model)
        answered, stop, usage = message.model or model, message.stop_reason, _usage(message)
        if stop == "refusal":
            return ChatReply(text="", model=answered, usage=usage, refused=True)
        done = stop in ("end_turn", "stop_sequence")
        return complete("".join(_texts(message)), stop=stop, done=done, model=answered, usage=usage)

    def _need_a_key(self) -> None:
        if not os.environ.get("ANTHROPIC_AUTH_TOKEN"):
            super()._need_a_key()


def body(model: str, request: ChatRequest) -> dict[str, Any]:
    """What is sent: the texts, the tokens kept for the answer and for thinking, and whether and how hard to think."""
    level = request.reasoning
    sent: dict[str, Any] = {"thinking": {"type": "disabled"}}
    if level == "none" and ALWAYS_THINKS.search(model):
        level = "low"
    if level != "none" and THINKS_BY_BUDGET.search(model):
        sent["thinking"] = {"type": "enabled", "budget_tokens": THINKING_TOKENS[level]}
    elif level != "none":
        sent = {"thinking": {"type": "adaptive"}, "output_config": {"effort": level}}
    return {
        "model": model,
        "max_tokens": request.max_tokens + THINKING_TOKENS[level],
        "messages": [{"role": "user", "content": well_formed(request.prompt)}],
        **({"system": well_formed(request.system)} if request.system else {}),
        **sent,
    }


def _texts(message: Message) -> Iterator[str]:
    for block in message.content:
        if getattr(block, "type", None) == "text" and isinstance(getattr(block, "text", None), str):
            yield block.text  # type: ignore[union-attr]


def _usage(message: Message) -> Usage:
    usage = getattr(message, "usage", None)
    return Usage(
        input_tokens=counted(usage, "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"),
        output_tokens=counted(usage, "output_tokens"),
        thinking_tokens=counted(getattr(usage, "output_tokens_details", None), "thinking_tokens"),
    )
