"""LoCoMo's evidence: turn ids such as ``D8:6``, as they are written and as they were meant."""

from __future__ import annotations

import re
from collections.abc import Collection

from core.ingest.items import Problem

_TURN = re.compile(r"D:?(\d+):(\d+)")
_BETWEEN = re.compile(r"[\s;,]*")


def cited_turns(where: str, cited: object, turns: Collection[str]) -> tuple[list[str], list[Problem]]:
    """The distinct known turns that ``cited`` (an id or a list of them) names, in order, and a problem for each id that
    was repaired or left out."""
    named: list[str] = []
    problems = []
    for value in cited if isinstance(cited, list) else [cited]:
        meant = [str(value)] if value in turns else repaired(value)
        if meant != [value]:
            said = f"repaired to {', '.join(meant)}" if meant else "skipped"
            problems.append(Problem(where=where, what=f"malformed evidence id {value!r}", action=said))
        for turn in meant:
            if turn in turns:
                named.append(turn)
            else:
                what = f"evidence {turn!r} is no turn of the conversation"
                problems.append(Problem(where=where, what=what))
    return list(dict.fromkeys(named)), problems


def repaired(value: object) -> list[str]:
    """The turn ids that ``value`` can only mean, [] where it may mean something else.

    Several ids in one text are taken apart (``"D8:6; D9:17"``), a stray colon (``"D:11:26"``) and leading zeros
    (``"D30:05"``) are dropped.
    """
    text = str(value)
    if _BETWEEN.fullmatch(_TURN.sub("", text)) is None:
        return []
    return [f"D{int(session)}:{int(turn)}" for session, turn in _TURN.findall(text)]
