"""The fields of requests: what each takes, said once for the check and for the OpenAPI document."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, Field
from pydantic_core import core_schema

from core import clock
from core.errors import UsageError
from core.models.chat import REASONING, Reasoning
from core.store.datasets import MAX_NAME, check_name

MAX_SESSION = 128
"""Bytes (UTF-8) a session id may have."""
MAX_USER = 200
MAX_RADIUS_KM = 20015
"""Half the circumference of the earth: everything lies within it."""
MODEL_NAME = r"^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,127}$"
_NO_CONTROLS = r"^[^\u0000-\u001f\u007f-\u009f]*$"
_LEVEL = "^(" + "|".join("".join(f"[{c.upper()}{c}]" for c in level) for level in REASONING) + ")$"


def _without_controls(text: str) -> str:
    if any(unicodedata.category(mark) == "Cc" for mark in text):
        raise ValueError("has control characters")
    return text


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("is empty")
    return text


def _without_nul(text: str) -> str:
    if "\x00" in text:
        raise ValueError(f"has a NUL at character {text.index(chr(0))}; write it without")
    return text


def _at_most_bytes(text: str) -> str:
    size = len(text.encode())
    if size > MAX_SESSION:
        raise ValueError(f"has {size} bytes; at most {MAX_SESSION} are taken")
    return text


def _dataset_name(name: str) -> str:
    try:
        check_name(name)
    except UsageError as error:
        raise ValueError(f"cannot be taken: {error}") from error
    return name


def _moment(text: str) -> str:
    return clock.parse(text)


Text = Annotated[str, AfterValidator(_not_blank), Field(min_length=1, json_schema_extra={"pattern": r"\S"})]
Written = Annotated[
    Text,
    AfterValidator(_without_nul),
    Field(json_schema_extra={"pattern": r"^[^\u0000]*[^\s\u0000][^\u0000]*$"}),
]
UserId = Annotated[
    str,
    AfterValidator(_not_blank),
    AfterValidator(_without_controls),
    Field(min_length=1, max_length=MAX_USER, json_schema_extra={"pattern": _NO_CONTROLS}),
]
SessionId = Annotated[
    str,
    AfterValidator(_at_most_bytes),
    AfterValidator(_without_controls),
    Field(json_schema_extra={"maxLength": MAX_SESSION, "pattern": _NO_CONTROLS}),
]
DatasetName = Annotated[
    str,
    AfterValidator(_dataset_name),
    Field(json_schema_extra={"minLength": 1, "maxLength": MAX_NAME, "pattern": _NO_CONTROLS}),
]
Moment = Annotated[
    str,
    AfterValidator(_moment),
    Field(
        description="A year, a date, or a date and time; UTC unless it names a zone",
        json_schema_extra={"pattern": r"^[0-9]{4}", "examples": ["2024-03-01T09:00:00Z"]},
    ),
]
RadiusKm = Annotated[float, Field(gt=0, le=MAX_RADIUS_KM, allow_inf_nan=False)]


@dataclass(frozen=True, slots=True)
class LevelsByStage:
    """Marks ``reasoning``: stage → level. A string is the level of the ``plain`` stages."""

    stages: tuple[str, ...]
    plain: tuple[str, ...]

    def read(self, value: object) -> dict[str, Reasoning]:
        """Raises ValueError for an unknown stage or level, and for what is neither a string nor an object."""
        if value is None:
            return {}
        if isinstance(value, str):
            return dict.fromkeys(self.plain, _level(value))
        return {stage: _level(level) for stage, level in _of_stages(value, self.stages, "a level").items()}

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        level = {"type": "string", "pattern": _LEVEL, "examples": list(REASONING)}
        return {"anyOf": [level, _object(self.stages, level), {"type": "null"}]}


@dataclass(frozen=True, slots=True)
class ModelsByStage:
    """Marks ``models``: stage → model name."""

    stages: tuple[str, ...]

    def read(self, value: object) -> dict[str, str]:
        """Raises ValueError for an unknown stage, a malformed name, and for what is no object."""
        if value is None:
            return {}
        return {stage: _model(name) for stage, name in _of_stages(value, self.stages, "a model").items()}

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        return {"anyOf": [_object(self.stages, {"type": "string", "pattern": MODEL_NAME}), {"type": "null"}]}


def _of_stages(value: object, stages: Sequence[str], what: str) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise ValueError(f"must give {what} for each stage in an object such as {{{stages[0]!r}: …}}")
    unknown = [stage for stage in value if stage not in stages]
    if unknown:
        raise ValueError(f"has no stage {unknown[0][:60]!r}; there are {', '.join(stages)}")
    return value


def _level(value: object) -> Reasoning:
    for level in REASONING:
        if isinstance(value, str) and value.lower() == level:
            return level
    raise ValueError(f"has no level {_short(value)}; there are {', '.join(REASONING)}")


def _model(value: object) -> str:
    if isinstance(value, str) and re.fullmatch(MODEL_NAME, value):
        return value
    raise ValueError(f"is no model's name: {_short(value)}; letters, digits and . _ : / @ + - make one")


def _short(value: object) -> str:
    return ascii(value)[:60]


def _object(stages: Sequence[str], of: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": dict.fromkeys(stages, of), "additionalProperties": False}
