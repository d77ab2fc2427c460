"""Which stored facts new ones close, and when: valid time and the time it was known are kept apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.answer.tags import one_line, tagged
from core.records import Fact
from core.remember import prompts
from core.remember.calls import Caller, Reply
from core.remember.facts import NewFact
from core.remember.texts import Vectors, fact_text

AROUND = 2000
"""Live facts around the entities of a text that are considered, newest first."""
OFFERED = 60
"""Facts nearest to the new ones that a model is shown."""
TEXT_SHOWN = 6000
TOKENS = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A model's word that the new fact at place ``by`` supersedes the stored fact."""

    fact_id: int
    by: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Closing:
    """How a stored fact is closed. ``expires`` False: it ends at a moment still to come and holds until then."""

    fact_id: int
    invalid_at: str
    expires: bool


class _Superseded(Reply):
    fact: int
    by: int


class _Verdicts(Reply):
    superseded: list[_Superseded]


def offered(known: Sequence[Fact], new: Sequence[NewFact], vectors: Vectors) -> list[Fact]:
    """The live facts a model is shown: all, or the ``OFFERED`` nearest to any new one, in the order of their ids."""
    if len(known) > OFFERED:
        old = vectors.of(
            [fact_text(fact.source, fact.relation, fact.target, fact.description) for fact in known]
        )
        nearness = (old @ vectors.of([fact.text for fact in new]).T).max(axis=1)
        known = [known[row] for row in np.argsort(-nearness, kind="stable")[:OFFERED]]
    return sorted(known, key=lambda fact: fact.fact_id)


def verdicts(
    caller: Caller, text: str, known: Sequence[Fact], new: Sequence[NewFact]
) -> tuple[tuple[Verdict, ...], int]:
    """What a model says is superseded, each stored fact once (the first word counts), and how many of its words named
    a fact it was not shown.

    Raises:
        ChatError: the call failed or its reply cannot be used.
    """
    reply = caller.ask(
        "supersede",
        system=prompts.SUPERSEDE,
        prompt="\n".join(
            (
                tagged("text", text[:TEXT_SHOWN]),
                tagged("known_facts", "\n".join(_line(fact.fact_id, fact, _words(fact)) for fact in known)),
                tagged(
                    "new_facts", "\n".join(_line(i, fact, fact.text) for i, fact in enumerate(new, start=1))
                ),
            )
        ),
        shape=_Verdicts,
        max_tokens=TOKENS,
    )
    shown = {fact.fact_id for fact in known}
    sound = [item for item in reply.superseded if item.fact in shown and 1 <= item.by <= len(new)]
    first = {item.fact: item.by - 1 for item in reversed(sound)}
    said = tuple(Verdict(fact_id=fact_id, by=by) for fact_id, by in sorted(first.items()))
    return said, len(reply.superseded) - len(sound)


def closings(
    said: Sequence[Verdict], known: Sequence[Fact], new: Sequence[NewFact], *, now: str
) -> tuple[list[Closing], list[NewFact], int]:
    """The facts to close; the new facts, where one that only ends a stored one takes over its start; and how many
    verdicts were passed over because the two facts hold of times that do not meet: two spells are not one.
    """
    by_id = {fact.fact_id: fact for fact in known}
    facts, closed, apart = list(new), [], 0
    for verdict in said:
        old, fact = by_id[verdict.fact_id], facts[verdict.by]
        if _ends(old, fact):
            fact = facts[verdict.by] = replace(fact, valid_at=old.valid_at or fact.valid_at)
        if _meet(old, fact):
            closed.append(_closing(old, fact, now))
        else:
            apart += 1
    return closed, facts, apart


def _closing(old: Fact, new: NewFact, now: str) -> Closing:
    """Closed when the new fact became true; a correction of the very start, at the moment it became known, so that what
    was held before can still be asked for. An end that was known before and lies earlier stays."""
    began, change = old.valid_at or "", new.valid_at or ""
    end = change if change > began else max(now, began)
    end = min(end, old.invalid_at) if old.invalid_at else end
    return Closing(fact_id=old.fact_id, invalid_at=end, expires=change <= now or began > now)


def _ends(old: Fact, new: NewFact) -> bool:
    """Whether ``new`` says of the same relation only that it has ended."""
    return new.states(old) and not new.dated and new.invalid_at is not None


def _meet(old: Fact, new: NewFact) -> bool:
    """Whether the half-open spells share a moment."""
    return (old.invalid_at is None or (new.valid_at or "") < old.invalid_at) and (
        new.invalid_at is None or (old.valid_at or "") < new.invalid_at
    )


def _words(fact: Fact) -> str:
    return fact_text(fact.source, fact.relation, fact.target, fact.description)


def _line(number: int, fact: Fact | NewFact, words: str) -> str:
    times = f"valid_at={fact.valid_at or 'unknown'}, invalid_at={fact.invalid_at or 'none'}"
    return f"[{number}] {one_line(words)} ({times})"
