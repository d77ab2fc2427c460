"""A labelled question: what should be answered, on what evidence, or why it should not be answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from pydantic import ConfigDict, TypeAdapter, ValidationError

from core.errors import DataError

Variant = Literal["near-miss", "absent"]
VARIANTS: tuple[Variant, ...] = ("near-miss", "absent")


@dataclass(frozen=True, slots=True, kw_only=True)
class Gold:
    """One piece of gold evidence: a ``source``, or a ``fact`` (subject, relation, object) of the graph. ``turn`` narrows
    ``source`` to a turn; ``start``/``end`` to a stretch of the stored node text (title excluded) whose words are
    ``quote``; ``relevance`` is the graded judgement (0: judged and not relevant)."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    source: str = ""
    turn: str | None = None
    start: int | None = None
    end: int | None = None
    quote: str | None = None
    relevance: int = 1
    fact: tuple[str, str, str] | None = None

    def __post_init__(self) -> None:
        """Raises ValueError where it names neither a source nor a fact, or a fact and a place in a text."""
        if not self.source and self.fact is None:
            raise ValueError("gold evidence names a source or a fact")
        if self.fact is not None and (self.turn, self.start, self.end, self.quote) != (None,) * 4:
            raise ValueError(
                f"the gold fact {list(self.fact)} is no stretch of a text: leave out turn, start, end, quote"
            )

    @property
    def key(self) -> str:
        """What retrieval metrics match on: the source, or source and turn; of a fact what it says."""
        return evidence_key(self.source, self.turn) if self.fact is None else fact_key(*self.fact)

    @property
    def document(self) -> str:
        """What it is about: its source; of a fact without one its subject."""
        return self.source or (self.fact[0] if self.fact else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """``answerable`` None: unknown (hidden labels), left out of abstention metrics. ``gold`` holds what retrieval is
    judged on (qrels), ``citations`` the finer evidence an answer must cite (empty: same as ``gold``). ``hides`` are
    the sources that variant ``absent`` hides from this question's retrieval.

    ``alternatives``: sets of places in ``citations`` (from 0), each enough by itself (what several annotators marked);
    empty: all citations together are the one set. ``stale_answers`` are right at another time or place and wrong here:
    they tell an outdated answer from one that was never right.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    case_id: str
    question: str
    answers: tuple[str, ...] = ()
    gold: tuple[Gold, ...] = ()
    citations: tuple[Gold, ...] = ()
    answerable: bool | None = True
    why_unanswerable: str | None = None
    hides: tuple[str, ...] = ()
    as_of: str | None = None
    known_at: str | None = None
    split: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    alternatives: tuple[tuple[int, ...], ...] = ()
    stale_answers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raises ValueError for an alternative that is empty or names a citation there is not."""
        for chosen in self.alternatives:
            if not chosen or not all(0 <= place < len(self.citations) for place in chosen):
                raise ValueError(
                    f"alternatives: {list(chosen)} are no places among the {len(self.citations)} citations"
                )

    def evidence_sets(self) -> tuple[tuple[Gold, ...], ...]:
        """The sets of citations that each suffice: the best-matching one counts. ``()`` without citations."""
        if self.alternatives:
            return tuple(tuple(self.citations[place] for place in chosen) for chosen in self.alternatives)
        return (self.citations,) if self.citations else ()

    def to_body(self) -> dict[str, Any]:
        """The JSON object stored with the dataset."""
        dumped: dict[str, Any] = _codec.dump_python(self, mode="json", exclude_defaults=True)
        return dumped

    @staticmethod
    def from_body(body: Mapping[str, Any]) -> Case:
        """The case of a stored JSON object.

        Raises:
            DataError: unknown keys, or values of another type; the message says which case, where and what.
        """
        try:
            return _codec.validate_python(dict(body))
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(str(part) for part in first["loc"])
            raise DataError(
                f"case {body.get('case_id')!r}: {field}: {first['msg']}; bring it in again as it should be"
            ) from None


def evidence_key(source: str, turn: str | None) -> str:
    """``source``, or ``source#turn``: the identity retrieval metrics match on."""
    return source if turn is None else f"{source}#{turn}"


def fact_key(subject: str, relation: str, target: str) -> str:
    """``subject --relation--> target``: the identity of a fact."""
    return f"{subject} --{relation}--> {target}"


_codec: TypeAdapter[Case] = TypeAdapter(Case)
