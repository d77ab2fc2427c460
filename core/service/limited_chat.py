"""A chat model that is asked a few questions at once, and no more: what its service allows, and what a bill can bear."""

from __future__ import annotations

from threading import BoundedSemaphore

from core.models.chat import ChatModel, ChatReply, ChatRequest
from core.service.errors import BusyError


class LimitedChat:
    """``model``, with at most ``calls`` calls at once; a call waits ``seconds`` for its turn."""

    def __init__(self, model: ChatModel, *, calls: int, seconds: float = 60.0) -> None:
        self._model = model
        self._calls = calls
        self._seconds = seconds
        self._free = BoundedSemaphore(calls)

    @property
    def default_model(self) -> str:
        """The model's own."""
        return self._model.default_model

    def reply(self, request: ChatRequest) -> ChatReply:
        """The model's reply.

        Raises:
            BusyError: no turn came within the time. ChatError: the model's own.
        """
        if not self._free.acquire(timeout=self._seconds):
            raise BusyError(
                f"{self._calls} model calls are running and none ended within {self._seconds:g} s; try again later"
            )
        try:
            return self._model.reply(request)
        finally:
            self._free.release()
