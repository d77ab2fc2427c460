"""What one call to the system did: its steps and the model calls it made, kept whether it succeeded or not."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Literal

from core import clock
from core.models.chat import ChatError, ChatModel, ChatReply, ChatRequest, Outcome, Reasoning, Usage
from core.records import DEFAULT_DATASET, DEFAULT_USER

CallKind = Literal["query", "remember", "synthesize"]
"""``query`` is a question, whatever the recipe."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inference:
    """One model call: what for, by which model at which level, what it took and how it ended."""

    stage: str
    model: str
    reasoning: Reasoning
    usage: Usage
    latency_ms: float
    outcome: Outcome
    created_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step: its name, what it was given, the sizes of what went in and came out, and its wall time."""

    name: str
    inputs: Mapping[str, int | float | str] = field(default_factory=dict)
    sizes: Mapping[str, int | float | str]
    ms: float


@dataclass(slots=True, kw_only=True)
class Journal:
    """Collects the inferences and steps of one call. ``trajectory_id`` names it in the store."""

    kind: CallKind
    user_id: str = DEFAULT_USER
    dataset: str = DEFAULT_DATASET
    session_id: str | None = None
    trajectory_id: str = field(default_factory=lambda: secrets.token_hex(12))
    started_at: str = field(default_factory=clock.now_ms)
    inferences: list[Inference] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    outcome: str = "ok"
    detail: str = ""
    ms: float = 0.0
    _since: float = field(default_factory=perf_counter)

    def said(self, outcome: str, detail: str = "") -> None:
        """How the call ended (``ok``, ``abstained``, ``error``), said in a line."""
        self.outcome, self.detail = outcome, detail

    def end(self) -> None:
        """Stops the clock."""
        self.ms = (perf_counter() - self._since) * 1000

    def chat(self, model: ChatModel) -> ChatModel:
        """``model``, with every call written down here."""
        return _Journaled(model, self)

    def failed(self, outcome: Outcome) -> None:
        """The last call ended otherwise than it seemed: its reply could not be used."""
        self.inferences[-1] = replace(self.inferences[-1], outcome=outcome)

    @contextmanager
    def step(
        self, name: str, inputs: Mapping[str, int | float | str] | None = None, **sizes: int | float | str
    ) -> Iterator[dict[str, int | float | str]]:
        """Times a step that is given ``inputs``; the block may add sizes to the dictionary it is given."""
        said: dict[str, int | float | str] = dict(sizes)
        since = perf_counter()
        try:
            yield said
        finally:
            took = (perf_counter() - since) * 1000
            self.steps.append(Step(name=name, inputs=inputs or {}, sizes=said, ms=took))


class _Journaled:
    """A chat model whose calls are written down, failed ones too."""

    def __init__(self, model: ChatModel, journal: Journal) -> None:
        self._model = model
        self._journal = journal

    @property
    def default_model(self) -> str:
        return self._model.default_model

    def reply(self, request: ChatRequest) -> ChatReply:
        since, outcome, usage, model = (
            perf_counter(),
            "unavailable",
            Usage(),
            request.model or self.default_model,
        )
        try:
            reply = self._model.reply(request)
            outcome, usage, model = ("refused" if reply.refused else "ok"), reply.usage, reply.model
            return reply
        except ChatError as error:
            outcome, usage = error.outcome, error.usage
            raise
        finally:
            self._journal.inferences.append(
                Inference(
                    stage=request.stage,
                    model=model,
                    reasoning=request.reasoning,
                    usage=usage,
                    latency_ms=(perf_counter() - since) * 1000,
                    outcome=outcome,  # type: ignore[arg-type]
                    created_at=clock.now(),
                )
            )
