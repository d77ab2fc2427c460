"""The file a scripted chat model replays: JSON lines, each saying which request it answers and how.

A line's keys, all optional but one of ``reply`` and ``outcome``:

* ``stage``: the request's stage (``query``, ``extract`` …); any stage where it is left out.
* ``contains``: a text, or a list of texts, that the prompt must all contain, as they are written.
* ``request`` with ``asked``: the sha256 of one exact request to the model ``asked`` (``PROVIDER:MODEL``), as recorded
  replies carry it; it excludes ``stage`` and ``contains``.
* ``reply``: the text, or a JSON object or list that becomes the text.
* ``outcome``: instead of a reply, how the call ends: ``refused``, ``truncated``, ``timeout`` … (not ``ok``).
* ``usage``: ``{"input_tokens": …, "output_tokens": …, "thinking_tokens": …}``, each a whole number from 0.
* ``model``: the model that answers; ``scripted`` where it is left out.
* ``once``: true for a line that answers one request and is passed over afterwards.

Blank lines are skipped. The first line that matches answers.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from core.bounded import read_whole
from core.errors import DataError
from core.models.chat import ChatRequest, Outcome

Words = Annotated[str, StringConstraints(min_length=1)]
Tokens = Annotated[int, Field(ge=0)]


class UsageLine(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    input_tokens: Tokens = 0
    output_tokens: Tokens = 0
    thinking_tokens: Tokens = 0


class ScriptLine(BaseModel):
    """One line; ``text`` is its reply as text, "" where it has an outcome instead."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    stage: Words | None = None
    contains: Words | list[Words] = Field(default_factory=list)
    request: Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")] | None = None
    asked: Annotated[str, StringConstraints(pattern="^[^:]+:.+$")] | None = None
    reply: str | dict[str, Any] | list[Any] | None = None
    outcome: Outcome | None = None
    usage: UsageLine = UsageLine()
    model: Words = "scripted"
    once: bool = False

    @model_validator(mode="after")
    def _means_one_thing(self) -> ScriptLine:
        if (self.reply is None) == (self.outcome is None):
            raise ValueError("one of reply and outcome must be there, and not both")
        if self.outcome == "ok":
            raise ValueError("outcome ok is said by a reply; write the reply")
        if isinstance(self.reply, str) and not self.reply.strip():
            raise ValueError('a blank reply is written as "outcome": "empty"')
        json.dumps(self.reply, allow_nan=False)  # a ValueError for numbers JSON has not
        if (self.request is None) != (self.asked is None):
            raise ValueError("request and asked belong together")
        if self.request and self.contains:
            raise ValueError("request names one whole request; leave contains out")
        return self

    @property
    def text(self) -> str:
        if isinstance(self.reply, str):
            return self.reply
        return "" if self.reply is None else json.dumps(self.reply, ensure_ascii=False)

    def takes(self, request: ChatRequest) -> bool:
        """Whether stage and prompt fit; not for lines with a ``request``."""
        wanted = [self.contains] if isinstance(self.contains, str) else self.contains
        return self.stage in (None, request.stage) and all(words in request.prompt for words in wanted)


def read_script(path: Path) -> list[ScriptLine]:
    """The lines of a script, in order, at least one.

    Raises:
        DataError: ``path:line`` and what is wrong with it; or the file cannot be read or holds no line.
    """
    try:
        rows = read_whole(path).split(b"\n")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from error
    lines = [_line(row, f"{path}:{number}") for number, row in enumerate(rows, 1) if row.strip()]
    if not lines:
        raise DataError(f'{path}: holds no replies; a line is e.g. {{"stage": "query", "reply": "…"}}')
    return lines


def _line(row: bytes, where: str) -> ScriptLine:
    try:
        return ScriptLine.model_validate_json(row.removeprefix(b"\xef\xbb\xbf"))
    except ValidationError as error:
        first = error.errors()[0]
        field = next((str(part) for part in first["loc"]), "")
        raise DataError(f"{where}: {field + ': ' if field else ''}{first['msg']}") from None
