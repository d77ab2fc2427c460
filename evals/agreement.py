"""Whether two people judge alike: Cohen's kappa, with the table it comes from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from core.store.labels import Label


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Two labellers on the ``n`` cases both judged. ``observed``: share judged alike; ``expected``: by chance, from how
    often each gives each verdict; both None for n = 0. ``kappa`` in [-1, 1], 1 for full agreement, 0 for chance; None
    where it is not defined: no case in common, or both gave one and the same verdict throughout. ``table`` counts
    (first's verdict, second's verdict)."""

    first: str
    second: str
    n: int
    observed: float | None
    expected: float | None
    kappa: float | None
    table: Mapping[tuple[str, str], int]


def cohen(first: Sequence[str], second: Sequence[str], names: tuple[str, str] = ("", "")) -> Agreement:
    """The agreement of two lists of verdicts, aligned by case.

    Source: Cohen, A Coefficient of Agreement for Nominal Scales, 1960, equation 1.

    Raises:
        ValueError: lists of different length.
    """
    pairs = Counter(zip(first, second, strict=True))
    n = len(first)
    if n == 0:
        return Agreement(
            first=names[0], second=names[1], n=0, observed=None, expected=None, kappa=None, table={}
        )
    one, other = Counter(first), Counter(second)
    same = sum(count for (left, right), count in pairs.items() if left == right)
    by_chance = sum(one[verdict] * other[verdict] for verdict in one)  # of n * n, in whole numbers
    return Agreement(
        first=names[0],
        second=names[1],
        n=n,
        observed=same / n,
        expected=by_chance / (n * n),
        kappa=None if by_chance == n * n else (n * same - by_chance) / (n * n - by_chance),
        table=dict(pairs),
    )


def of_labels(labels: Sequence[Label]) -> list[Agreement]:
    """Every pair of labellers by name; ``labels`` holds at most one of a labeller and a case, all of one dataset."""
    by_labeller: dict[str, dict[str, str]] = {}
    for label in labels:
        by_labeller.setdefault(label.labeller, {})[label.case_id] = label.verdict
    found = []
    for first, second in combinations(sorted(by_labeller), 2):
        one, other = by_labeller[first], by_labeller[second]
        shared = sorted(one.keys() & other.keys())
        found.append(cohen([one[key] for key in shared], [other[key] for key in shared], (first, second)))
    return found
