"""Model calls whose reply is one JSON object of a known shape."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from core.answer.json_reply import json_object
from core.errors import UsageError
from core.journal import Journal
from core.models.chat import REASONING, ChatError, ChatModel, ChatReply, ChatRequest, Reasoning


class Reply(BaseModel):
    """A JSON object from a model: unknown keys are refused, so that a misunderstood request is never half taken."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


Shape = TypeVar("Shape", bound=Reply)


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """A chat model, the journal its calls are written into, and each stage's model and reasoning level."""

    chat: ChatModel
    journal: Journal
    models: Mapping[str, str] = field(default_factory=dict)
    reasoning: Mapping[str, Reasoning] = field(default_factory=dict)

    def ask(self, stage: str, *, system: str, prompt: str, shape: type[Shape], max_tokens: int) -> Shape:
        """The reply as ``shape``.

        Raises:
            ChatError: the call failed, was refused (``refused``), or its reply is not one such object (``unparsable``).
        """
        request = ChatRequest(
            system=system,
            prompt=prompt,
            stage=stage,
            model=self.models.get(stage),
            reasoning=self.reasoning.get(stage, "none"),
            max_tokens=max_tokens,
        )
        reply = self.journal.chat(self.chat).reply(request)
        if reply.refused:
            raise ChatError(
                f"{reply.model} refused stage {stage}; say it otherwise, or choose another model",
                "refused",
                model=reply.model,
                usage=reply.usage,
            )
        return self._parsed(stage, reply, shape)

    def _parsed(self, stage: str, reply: ChatReply, shape: type[Shape]) -> Shape:
        try:
            return shape.model_validate(json_object(reply.text))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            why = f"{'.'.join(map(str, first['loc'])) or 'the object'}: {first['msg']}"
        except ValueError as error:
            why = str(error)
        self.journal.failed("unparsable")
        raise ChatError(
            f"the reply of {reply.model} in stage {stage} cannot be used: {why}; ask again, or choose another model",
            "unparsable",
            model=reply.model,
            usage=reply.usage,
        )


def check_stages(
    stages: Collection[str], reasoning: Mapping[str, Reasoning], models: Mapping[str, str]
) -> None:
    """Raises UsageError for a stage that is not one of ``stages``, an unknown level or a blank model name."""
    for name, given in (("reasoning", reasoning), ("models", models)):
        unknown = [stage for stage in given if stage not in stages]
        if unknown:
            raise UsageError(f"{name}: no stage {unknown[0]!r}; there are {', '.join(stages)}")
    for stage, level in reasoning.items():
        if level not in REASONING:
            raise UsageError(f"reasoning: {stage} must be one of {', '.join(REASONING)}, got {level!r}")
    for stage, model in models.items():
        if not model.strip() or not model.isprintable():
            raise UsageError(f"models: {stage} must be a model's name, got {model!r}")
