"""A limit on how many calls to chat models run at once."""

from __future__ import annotations

from functools import lru_cache
from threading import BoundedSemaphore

from core.models.chat import ChatError, ChatReply, ChatRequest, ProvidedChat
from core.models.limits import whole_number

CONCURRENCY = 4
WAIT_SECONDS = 60


def limited(model: ProvidedChat, concurrency: int | None = None) -> ProvidedChat:
    """``model``, of which at most ``concurrency`` calls run at once; None: the calls that the whole process shares
    among its models (``ASSAY_CHAT_CONCURRENCY``, 4 where it is unset).

    Raises:
        UsageError: ``ASSAY_CHAT_CONCURRENCY`` is no whole number of at least 1.
    """
    if concurrency is not None:
        return LimitedChat(model, BoundedSemaphore(concurrency), concurrency)
    shared = whole_number("ASSAY_CHAT_CONCURRENCY", CONCURRENCY)
    return LimitedChat(model, _shared(shared), shared)


class LimitedChat:
    """A chat model that takes one of ``slots`` for each call, and waits at most ``wait_seconds`` for it."""

    def __init__(
        self,
        model: ProvidedChat,
        slots: BoundedSemaphore,
        concurrency: int,
        wait_seconds: float = WAIT_SECONDS,
    ) -> None:
        self.provider = model.provider
        self._model, self._slots, self._concurrency, self._wait = model, slots, concurrency, wait_seconds

    @property
    def default_model(self) -> str:
        return self._model.default_model

    def reply(self, request: ChatRequest) -> ChatReply:
        """The model's reply.

        Raises:
            ChatError: as the model does; ``overloaded``: no slot became free in time, and the model was not asked.
        """
        if not self._slots.acquire(timeout=self._wait):
            raise ChatError(
                f"{self._concurrency} model calls are running and none ended within {self._wait:g} s; "
                "raise ASSAY_CHAT_CONCURRENCY or try again later",
                "overloaded",
                model=request.model or self.default_model,
            )
        try:
            return self._model.reply(request)
        finally:
            self._slots.release()


@lru_cache
def _shared(concurrency: int) -> BoundedSemaphore:
    return BoundedSemaphore(concurrency)
