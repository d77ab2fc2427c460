"""The one JSON object in a model's reply; code fences and prose around it are tolerated, anything doubtful is not."""

from __future__ import annotations

import json
from typing import Any, NoReturn


def json_object(reply: str) -> dict[str, Any]:
    """The JSON object ``reply`` holds. Braces that are no JSON are passed over.

    Raises:
        ValueError: no object, several (never a mixture of them) or one cut off; a key twice in one; NaN, an infinity.
    """
    found = []
    decoder = json.JSONDecoder(object_pairs_hook=_once_each, parse_constant=_refuse_constant)
    at = reply.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(reply, at)
        except json.JSONDecodeError as error:
            _refuse_cut_off(reply, error)
            end = at + 1
        except RecursionError as error:
            raise ValueError("the reply's JSON is nested too deeply") from error
        else:
            found.append(value)
        at = reply.find("{", end)
    if len(found) != 1:
        raise ValueError(
            f"the reply holds {len(found) or 'no'} JSON object{'s' if len(found) > 1 else ''}, not one"
        )
    only: dict[str, Any] = found[0]
    return only


def _refuse_cut_off(reply: str, error: json.JSONDecodeError) -> None:
    """Whole objects inside one that was cut off are not the reply."""
    if error.pos >= len(reply.rstrip()) or error.msg.startswith("Unterminated string"):
        raise ValueError("the reply's JSON is cut off") from error


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    if len(set(keys)) != len(keys):
        raise ValueError(f"a key stands twice in one object: {', '.join(keys)}")
    return dict(pairs)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
