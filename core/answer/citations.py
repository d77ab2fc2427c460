"""Citations in a model's text: parsed strictly, resolved against what was sent, and counted sentence by sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from core.text import sentences
from core.trace import AnswerSentence

_TAG = re.compile(r"\[mem:([^\[\]]*)\]")
_TAG_WITH_BLANKS = re.compile(rf"([ \t]*){_TAG.pattern}")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """A reply with its citations resolved. ``text`` holds only tags of ``cited``, the full ids in order of first
    mention; ``invalid`` are those that were not sent or are no ids, each mention once."""

    text: str
    cited: tuple[str, ...]
    invalid: tuple[str, ...]
    sentences: tuple[AnswerSentence, ...]


def cited(reply: str, sent: Mapping[str, str]) -> Cited:
    """``reply`` with every ``[mem:ID]`` or ``[mem:ID, ID]`` resolved through ``sent``: the ids that were sent → full ids.

    Strict: ids are case-sensitive and stand without blanks after ``mem:``; a tag with anything in it that is no id is
    invalid as a whole; anything else in brackets is text. Invalid citations are taken out of the text.
    """
    invalid: dict[str, None] = {}
    found: dict[str, None] = {}

    def resolved(match: re.Match[str]) -> str:
        good = []
        for part in _parts(match.group(2)):
            if part in sent:
                good.append(sent[part])
            else:
                invalid[part] = None
        found.update(dict.fromkeys(good))
        return f"{match.group(1)}[mem:{', '.join(dict.fromkeys(good))}]" if good else ""

    text = _TAG_WITH_BLANKS.sub(resolved, reply).strip()
    return Cited(text=text, cited=tuple(found), invalid=tuple(invalid), sentences=_by_sentence(text))


def _parts(inside: str) -> list[str]:
    """The ids of one tag; the whole of it as one where any part is no id, or a blank follows ``mem:``."""
    parts = [part.strip() for part in inside.split(",")]
    strict = inside[:1] == inside[:1].strip() and all(_ID.fullmatch(part) for part in parts)
    return parts if strict else [inside]


def _by_sentence(text: str) -> tuple[AnswerSentence, ...]:
    """Each sentence with the ids cited in it or in tags right behind it; without any it is unsupported."""
    found: list[AnswerSentence] = []
    for start, end in sentences(text):
        leading = _leading_tags(text, start, end)
        if leading > start and found:
            before = found[-1]
            ids = tuple(dict.fromkeys((*before.citations, *_ids(text[start:leading]))))
            found[-1] = AnswerSentence(start=before.start, end=leading, citations=ids)
            while leading < end and text[leading].isspace():
                leading += 1
            start = leading
        if text[start:end].strip():
            found.append(AnswerSentence(start=start, end=end, citations=_ids(text[start:end])))
    return tuple(found)


def _leading_tags(text: str, start: int, end: int) -> int:
    """Where the tags end with which a sentence begins."""
    position = after = start
    while match := _TAG.match(text, position, end):
        position = after = match.end()
        while position < end and text[position].isspace():
            position += 1
    return after


def _ids(text: str) -> tuple[str, ...]:
    found = (part.strip() for tag in _TAG.findall(text) for part in tag.split(","))
    return tuple(dict.fromkeys(found))
