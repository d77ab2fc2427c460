"""The graph's reply: one JSON object with an answer and the ids it rests on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from core.answer.json_reply import json_object
from core.models.chat import ChatError

MAX_DIGITS = 18


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphReply:
    """What the model answered and the row numbers it says it used, each once, ascending; not yet checked against what was
    sent."""

    answer: str
    entities: tuple[int, ...]
    edges: tuple[int, ...]
    passages: tuple[int, ...]


def parse(reply: str) -> GraphReply:
    """The one JSON object in ``reply``; fences, prose and other braces around it are passed over, two objects are not.

    Ids may be integers, integral floats or strings of digits, a missing or null list is empty; anything else refuses the
    whole reply.

    Raises:
        ChatError: ``unparsable``: not one such object, an answer that is no text, an id that is no number;
            ``empty``: the answer is blank.
    """
    try:
        found = json_object(reply)
    except ValueError as error:
        _refuse(str(error))
    answer = found.get("answer")
    if not isinstance(answer, str):
        _refuse(f"its answer is no text but {type(answer).__name__}")
    if not answer.strip():
        raise ChatError("the model's answer is empty; ask again", "empty")
    return GraphReply(
        answer=answer.strip(),
        entities=_ids("entities", found),
        edges=_ids("edges", found),
        passages=_ids("passages", found),
    )


def _ids(name: str, found: dict[str, object]) -> tuple[int, ...]:
    value = found.get(name)
    if value is None:
        return ()
    if not isinstance(value, list):
        return _refuse(f"its {name} are no list but {type(value).__name__}")
    return tuple(sorted({_id(name, one) for one in value}))


def _id(name: str, value: object) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= MAX_DIGITS:
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return _refuse(f"an id among its {name} is no number: {str(value)[:40]!r}")


def _refuse(what: str) -> NoReturn:
    raise ChatError(
        f"the model's reply cannot be used: {what}; ask again, or choose another model", "unparsable"
    )
