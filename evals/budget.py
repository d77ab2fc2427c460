"""A bound on what a run's model calls may cost."""

from __future__ import annotations

from threading import Lock

from core.errors import AssayError, UsageError
from core.models.chat import ChatError, ChatReply, ChatRequest, ProvidedChat, Usage
from core.models.prices import cost


class BudgetSpentError(AssayError):
    """The next call would come after the money is spent."""


class Budgeted:
    """A chat model that refuses further calls once ``limit_usd`` is spent; a call that fails costs what it used.

    Raises:
        UsageError: the model has no price, so that nothing could be bounded.
    """

    def __init__(self, model: ProvidedChat, limit_usd: float) -> None:
        if cost(model.default_model, Usage()) is None:
            raise UsageError(
                f"--max-cost needs a price for {model.default_model}; ASSAY_PRICES names a file that has one"
            )
        self.provider = model.provider
        self._model = model
        self._limit = limit_usd
        self._lock = Lock()
        self.spent = 0.0

    @property
    def default_model(self) -> str:
        return self._model.default_model

    def reply(self, request: ChatRequest) -> ChatReply:
        """The model's reply.

        Raises:
            BudgetSpentError: the money is spent.
        """
        if self.spent >= self._limit:
            raise BudgetSpentError(
                f"{self.spent:.4f} USD of --max-cost {self._limit:g} are spent; what was asked is kept: "
                "run again with a larger --max-cost to go on"
            )
        try:
            reply = self._model.reply(request)
        except ChatError as error:
            self._book(cost(error.model or request.model or self.default_model, error.usage))
            raise
        self._book(cost(reply.model, reply.usage))
        return reply

    def _book(self, usd: float | None) -> None:
        with self._lock:
            self.spent += usd or 0.0
