"""The model that writes the answers of a run: within a budget, with replies kept, another cache for each repeat."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from core.models.chat import ProvidedChat, Reasoning


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """``model`` None: answers are written without one."""

    model: ProvidedChat | None
    reasoning: Reasoning = "none"
    cache: Path | None = None

    @classmethod
    def named(
        cls,
        name: str | None,
        reasoning: Reasoning,
        *,
        cache: Path | None = None,
        max_cost: float | None = None,
    ) -> Writer:
        """The writer of that name (see ``core.models.registry.chat``), refusing calls once ``max_cost`` US dollars are
        spent; what the cache holds costs nothing.

        Raises:
            UsageError: no such model, or one without a price under ``max_cost``. ModelError: it needs a key.
        """
        from core.models.registry import chat
        from evals.budget import Budgeted

        model: ProvidedChat | None = chat(name)
        if model is not None and max_cost is not None:
            model = Budgeted(model, max_cost)
        return cls(model=model, reasoning=reasoning, cache=cache)

    def of(self, repeat: int) -> ProvidedChat | None:
        """The model for one repeat: a repeat is answered anew, so each has kept replies of its own."""
        if self.model is None or self.cache is None:
            return self.model
        from core.models.reply_cache import CachedChat

        return CachedChat(self.model, self.cache / str(repeat) if repeat else self.cache)
