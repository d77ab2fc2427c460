"""Anthropic's chat models. The only module that knows Anthropic's library.

No ``temperature``, ``top_p`` or ``top_k`` is ever sent, as the models refuse them: what makes a run repeatable is the
cache of replies. Thinking is switched off by saying so, as it is on where nothing is said.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import anthropic
from anthropic.types import Message

from core.models.background import CONNECT_SECONDS, within
from core.models.chat import ChatError, ChatReply, ChatRequest, Reasoning, Usage
from core.models.faults import PassingError, Patience, outcome_of, passing, patiently, retry_after, said
from core.models.limits import whole_number

if TYPE_CHECKING:
    import httpx2

DEFAULT_MODEL = "claude-haiku-5-5"
TIMEOUT_SECONDS = 120
THINKING_TOKENS: Mapping[Reasoning, int] = {"none": 0, "low": 2048, "medium": 8192, "high": 16384}
"""Output tokens a level adds to a request's ``max_tokens``, as thinking counts against it."""

ALWAYS_THINKS = re.compile(r"^claude-(fable|mythos)-|^claude-opus-5-5")
"""Models that refuse ``disabled``: level none asks them for the least effort, and the reply counts what they thought."""
THINKS_BY_BUDGET = re.compile(r"^claude-[a-z]+-4(-[0-5])?(-\d{8})?$")
"""Models from before adaptive thinking: a level is a budget of tokens."""

_COMPLETE = ("end_turn", "stop_sequence")
_ADVICE = {
    400: "check the model's name and the request's size",
    401: "check ANTHROPIC_API_KEY",
    402: "check the account's billing",
    403: "check that ANTHROPIC_API_KEY may use this model",
    404: "check the model's name and ANTHROPIC_BASE_URL",
    413: "send less evidence",
}
_LATER = "try again later"


class AnthropicChat:
    """A hosted Claude model. The key is read from the environment and never stored.

    Raises:
        ChatError: neither ``ANTHROPIC_API_KEY`` nor ``ANTHROPIC_AUTH_TOKEN`` is set (``unauthorized``).
    """

    provider = "anthropic"

    def __init__(self, model: str = DEFAULT_MODEL, patience: Patience | None = None) -> None:
        self.default_model = model
        self._patience = patience or Patience(seconds=whole_number("ASSAY_CHAT_TIMEOUT", TIMEOUT_SECONDS))
        _need_a_key(model)

    def reply(self, request: ChatRequest) -> ChatReply:
        """The reply, complete and not empty, or a refusal; within the timeout, tries and pauses included.

        Raises:
            ChatError: no usable reply; ``outcome`` says why.
        """
        model = request.model or self.default_model
        _need_a_key(model)

        async def tries(http: httpx2.AsyncClient) -> ChatReply:
            return await patiently(lambda: self._once(http, model, request), self._patience)

        try:
            return within(self._patience.seconds, tries)
        except TimeoutError:
            raise ChatError(
                f"{model} did not answer within {self._patience.seconds:g} s; raise ASSAY_CHAT_TIMEOUT or ask for less",
                "timeout",
                model=model,
            ) from None

    async def _once(self, http: httpx2.AsyncClient, model: str, request: ChatRequest) -> ChatReply:
        timeout = anthropic.Timeout(
            self._patience.seconds, connect=min(CONNECT_SECONDS, self._patience.seconds)
        )
        client = anthropic.AsyncAnthropic(http_client=http, timeout=timeout, max_retries=0)
        try:
            message = await client.messages.create(**body(model, request))
        except anthropic.APIStatusError as error:
            raise _refused_by_status(error, model) from None
        except anthropic.APIConnectionError as error:
            raise PassingError(
                f"{model} cannot be reached ({said(error)}); check the network and ANTHROPIC_BASE_URL",
                "unavailable",
                model=model,
            ) from None
        except (anthropic.AnthropicError, ValueError) as error:
            raise _unreadable(model, said(error)) from None
        return _read(message, model)


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
        "messages": [{"role": "user", "content": request.prompt}],
        **({"system": request.system} if request.system else {}),
        **sent,
    }


def _read(message: object, model: str) -> ChatReply:
    """The reply in a message; blocks are told apart by their type, so that thinking is never taken for the answer."""
    if not isinstance(message, Message) or not isinstance(getattr(message, "content", None), list):
        raise _unreadable(model, "no message in the body")
    answered, usage = str(message.model or model), _usage(message)
    if message.stop_reason == "refusal":
        return ChatReply(text="", model=answered, usage=usage, refused=True)
    text = "".join(_texts(message))
    if message.stop_reason not in _COMPLETE:
        raise ChatError(
            f"the reply of {answered} is not complete ({message.stop_reason} after {usage.output_tokens} tokens, "
            f"{usage.thinking_tokens} of them thinking); ask for less or at a lower level of reasoning",
            "truncated",
            model=answered,
            usage=usage,
        )
    if not text.strip():
        raise ChatError(
            f"{answered} answered without any text; try again", "empty", model=answered, usage=usage
        )
    return ChatReply(text=text, model=answered, usage=usage)


def _texts(message: Message) -> Iterator[str]:
    for block in message.content:
        if getattr(block, "type", None) == "text" and isinstance(getattr(block, "text", None), str):
            yield block.text  # type: ignore[union-attr]


def _usage(message: Message) -> Usage:
    counted = getattr(message, "usage", None)
    details = getattr(counted, "output_tokens_details", None)
    read_in = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return Usage(
        input_tokens=sum(getattr(counted, name, None) or 0 for name in read_in),
        output_tokens=getattr(counted, "output_tokens", None) or 0,
        thinking_tokens=getattr(details, "thinking_tokens", None) or 0,
    )


def _refused_by_status(error: anthropic.APIStatusError, model: str) -> ChatError:
    status = error.status_code
    advice = _ADVICE.get(status, _LATER if passing(status) else _ADVICE[400])
    message = f"{model} failed: {said(error)}; {advice}"
    if not passing(status):
        return ChatError(message, outcome_of(status), model=model)
    fault = PassingError(message, outcome_of(status), model=model)
    fault.retry_after = retry_after(error.response.headers)
    return fault


def _unreadable(model: str, why: str) -> ChatError:
    return ChatError(
        f"what came back for {model} is no reply ({why}); check ANTHROPIC_BASE_URL", "unparsable", model=model
    )


def _need_a_key(model: str) -> None:
    if not (os.environ.get("ANTHROPIC_API_KEY") or os.environ.get("ANTHROPIC_AUTH_TOKEN")):
        raise ChatError(
            "ANTHROPIC_API_KEY is not set; set it, or name another chat model", "unauthorized", model=model
        )
