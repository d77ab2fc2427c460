"""A promise on replayed cases: the cut that is promised, or why none is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.errors import UsageError
from core.profile import Value
from evals.replayed import Replayed
from evals.tuning.problem import clusters_of
from evals.tuning.promise import Promise, Tested, cases_needed, in_order
from evals.tuning.space import Axis

Flags = NDArray[np.bool_]
STEPS = 401


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Kept:
    """What came of a promise. ``values`` of the cut in the order they were tested; ``documents`` were counted, one case
    of each, of ``cases``; ``answered`` (S,) is the share of the answerable that each value answers."""

    promise: Promise
    cut: str
    values: tuple[Value, ...]
    tested: Tested
    answered: NDArray[np.float64]
    documents: int
    cases: int

    @property
    def value(self) -> Value | None:
        """The promised cut; None where none is promised that answers anything."""
        place = self.tested.chosen
        return self.values[place] if place is not None and self.answered[place] > 0 else None

    @property
    def needed(self) -> int | None:
        """About how many documents would promise the nearest cut that answers something; None where none would, or it
        is promised as it is."""
        if self.value is not None:
            return None
        useful = np.flatnonzero((self.answered > 0) & (self.tested.counted > 0))
        if not len(useful):
            return None
        risks = self.tested.errors[useful] / self.tested.counted[useful]
        found = [need for risk in np.unique(risks).tolist() if (need := cases_needed(self.promise, risk))]
        return min(found, default=None)


def _false_answers(replayed: Replayed) -> tuple[Flags, Flags, Flags]:
    can = replayed.answerable == 0
    return can, np.broadcast_to(can, replayed.abstained.shape), ~replayed.abstained


def _refusals(replayed: Replayed) -> tuple[Flags, Flags, Flags]:
    can = replayed.answerable == 1
    return can, np.broadcast_to(can, replayed.abstained.shape), replayed.abstained


def _wrong_answers(replayed: Replayed) -> tuple[Flags, Flags, Flags]:
    can = replayed.judgeable
    return can, ~replayed.abstained & can, ~replayed.correct


RISKS: Mapping[str, tuple[Callable[[Replayed], tuple[Flags, Flags, Flags]], bool, bool]] = {
    "false_answer_rate": (_false_answers, True, True),
    "answered_unanswerable": (_false_answers, True, True),
    "selective_risk": (_wrong_answers, True, True),
    "over_refusal_rate": (_refusals, True, False),
    "answered_answerable": (_refusals, False, False),
}
"""Figure → its errors; whether it is the risk itself (at most) or what is left of it (at least); whether dropping more
is the safer side. Each case is right or wrong, which is what a binomial test needs."""


def check(promise: Promise) -> None:
    """Raises:
    UsageError: a figure that is not promised, or the wrong way round.
    """
    if promise.figure not in RISKS:
        raise UsageError(
            f"{promise.figure!r} cannot be promised: the test counts cases that are right or wrong; there are "
            f"{', '.join(RISKS)}"
        )
    at_most = RISKS[promise.figure][1]
    if promise.at_most is not at_most:
        way = "<=" if at_most else ">="
        raise UsageError(
            f"promise {promise.text!r}: {promise.figure} is promised with {way}, which is its safe side"
        )


def in_testing_order(promise: Promise, axis: Axis) -> tuple[Value, ...]:
    """Values of the cut from the safest, declared before any case is looked at."""
    values = axis.spread(STEPS)
    drops_more_first = RISKS[promise.figure][2] == (axis.knob.direction != "higher keeps more")
    return tuple(reversed(values)) if drops_more_first else values


def kept(promise: Promise, cut: str, values: Sequence[Value], replayed: Replayed, *, seed: int = 0) -> Kept:
    """Tests the values in order on the ``replayed`` (one profile for each) cases, which must have chosen nothing else.

    Cases about one document are not independent, so one of each document that can count is drawn by ``seed``, without a
    look at what was decided.
    """
    can, counted, wrong = RISKS[promise.figure][0](replayed)
    one = _one_of_each(replayed, can, seed)
    errors = (counted & wrong)[:, one].sum(axis=1)
    tested = in_order(promise, errors, counted[:, one].sum(axis=1))
    answerable = replayed.answerable == 1
    answered = (~replayed.abstained[:, answerable]).mean(axis=1) if answerable.any() else np.ones(len(values))
    return Kept(
        promise=promise, cut=cut, values=tuple(values), tested=tested, answered=answered,
        documents=len(one), cases=int(can.sum()),
    )  # fmt: skip


def _one_of_each(replayed: Replayed, can: Flags, seed: int) -> NDArray[np.intp]:
    """Places of one case of each document, of those that can count, in order."""
    codes, _ = clusters_of(replayed.cases)
    places = np.random.default_rng(seed).permutation(np.flatnonzero(can))
    return np.sort(places[np.unique(codes[places], return_index=True)[1]])
