"""Summaries, entities and facts of a text, as a model reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import model_validator

from core.answer.tags import one_line, tagged
from core.ingest.graph_rows import UNTYPED, normal_name
from core.remember import prompts
from core.remember.calls import Caller, Reply
from core.remember.words import Moment, Name, Relation, Said, Text

Spans = Sequence[tuple[int, int]]
SUMMARIES_AT_ONCE = 6
"""Chunks that are summed up in one call."""
CHUNKS_AT_ONCE = 4
"""Neighbouring chunks that are read for facts in one call."""
SUMMARY_TOKENS = 2048
EXTRACTION_TOKENS = 8192
KNOWN_NAMES = 200
"""Names found earlier in the same text that the next call is told."""


class Entity(Reply):
    """Somebody or something the text is about."""

    name: Name
    type: Name = UNTYPED
    description: Text = ""


class Fact(Reply):
    """``source --relation--> target``; dates where the text gives them."""

    source: Name
    relation: Relation
    target: Name
    description: Text = ""
    valid_at: Moment = None
    invalid_at: Moment = None

    @model_validator(mode="after")
    def _in_order(self) -> Fact:
        if self.valid_at and self.invalid_at and self.invalid_at < self.valid_at:
            raise ValueError(f"invalid_at {self.invalid_at} lies before valid_at {self.valid_at}")
        return self


class _Extraction(Reply):
    entities: list[Entity]
    facts: list[Fact]


class _Summary(Reply):
    chunk: int
    summary: Said


class _Summaries(Reply):
    summaries: list[_Summary]


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """What a text says: entities by distinct name and type, among them the ends of every fact; distinct facts."""

    entities: tuple[Entity, ...] = ()
    facts: tuple[Fact, ...] = ()


def summaries(caller: Caller, text: str, spans: Spans) -> list[str]:
    """A summary of each chunk, in order.

    Raises:
        ChatError: a call failed, or a reply does not sum up exactly the chunks it was given.
    """
    found: list[str] = []
    for start in range(0, len(spans), SUMMARIES_AT_ONCE):
        part = spans[start : start + SUMMARIES_AT_ONCE]
        found += _summaries(caller, [text[first:last] for first, last in part])
    return found


def extraction(caller: Caller, text: str, spans: Spans, *, moment: str) -> Extraction:
    """The entities and facts of ``text``, read a few chunks at a time; ``moment`` is when it was said.

    Raises:
        ChatError: a call failed or its reply cannot be used.
    """
    whole = Extraction()
    for start in range(0, len(spans), CHUNKS_AT_ONCE):
        part = spans[start : start + CHUNKS_AT_ONCE]
        window = text[part[0][0] : part[-1][1]]
        reply = caller.ask(
            "extract",
            system=prompts.EXTRACT,
            prompt=_extraction_prompt(window, moment, whole.entities),
            shape=_Extraction,
            max_tokens=EXTRACTION_TOKENS,
        )
        whole = merged(whole, reply.entities, reply.facts)
    return whole


def merged(known: Extraction, entities: Sequence[Entity], facts: Sequence[Fact]) -> Extraction:
    """``known`` with more; a fact's end that nobody named becomes an entity of no type."""
    by_key = {_key(entity): entity for entity in known.entities}
    for entity in entities:
        earlier = by_key.get(_key(entity))
        if earlier is None or not earlier.description:
            by_key[_key(entity)] = entity
        if _key(entity)[1] != UNTYPED:
            by_key.pop((_key(entity)[0], UNTYPED), None)
    names = {name for name, _ in by_key}
    for end in (end for fact in facts for end in (fact.source, fact.target)):
        if normal_name(end) not in names:
            names.add(normal_name(end))
            by_key[normal_name(end), UNTYPED] = Entity(name=end)
    return Extraction(entities=tuple(by_key.values()), facts=tuple(dict.fromkeys((*known.facts, *facts))))


def _key(entity: Entity) -> tuple[str, str]:
    return normal_name(entity.name), normal_name(entity.type)


def _summaries(caller: Caller, chunks: Sequence[str]) -> list[str]:
    reply = caller.ask(
        "summarize",
        system=prompts.SUMMARIZE,
        prompt="\n".join(tagged(f"chunk_{number}", chunk) for number, chunk in enumerate(chunks, start=1)),
        shape=_summaries_of(len(chunks)),
        max_tokens=SUMMARY_TOKENS,
    )
    return [item.summary for item in sorted(reply.summaries, key=lambda item: item.chunk)]


def _summaries_of(count: int) -> type[_Summaries]:
    class Exactly(_Summaries):
        @model_validator(mode="after")
        def _each_once(self) -> Exactly:
            given = sorted(item.chunk for item in self.summaries)
            if given != list(range(1, count + 1)):
                raise ValueError(f"summaries of chunks {given} where 1 to {count} were asked for")
            return self

    return Exactly


def _extraction_prompt(window: str, moment: str, known: Sequence[Entity]) -> str:
    names = "\n".join(f"{one_line(entity.name)} ({one_line(entity.type)})" for entity in known[-KNOWN_NAMES:])
    parts = [
        tagged("said_at", moment),
        *([tagged("known_names", names)] if names else []),
        tagged("text", window),
    ]
    return "\n".join(parts)
