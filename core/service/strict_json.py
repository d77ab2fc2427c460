"""JSON as its standard has it, and nothing beside it: one object, each key once, no NaN."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from core.service.errors import Refusal


def json_object(body: bytes) -> dict[str, Any]:
    """The object that ``body`` holds in UTF-8.

    Raises:
        Refusal: 400, it holds anything else, a key twice, NaN or Infinity, or half of a character.
    """
    try:
        value = json.loads(body.decode(), object_pairs_hook=_once, parse_constant=_no_constant)
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeDecodeError as error:
        raise Refusal(400, f"the body is not UTF-8 from byte {error.start} on") from None
    except UnicodeEncodeError:
        raise Refusal(400, "the body holds half of a character (a lone surrogate)") from None
    except RecursionError:
        raise Refusal(400, "the body is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise Refusal(400, f"the body is not JSON: {error}") from None
    except ValueError:  # the one left: more digits than Python reads
        raise Refusal(400, "the body holds a number of too many digits") from None
    if not isinstance(value, dict):
        raise Refusal(400, f"the body must be a JSON object, got {_kind(value)}")
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise Refusal(400, f"{twice[:60]!r} stands twice in one object; keep one of them")
    return found


def _no_constant(name: str) -> NoReturn:
    raise Refusal(400, f"{name} is no JSON number")


def _kind(value: Any) -> str:
    names = {list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")
