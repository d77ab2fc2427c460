"""What figures do as thresholds move: one threshold at a time, and two against each other, around a profile.

``evaluate`` gives the figures of many profiles at once, as replay does: name → (profiles,), NaN for none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product

import numpy as np
import pandas as pd

from core.errors import UsageError
from core.profile import Profile
from core.thresholds import BY_NAME, Threshold

Evaluate = Callable[[Sequence[Profile]], Mapping[str, np.ndarray]]
POINTS = 41


def values_of(
    name: str, low: float | None = None, high: float | None = None, points: int = POINTS
) -> list[float]:
    """``points`` equally spaced values of a threshold from ``low`` to ``high``, by default over its whole range; whole
    numbers where it counts, so perhaps fewer.

    Raises:
        UsageError: no threshold of that name, or ends outside its range or the wrong way round.
    """
    knob = BY_NAME.get(name)
    if not isinstance(knob, Threshold):
        known = ", ".join(each.name for each in BY_NAME.values() if isinstance(each, Threshold))
        raise UsageError(f"no threshold {name!r}; there are {known}")
    first, last = knob.low if low is None else low, knob.high if high is None else high
    if not knob.low <= first <= last <= knob.high:
        raise UsageError(f"{name} lies in [{knob.low:g}, {knob.high:g}], got {first:g} to {last:g}")
    spread = np.linspace(first, last, points)
    whole = np.unique(np.round(spread)) if knob.integer else np.unique(spread)
    return [float(value) for value in whole]


def sensitivity(
    evaluate: Evaluate, profile: Profile, ranges: Mapping[str, Sequence[float]], figures: Sequence[str]
) -> pd.DataFrame:
    """``threshold``, ``value``, a column a figure and ``current``: each threshold moved alone, all others as the profile
    has them. The profile's own value is among the values of each."""
    moves = [
        (name, value)
        for name, values in ranges.items()
        for value in sorted({*values, float(profile.number(name))})
    ]
    found = evaluate([profile.with_values({name: typed(name, value)}) for name, value in moves])
    table = pd.DataFrame(moves, columns=["threshold", "value"])
    table["current"] = [value == profile.number(name) for name, value in moves]
    return table.assign(**{name: np.asarray(found[name], dtype=np.float64) for name in figures})


def effects(table: pd.DataFrame, figure: str) -> pd.DataFrame:
    """What moving each threshold of a ``sensitivity`` table does to a figure, largest first: ``threshold``, ``lowest``,
    ``highest``, their difference ``spread`` (0 for one that changes nothing, NaN where the figure has no value) and
    ``current``, the figure as the profile has it."""
    groups = table.groupby("threshold", sort=False)[figure]
    found = pd.DataFrame({"lowest": groups.min(), "highest": groups.max()})
    found["spread"] = found["highest"] - found["lowest"]
    found["current"] = table[table["current"]].groupby("threshold", sort=False)[figure].first()
    return found.sort_values("spread", ascending=False, kind="stable").reset_index()


def most_sensitive(table: pd.DataFrame, figure: str) -> tuple[str, str]:
    """The two thresholds that change a figure most, of a ``sensitivity`` table of at least two; of ties the first."""
    first, second = effects(table, figure)["threshold"][:2]
    return first, second


def interaction(
    evaluate: Evaluate,
    profile: Profile,
    first: tuple[str, Sequence[float]],
    second: tuple[str, Sequence[float]],
    figure: str,
    *,
    serves: Callable[[Mapping[str, float]], bool] = lambda changes: True,
) -> pd.DataFrame:
    """The figure (cells) for every value of the first threshold (rows) with every value of the second (columns); NaN
    where ``serves`` says no to both together.

    Raises:
        UsageError: it is the same threshold twice.
    """
    (row_name, rows), (column_name, columns) = first, second
    if row_name == column_name:
        raise UsageError(f"two thresholds are needed, got {row_name!r} twice")
    pairs = [{row_name: row, column_name: column} for row, column in product(rows, columns)]
    there = np.array([serves(pair) for pair in pairs], dtype=bool)
    profiles = [
        profile.with_values({name: typed(name, value) for name, value in pair.items()})
        for pair, asked in zip(pairs, there, strict=True)
        if asked
    ]
    cells = np.full(len(pairs), np.nan)
    if profiles:
        cells[there] = np.asarray(evaluate(profiles)[figure], dtype=np.float64)
    return pd.DataFrame(
        cells.reshape(len(rows), len(columns)),
        index=pd.Index(rows, name=row_name),
        columns=pd.Index(columns, name=column_name),
    )


def long(cells: pd.DataFrame, figure: str) -> pd.DataFrame:
    """An ``interaction`` as one row a cell: both thresholds and the figure."""
    return cells.reset_index().melt(id_vars=[cells.index.name], value_name=figure)


def typed(name: str, value: float) -> float | int:
    """The value as a profile holds it: whole where the threshold counts."""
    knob = BY_NAME[name]
    return int(value) if isinstance(knob, Threshold) and knob.integer else value
