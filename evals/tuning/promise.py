"""Promises: a setting whose risk stays below a limit with a stated confidence.

Learn then Test: every setting is a hypothesis "its true risk is above the limit", with the binomial p-value of the
errors seen. Settings are tested in an order fixed before looking, from the safest, and the first that cannot be rejected
ends it; so however many are tried, the chance that any promised one breaks the limit is at most 1 − confidence. Picking
the best-looking setting of a scan has no such bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.errors import UsageError
from evals.tuning.relation import parse

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
EXAMPLE = "false_answer_rate <= 0.05 @ 0.95"
CONFIDENCE = 0.95
MOST = 10_000_000
"""Cases beyond which nobody is told to label more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """``figure`` stays at most (``at_most`` False: at least) ``limit`` with chance ``confidence`` over the draw of the
    cases; limit and confidence in (0, 1)."""

    figure: str
    limit: float
    confidence: float
    at_most: bool

    @property
    def risk_limit(self) -> float:
        """The limit of what may go wrong: of the figure itself, or of what it lacks to 1."""
        return self.limit if self.at_most else 1 - self.limit

    @property
    def text(self) -> str:
        """As it is written on the command line."""
        return f"{self.figure} {'<=' if self.at_most else '>='} {self.limit:g} @ {self.confidence:g}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tested:
    """S settings in the order they are tested. ``errors`` of ``counted`` cases went wrong, ``p_values`` for the risk
    being above the limit; ``kept`` of them, the first ones, are promised."""

    promise: Promise
    errors: Ints
    counted: Ints
    p_values: Floats
    kept: int

    @property
    def chosen(self) -> int | None:
        """Place of the last promised setting, the one that drops least; None where nothing is promised."""
        return self.kept - 1 if self.kept else None

    def interval(self, place: int) -> tuple[float, float]:
        """Clopper-Pearson interval of a setting's risk, two-sided at the promise's confidence; of that one setting, not
        of the choice among many."""
        return clopper_pearson(
            int(self.errors[place]), int(self.counted[place]), level=self.promise.confidence
        )


def parse_promise(text: str) -> Promise:
    """``"false_answer_rate <= 0.05 @ 0.95"``; the confidence is 0.95 where none is given.

    Raises:
        UsageError: it is none, or limit or confidence are not inside (0, 1).
    """
    relation = parse(text, example=EXAMPLE)
    confidence = CONFIDENCE if relation.level is None else relation.level
    for what, value in (("limit", relation.number), ("confidence", confidence)):
        if not 0 < value < 1:
            raise UsageError(
                f"promise {text!r}: the {what} must lie between 0 and 1, both excluded, got {value:g}"
            )
    return Promise(
        figure=relation.figure,
        limit=relation.number,
        confidence=confidence,
        at_most=relation.sense == "<=",
    )


def binomial_p(errors: Ints, counted: Ints, limit: float) -> Floats:
    """(S,) chance of at most so many errors if the true risk were just ``limit``: P(Bin(counted, limit) ≤ errors). 1
    where nothing is counted.

    Super-uniform if the true risk is above the limit and the cases are independent. Source: Angelopoulos, Bates, Candès,
    Jordan & Lei, Learn then Test, arXiv:2110.01052, sec. 1.1 and 2 (p-values of a binary loss; exact, no bound needed).
    """
    from scipy.stats import binom

    chance = binom.cdf(np.asarray(errors), np.asarray(counted), limit)
    return np.where(np.asarray(counted) > 0, chance, 1.0)


def in_order(promise: Promise, errors: Sequence[int] | Ints, counted: Sequence[int] | Ints) -> Tested:
    """Fixed-sequence testing of the settings in the order given, which must not depend on these errors.

    Each is tested at the full level 1 − confidence; the first that is not rejected stops it, whatever comes after.
    Source: Angelopoulos et al., Learn then Test, sec. 2.3 (fixed sequence testing); Maurer, Hothorn & Lehmacher 1995.
    """
    wrong, of = np.asarray(errors, dtype=np.int64), np.asarray(counted, dtype=np.int64)
    p_values = binomial_p(wrong, of, promise.risk_limit)
    held = p_values > 1 - promise.confidence + 1e-12
    kept = int(np.argmax(held)) if held.any() else len(p_values)
    return Tested(promise=promise, errors=wrong, counted=of, p_values=p_values, kept=kept)


def naive_scan(promise: Promise, errors: Ints, counted: Ints) -> int | None:
    """Place of the last setting whose observed risk is within the limit, which is what a scan without a test takes; it
    breaks the limit about every second time. For comparison."""
    below = np.flatnonzero(errors <= promise.risk_limit * counted + 1e-12)
    return int(below[-1]) if len(below) else None


def clopper_pearson(errors: int, counted: int, *, level: float = CONFIDENCE) -> tuple[float, float]:
    """Exact two-sided interval of a share; (0, 1) where nothing is counted.

    Source: Clopper & Pearson, Biometrika 1934, by quantiles of the beta distribution.
    """
    from scipy.stats import beta

    if not 0 <= errors <= counted:
        raise ValueError(f"errors must be in [0, {counted}], got {errors}")
    if counted == 0:
        return 0.0, 1.0
    tail = (1 - level) / 2
    low = float(beta.ppf(tail, errors, counted - errors + 1)) if errors else 0.0
    high = float(beta.ppf(1 - tail, errors + 1, counted - errors)) if errors < counted else 1.0
    return low, high


def cases_needed(promise: Promise, risk: float) -> int | None:
    """About how many independent cases promise a setting if the share ``risk`` of them goes wrong; None where
    no number is enough, since the risk is not below the limit, or it takes more than ten million.

    With no errors: log(1 − confidence) / log(1 − limit), which is 59 for 0.05 @ 0.95.
    """
    limit, chance = promise.risk_limit, 1 - promise.confidence
    if risk >= limit:
        return None
    fewest = math.ceil(math.log(chance) / math.log1p(-limit) - 1e-9)
    high = fewest
    while not _enough(high, risk, limit, chance):
        high *= 2
        if high > MOST:
            return None
    low = high // 2
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if _enough(middle, risk, limit, chance) else (middle, high)
    return max(fewest, high)


def _enough(n: int, risk: float, limit: float, chance: float) -> bool:
    """Whether n cases with the errors one must expect, rounded up, reject the limit."""
    errors = math.ceil(risk * n - 1e-9)
    return bool(binomial_p(np.array([errors]), np.array([n]), limit)[0] <= chance + 1e-12)
