"""What every hosted chat model does alike: one limit in wall time, tries again after passing faults, errors in words."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING

from core.models.background import within
from core.models.chat import ChatError, ChatReply, ChatRequest, Reasoning, Usage
from core.models.faults import PassingError, Patience, outcome_of, passing, patiently, retry_after, said
from core.models.limits import whole_number
from core.text import well_formed

if TYPE_CHECKING:
    import httpx2

TIMEOUT_SECONDS = 120
THINKING_TOKENS: Mapping[Reasoning, int] = {"none": 0, "low": 2048, "medium": 8192, "high": 16384}
"""Output tokens a level adds to a request's ``max_tokens``, as thinking counts against it."""


class HostedChat(ABC):
    """A chat model behind a service. ``service`` is its name in environment variables: ``ANTHROPIC`` for
    ``ANTHROPIC_API_KEY``. Keys are read when they are needed and never kept or printed.

    Raises:
        ChatError: there is no key (``unauthorized``).
    """

    service: str

    def __init__(self, model: str, patience: Patience | None = None) -> None:
        self.default_model = model
        self._patience = patience or Patience(seconds=whole_number("ASSAY_CHAT_TIMEOUT", TIMEOUT_SECONDS))
        self._need_a_key()

    @property
    @abstractmethod
    def provider(self) -> str:
        """Who answers, as it stands in the key of a cached reply: two endpoints are two providers."""

    def reply(self, request: ChatRequest) -> ChatReply:
        """The reply, complete and not empty, or a refusal; within the timeout, tries and pauses included.

        Raises:
            ChatError: no usable reply; ``outcome`` says why.
        """
        model, seconds = request.model or self.default_model, self._patience.seconds
        self._need_a_key()

        async def tries(http: httpx2.AsyncClient) -> ChatReply:
            return await patiently(lambda: self._once(http, model, request), self._patience)

        try:
            return within(seconds, tries)
        except TimeoutError:
            raise ChatError(
                f"{model} did not answer within {seconds:g} s; raise ASSAY_CHAT_TIMEOUT or ask for less",
                "timeout",
                model=model,
            ) from None
        except CancelledError:
            raise ChatError(
                f"the call to {model} was ended with the process", "unavailable", model=model
            ) from None

    @abstractmethod
    async def _once(self, http: httpx2.AsyncClient, model: str, request: ChatRequest) -> ChatReply:
        """One try. Raises PassingError where another may help, else ChatError."""

    def _need_a_key(self) -> None:
        if not os.environ.get(f"{self.service}_API_KEY"):
            raise ChatError(
                f"{self.service}_API_KEY is not set; set it, or name another chat model",
                "unauthorized",
                model=self.default_model,
            )

    def _by_status(
        self, error: Exception, model: str, status: int, headers: Mapping[str, str], *, again: bool = True
    ) -> ChatError:
        """What a status of 400 and above is raised as; ``again`` False: another try cannot help."""
        message = f"{model} failed: {said(error)}; {self._advice(status)}"
        if not (again and passing(status)):
            return ChatError(message, outcome_of(status), model=model)
        fault = PassingError(message, outcome_of(status), model=model)
        fault.retry_after = retry_after(headers)
        return fault

    def _advice(self, status: int) -> str:
        key, url = f"{self.service}_API_KEY", f"{self.service}_BASE_URL"
        advice = {
            401: f"check {key}",
            402: "check the account's billing",
            403: f"check that {key} may use this model",
            404: f"check the model's name and {url}",
            413: "send less evidence",
        }
        return advice.get(status) or (
            "try again later" if passing(status) else "check the model's name and the request's size"
        )

    def _unreachable(self, error: Exception, model: str) -> PassingError:
        where = f"check the network and {self.service}_BASE_URL"
        return PassingError(f"{model} cannot be reached ({said(error)}); {where}", "unavailable", model=model)

    def _unreadable(self, why: str, model: str) -> ChatError:
        return ChatError(
            f"what came back for {model} is no reply ({why}); check {self.service}_BASE_URL",
            "unparsable",
            model=model,
        )


def complete(text: str, *, stop: object, done: bool, model: str, usage: Usage) -> ChatReply:
    """The reply of a text; ``done`` False: the model stopped for ``stop`` before it was through.

    Raises:
        ChatError: it is truncated or empty.
    """
    if not done:
        raise ChatError(
            f"the reply of {model} is not complete ({stop} after {usage.output_tokens} tokens, "
            f"{usage.thinking_tokens} of them thinking); ask for less or at a lower level of reasoning",
            "truncated",
            model=model,
            usage=usage,
        )
    if not text.strip():
        raise ChatError(f"{model} answered without any text; try again", "empty", model=model, usage=usage)
    return ChatReply(text=well_formed(text), model=model, usage=usage)


def counted(source: object, *names: str) -> int:
    """The sum of a usage's counts of those names; what is absent or no count is 0."""
    counts = (getattr(source, name, None) for name in names)
    return sum(count for count in counts if isinstance(count, int) and count > 0)
