"""Who said it: the evidence said by the person a question names against the evidence said by others.

A question about the right thing and the wrong person finds plenty of near evidence, all of it said by somebody else.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.gate import texts
from core.gate.asked import Asked
from core.gate.considered import Considered
from core.text import words

READ = 24
"""Best candidates that are read of those named, and of the others."""
BEST = 3
TOP = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """For questions that name somebody who speaks among the candidates. Each of the pairs is (named, others): ``told``
    the best share of the question's weight (without the names) in one sentence that tells, ``mixed`` half of it and half
    of the cosine, and ``cosine``; all are the best, ``steady`` the mean of the best three of ``told``.
    ``share`` of the five best mixed are said by the named; ``instead`` said the best of the others."""

    persons: tuple[str, ...]
    told: tuple[float, float]
    mixed: tuple[float, float]
    cosine: tuple[float, float]
    steady: tuple[float, float]
    share: float
    instead: str | None


def named(question_words: Sequence[str], speakers: Collection[str | None]) -> tuple[str, ...]:
    """Speakers of whom a part of the name stands in the question, sorted."""
    said = {word.removesuffix("'s") for word in question_words}
    known = sorted({speaker for speaker in speakers if speaker})
    return tuple(one for one in known if said.intersection(words(one)))


def bind(
    asked: Asked, persons: Sequence[str], considered: Considered, order: NDArray[np.int64]
) -> Binding | None:
    """None where nobody who speaks is named, or nobody else speaks. ``order`` (n,) are positions, best first."""
    speakers = considered.speakers
    mine = [place for place in order.tolist() if speakers[place] in persons][:READ]
    others = [place for place in order.tolist() if speakers[place] and speakers[place] not in persons][:READ]
    if not persons or not mine or not others:
        return None
    places = np.array([*mine, *others])
    told = np.array([_told(asked, considered, place) for place in places.tolist()])
    cosine = np.clip(np.nan_to_num(considered.cosine[places], nan=0.0), 0, 1)
    mixed = 0.5 * told + 0.5 * cosine
    first = len(mine)
    best = np.argsort(-mixed, kind="stable")[:TOP]
    return Binding(
        persons=tuple(persons),
        told=(float(told[:first].max()), float(told[first:].max())),
        mixed=(float(mixed[:first].max()), float(mixed[first:].max())),
        cosine=(float(cosine[:first].max()), float(cosine[first:].max())),
        steady=(_mean_of_best(told[:first]), _mean_of_best(told[first:])),
        share=float((best < first).mean()),
        instead=speakers[others[int(np.argmax(mixed[first:]))]],
    )


def _told(asked: Asked, considered: Considered, place: int) -> float:
    """The best share in a sentence that tells; what only asks is no evidence."""
    read = texts.read(considered.texts[place], considered.speakers[place])
    return max((asked.share(one.stems) for one in read.sentences if not one.asks), default=0.0)


def _mean_of_best(values: NDArray[np.float64]) -> float:
    return float(np.sort(values)[::-1][:BEST].mean())
