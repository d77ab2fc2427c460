"""The native format: JSON Lines, one object a line, each with a ``kind``.

======== ===========================================================================================================
kind     fields (those without a default must be given)
======== ===========================================================================================================
artifact source, text, title="", session, valid_at, summary, whole=false (true: keep as one chunk), as_nodes=true,
         chunking=[size, overlap] in characters
entity   name, type, description="", latitude, longitude (both or neither)
fact     subject, relation, object (names of entities), description="", artifact (a source), valid_at, invalid_at,
         created_at, expired_at
node     level (L0, L1, L2), text, source, turn, session, position, speaker, name, title="", valid_at,
         confidence (0 to 1), parents=[] (what it was made from: names or ids of nodes; an artifact by its source,
         a chunk of a long one by ``source#chunk-2``)
link     child, parent (named in the same way)
case     case_id, question and the other fields of a labelled question
======== ===========================================================================================================

Times are ``2023``, ``2023-03-01`` or ``2023-03-01T09:00:00Z``. Blank lines are passed over.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from core import clock
from core.bounded import MAX_LINE, lines, too_long
from core.ingest.items import ArtifactItem, CaseItem, EntityItem, FactItem, Item, LinkItem, NodeItem, Problem
from core.records import Level


def _visible(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    if "\x00" in text:
        raise ValueError("must not hold NUL characters")
    return text


Words = Annotated[str, AfterValidator(_visible)]
Whole = Annotated[int, Field(ge=-(2**63), lt=2**63)]
"""What a column of numbers can hold."""
Moment = Annotated[str, AfterValidator(clock.parse)]


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Artifact(_Row):
    kind: Literal["artifact"]
    source: Words
    text: Words
    title: str = ""
    session: str | None = None
    valid_at: Moment | None = None
    summary: Words | None = None
    whole: bool = False
    as_nodes: bool = True
    chunking: tuple[int, int] | None = None

    @model_validator(mode="after")
    def _room(self) -> _Artifact:
        if self.chunking is not None and not 0 <= self.chunking[1] < self.chunking[0]:
            raise ValueError(
                f"chunking is [size, overlap] with the overlap below the size, got {list(self.chunking)}"
            )
        return self


class _Entity(_Row):
    kind: Literal["entity"]
    name: Words
    type: Words
    description: str = ""
    latitude: float | None = Field(default=None, ge=-90, le=90)
    longitude: float | None = Field(default=None, ge=-180, le=180)

    @model_validator(mode="after")
    def _both_or_neither(self) -> _Entity:
        if (self.latitude is None) != (self.longitude is None):
            raise ValueError("latitude and longitude are given both or neither")
        return self


class _Fact(_Row):
    kind: Literal["fact"]
    subject: Words
    relation: Words
    object: Words
    description: str = ""
    artifact: str | None = None
    valid_at: Moment | None = None
    invalid_at: Moment | None = None
    created_at: Moment | None = None
    expired_at: Moment | None = None

    @model_validator(mode="after")
    def _in_order(self) -> _Fact:
        if self.valid_at and self.invalid_at and self.invalid_at < self.valid_at:
            raise ValueError(f"invalid_at {self.invalid_at} lies before valid_at {self.valid_at}")
        if self.created_at and self.expired_at and self.expired_at < self.created_at:
            raise ValueError(f"expired_at {self.expired_at} lies before created_at {self.created_at}")
        return self


class _Node(_Row):
    kind: Literal["node"]
    level: Level
    text: Words
    source: Words
    turn: str | None = None
    session: str | None = None
    position: Whole | None = None
    speaker: str | None = None
    name: Words | None = None
    title: str = ""
    valid_at: Moment | None = None
    confidence: float | None = Field(default=None, ge=0, le=1)
    parents: list[str] = []


class _Link(_Row):
    kind: Literal["link"]
    child: Words
    parent: Words


_ROWS: dict[str, tuple[type[_Row], type[Any]]] = {
    "artifact": (_Artifact, ArtifactItem),
    "entity": (_Entity, EntityItem),
    "fact": (_Fact, FactItem),
    "node": (_Node, NodeItem),
    "link": (_Link, LinkItem),
}
KINDS = (*_ROWS, "case")


def read_native(path: Path) -> Iterator[tuple[str, Item | Problem]]:
    """Every line of a native file as ``(file:line, item or problem)``, in order."""
    with path.open("rb") as file:
        for number, line in enumerate(lines(file, MAX_LINE), start=1):
            where = f"{path}:{number}"
            if isinstance(line, int):
                yield where, Problem(where=where, what=too_long(line, MAX_LINE))
            elif line.strip():
                yield where, _parsed(line, where)


def _parsed(line: bytes, where: str) -> Item | Problem:
    try:
        row = json.loads(line.decode("utf-8-sig").rstrip(), parse_constant=_refuse)
        return _item(row)
    except UnicodeDecodeError as error:
        return Problem(where=where, what=f"not UTF-8 at byte {error.start + 1} of the line")
    except json.JSONDecodeError as error:
        return Problem(where=where, what=f"not JSON: {error.msg} at column {error.colno}")
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        return Problem(where=where, what=f"{field}: {first['msg']}" if field else str(first["msg"]))
    except (ValueError, RecursionError) as error:
        return Problem(where=where, what=str(error) or "nested too deeply")


def _item(row: Any) -> Item:
    if not isinstance(row, dict):
        raise ValueError(f"a line holds one JSON object, got {type(row).__name__}")
    kind = row.get("kind")
    if kind == "case":
        return _case(row)
    if not isinstance(kind, str) or kind not in _ROWS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
    model, item = _ROWS[kind]
    checked = model.model_validate_json(_storable(row))
    values = {name: getattr(checked, name) for name in model.model_fields if name != "kind"}
    made: Item = item(
        **{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    )
    return made


def _case(row: dict[str, Any]) -> CaseItem:
    body = {key: value for key, value in row.items() if key != "kind"}
    case_id = body.get("case_id")
    if not isinstance(case_id, str) or not case_id.strip():
        raise ValueError(f"case_id must be a name, got {case_id!r}")
    if not isinstance(body.get("question"), str) or not body["question"].strip():
        raise ValueError("question must not be blank")
    _storable(body)
    return CaseItem(case_id=case_id, body=body)


def _storable(row: dict[str, Any]) -> str:
    """``row`` as JSON; raises ValueError for what can be read and not be stored: ``1e999``, lone surrogates."""
    text = json.dumps(row, ensure_ascii=False, allow_nan=False)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError("holds half of a character (a lone surrogate); write it whole") from error
    return text


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
