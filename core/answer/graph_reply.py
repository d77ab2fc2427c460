"""The graph's reply: one JSON object with an answer and the ids it rests on, found in whatever stands around it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from core.models.chat import ChatError

MAX_REPLY = 256 * 1024
"""Characters of a reply that are looked at; a reply within the token limit is far shorter."""
MAX_STARTS = 1000
"""Opening braces at which an object is looked for."""
MAX_DIGITS = 18
ID_LISTS = ("entities", "edges", "passages")


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphReply:
    """What the model answered and the row numbers it says it used, each once, ascending; not yet checked against what was
    sent."""

    answer: str
    entities: tuple[int, ...]
    edges: tuple[int, ...]
    passages: tuple[int, ...]


def parse(reply: str) -> GraphReply:
    """The one JSON object with an ``answer`` in ``reply``; fences, prose and other braces around it are passed over.

    Ids may be integers, integral floats or strings of digits; a missing or null list is empty. Two objects with an answer
    are ambiguous and refused, never mixed.

    Raises:
        ChatError: ``unparsable``: no such object or several, an answer that is no text, an id that is no number;
            ``empty``: the answer is blank.
    """
    found = list(_objects(reply[:MAX_REPLY]))
    if len(found) != 1:
        _refuse(f"{len(found) or 'no'} JSON object{'s' if found else ''} with an answer, one is needed")
    answer = found[0]["answer"]
    if not isinstance(answer, str):
        _refuse(f"an answer that is no text but {type(answer).__name__}")
    if not answer.strip():
        raise ChatError("the model's answer is empty; ask again", "empty")
    entities, edges, passages = (_ids(name, found[0].get(name)) for name in ID_LISTS)
    return GraphReply(answer=answer.strip(), entities=entities, edges=edges, passages=passages)


def _objects(reply: str) -> Iterator[dict[str, Any]]:
    """The outermost JSON objects that hold an answer, in order."""
    decoder = json.JSONDecoder(parse_constant=_no_constant)
    position = reply.find("{")
    for _ in range(MAX_STARTS):
        if position < 0:
            return
        try:
            value, end = decoder.raw_decode(reply, position)
        except (ValueError, RecursionError):
            position = reply.find("{", position + 1)
            continue
        if isinstance(value, dict) and "answer" in value:
            yield value
        position = reply.find("{", end)


def _ids(name: str, value: object) -> tuple[int, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        _refuse(f"{name} that are no list but {type(value).__name__}")
    return tuple(sorted({_id(name, one) for one in value}))


def _id(name: str, value: object) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= MAX_DIGITS:
        return int(value)
    whole = isinstance(value, int) and not isinstance(value, bool)
    if whole or (isinstance(value, float) and value.is_integer()):
        return int(value)  # type: ignore[call-overload, no-any-return]
    return _refuse(f"an id among its {name} that is no number: {str(value)[:40]!r}")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"JSON has no {name}")


def _refuse(what: str) -> NoReturn:
    raise ChatError(
        f"the model's reply cannot be used, it has {what}; ask again, or choose another model", "unparsable"
    )
