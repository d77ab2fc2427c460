"""What a question asks for: its weighted terms, the names and numbers in it, and the kind of thing it wants."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from core.text import STOP_WORDS, stem, terms, words

Kind = Literal["who", "when", "where", "how many", "why", "how", "what", "none"]
KINDS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("how many", re.compile(r"\bhow (many|much|long|old|far|tall|big|often)\b")),
    ("when", re.compile(r"\bwhen\b|\b(what|which) (year|date|day|time|month|century)\b")),
    ("who", re.compile(r"\bwho(se|m)?\b")),
    ("where", re.compile(r"\bwhere\b|\b(what|which) (city|country|state|place)\b")),
    ("why", re.compile(r"\bwhy\b")),
    ("how", re.compile(r"\bhow\b")),
    ("what", re.compile(r"\b(what|which)\b")),
)
"""Question words by kind, the most telling first."""
NEGATION = frozenset(
    "not no never neither nor without none nothing cannot lack lacks lacked fail fails".split()
)
_TOKEN = re.compile(r"\w+(?:['’-]\w+)*", re.UNICODE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question, read. ``weights`` maps each distinct stem (without those of persons it is asked about) to its idf, in
    order; ``written`` gives the word a stem was written as; ``names`` are stems written with a capital or a digit."""

    words: tuple[str, ...]
    weights: Mapping[str, float]
    written: Mapping[str, str]
    names: frozenset[str]
    kind: Kind
    negated: bool

    @property
    def total(self) -> float:
        """Weight of all stems; 0 for a question of stop words."""
        return sum(self.weights.values())

    def share(self, held: Collection[str]) -> float:
        """Share of the question's weight whose stems are in ``held``, in [0, 1]; 0 for a question without terms."""
        total = self.total
        return sum(weight for one, weight in self.weights.items() if one in held) / total if total else 0.0

    def missing(self, held: Collection[str]) -> tuple[str, ...]:
        """Stems that are not in ``held``: names first, then by weight, ties in the question's order."""
        lacking = [one for one in self.weights if one not in held]
        return tuple(sorted(lacking, key=lambda one: (one not in self.names, -self.weights[one])))


def read(question: str, idf: Callable[[str], float], *, persons: Collection[str] = ()) -> Asked:
    """``question`` with its stems weighted by ``idf``; stems of ``persons``, whom it is asked about, weigh nothing."""
    about = {stem(term) for person in persons for term in terms(person)}
    stems: dict[str, str] = {}
    for term in terms(question):
        stems.setdefault(stem(term), term)
    listed = tuple(words(question))
    return Asked(
        words=listed,
        weights={one: idf(one) for one in stems if one not in about},
        written={one: _as_written(term, question) for one, term in stems.items()},
        names=frozenset(_names(question)) - about,
        kind=kind_of(question),
        negated=is_negated(listed),
    )


def kind_of(question: str) -> Kind:
    """The kind of thing asked for, by the most telling question word; ``none`` where there is none."""
    text = " ".join(words(question))
    return next((kind for kind, pattern in KINDS if pattern.search(text)), "none")


def is_negated(listed: Collection[str]) -> bool:
    """Whether a negation is among the words."""
    return any(word in NEGATION or word.endswith("n't") for word in listed)


def _names(question: str) -> list[str]:
    """Stems of words with a digit, an inner capital, or a capital that does not just begin the sentence."""
    found = []
    for match in _TOKEN.finditer(question):
        written = match.group()
        begins = not question[: match.start()].rstrip(" \"'“‘(").strip() or question[
            : match.start()
        ].rstrip().endswith((".", "?", "!"))
        telling = any(mark.isdigit() or mark.isupper() for mark in written[1:]) or written[0].isdigit()
        if telling or (written[0].isupper() and not begins):
            found += [stem(term) for term in terms(written) if term not in STOP_WORDS]
    return found


def _as_written(term: str, question: str) -> str:
    match = re.search(rf"(?<!\w){re.escape(term)}(?!\w)", question, re.IGNORECASE)
    return match.group() if match else term
