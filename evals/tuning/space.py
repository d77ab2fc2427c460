"""What is varied: a range or a list of values for each of some thresholds, within what they are declared to take."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.errors import UsageError
from core.profile import Value
from core.thresholds import Threshold, for_recipe
from core.trace import Recipe

Point = Mapping[str, Value]
"""One setting: a value for each threshold that is varied."""
MAIN_CUT: Mapping[Recipe, str] = {
    "brain": "floor.min_score",
    "memory": "gate.min_best_cosine",
    "graph": "gate.min_cosine",
}
"""The cut on what a recipe's confidence is measured in; `floor` for short."""
USUAL: Mapping[Recipe, tuple[str, ...]] = {
    "brain": ("floor=0:0.8", "floor.min_overlap=0:0.5", "floor.strong_overlap=0:1.01", "blend.weight=0:1",
              "fusion.weight=0:1", "mmr.lambda=0.5:1", "select.k=1:10"),
    "memory": ("floor=0:0.8", "floor.min_cosine=0:0.6", "fusion.weight=0:1", "fusion.neighbour_weight=0:0.5",
               "mmr.lambda=0.5:1", "select.k=1:10"),
    "graph": ("floor=0:0.8", "floor.min_cosine=0:0.6", "select.k=1:20"),
}  # fmt: skip
"""What is varied where nothing is named."""
_STEPS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """One varied threshold: its ``values``, ascending, where they were listed, else all from ``low`` to ``high``."""

    knob: Threshold
    low: float
    high: float
    values: tuple[float | int, ...] = ()

    @property
    def name(self) -> str:
        """The threshold's name."""
        return self.knob.name

    @property
    def digits(self) -> int:
        """Decimals that are tried: a thousandth for a range of 1; finer than that no set of cases can tell apart."""
        return max(0, -math.floor(math.log10((self.high - self.low) / _STEPS)))

    def at(self, share: float) -> Value:
        """The value at a share in [0, 1] of the way; of equal parts for each value where they are listed."""
        if self.values:
            return self.values[min(int(share * len(self.values)), len(self.values) - 1)]
        if self.knob.integer:
            low, high = int(self.low), int(self.high)
            return min(low + int(share * (high - low + 1)), high)
        return self.rounded(self.low + share * (self.high - self.low))

    def rounded(self, value: float) -> float:
        """The nearest value that is tried."""
        return float(min(max(round(value, self.digits), self.low), self.high))

    def spread(self, steps: int) -> tuple[Value, ...]:
        """At most ``steps`` distinct values from low to high, both ends among them; listed ones are all taken."""
        if self.values:
            return self.values
        every = np.linspace(self.low, self.high, max(steps, 2)).tolist()
        if self.knob.integer:
            return tuple(sorted({round(value) for value in every}))
        return tuple(sorted({self.rounded(value) for value in every}))

    def share(self, value: Value) -> float:
        """How far a value is on the way from low to high, in [0, 1]."""
        return (float(value) - self.low) / (self.high - self.low)


def parse_axes(written: Sequence[str], recipe: Recipe) -> tuple[Axis, ...]:
    """``name=low:high``, ``name=low:high:step`` or ``name=a,b,c``, one for each threshold; none: what is usual.

    Names may be shortened to their last part where that is clear (``lambda``); ``floor`` is the cut on the recipe's
    confidence.

    Raises:
        UsageError: no such threshold, a method, a value out of its range, an empty range, one named twice.
    """
    axes = [_parsed(text, recipe) for text in written or USUAL[recipe]]
    names = [axis.name for axis in axes]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"--vary names {name} twice; give it one range")
    return tuple(axes)


def threshold_named(name: str, recipe: Recipe, *, option: str = "--vary") -> Threshold:
    """A threshold of the recipe by its full or shortened name; ``option`` is what it was named in.

    Raises:
        UsageError: there is none, or it is a method; the message lists what there is.
    """
    full = MAIN_CUT[recipe] if name == "floor" else name
    known = for_recipe(recipe)
    found = [knob for knob in known if knob.name == full] or [
        knob for knob in known if knob.name.split(".", 1)[1] == full
    ]
    thresholds = [knob for knob in found if isinstance(knob, Threshold)]
    if len(thresholds) == 1:
        return thresholds[0]
    if found and not thresholds:
        raise UsageError(
            f"{found[0].name} is a method and not a threshold: it is not varied by replay; put it into a profile and "
            "tune once for each"
        )
    if thresholds:
        which = f"may be {' or '.join(knob.name for knob in thresholds)}; name one in full"
    else:
        names = ", ".join(knob.name for knob in known if isinstance(knob, Threshold))
        which = f"is no threshold of recipe {recipe}; they are {names}"
    raise UsageError(f"{option}: {name!r} {which}")


def unit_to_points(axes: Sequence[Axis], shares: NDArray[np.float64]) -> list[dict[str, Value]]:
    """The settings at (n, axes) shares in [0, 1]; equal ones are taken once, in order."""
    points = [
        {axis.name: axis.at(float(share)) for axis, share in zip(axes, row, strict=True)} for row in shares
    ]
    return distinct(points)


def distinct(points: Sequence[Point]) -> list[dict[str, Value]]:
    """Without those that came before."""
    return [dict(items) for items in dict.fromkeys(tuple(point.items()) for point in points)]


def _parsed(text: str, recipe: Recipe) -> Axis:
    name, equals, values = text.partition("=")
    if not equals or not name.strip() or not values.strip():
        raise UsageError(f"--vary is name=low:high, name=low:high:step or name=a,b,c, got {text!r}")
    knob = threshold_named(name.strip(), recipe)
    if ":" in values:
        return _range(knob, values, text)
    listed = tuple(sorted({_value(knob, part, text) for part in values.split(",")}, key=float))
    if len(listed) < 2:
        raise UsageError(f"--vary {text!r}: one value varies nothing; set it in the profile instead")
    return Axis(knob=knob, low=float(listed[0]), high=float(listed[-1]), values=listed)


def _range(knob: Threshold, values: str, text: str) -> Axis:
    parts = values.split(":")
    if len(parts) not in (2, 3):
        raise UsageError(f"--vary {text!r}: a range is low:high or low:high:step")
    low, high = (float(_value(knob, part, text)) for part in parts[:2])
    if not low < high:
        raise UsageError(f"--vary {text!r}: low must be below high, got {low:g} and {high:g}")
    if len(parts) == 2:
        return Axis(knob=knob, low=low, high=high)
    step = _number(parts[2], text)
    if not 0 < step <= high - low:
        raise UsageError(
            f"--vary {text!r}: the step must be above 0 and at most {high - low:g}, got {step:g}"
        )
    steps = int((high - low) / step + 1e-9)
    if steps > 100_000:
        raise UsageError(f"--vary {text!r}: that is {steps + 1} values; take a larger step")
    listed = tuple(_value(knob, repr(round(low + place * step, 12)), text) for place in range(steps + 1))
    return Axis(knob=knob, low=low, high=float(listed[-1]), values=listed)


def _value(knob: Threshold, written: str, text: str) -> float | int:
    number = _number(written, text)
    if not knob.low <= number <= knob.high or (knob.integer and number != int(number)):
        kind = "whole numbers" if knob.integer else "numbers"
        raise UsageError(
            f"--vary {text!r}: {knob.name} takes {kind} in [{knob.low:g}, {knob.high:g}], got {written.strip()}"
        )
    return int(number) if knob.integer else number


def _number(written: str, text: str) -> float:
    try:
        number = float(written)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise UsageError(f"--vary {text!r}: {written.strip()!r} is no number")
    return number
