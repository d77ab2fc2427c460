"""The values at which a threshold is looked at: over all of its range that a recording serves."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from core.profile import Profile
from core.thresholds import Threshold, for_recipe
from evals.recording import Recording, needs

POINTS: Mapping[str, int] = {"brain": 21, "memory": 21, "graph": 7}
"""Values of a threshold unless said otherwise; a graph is walked anew for each, nodes are replayed in batches."""
WIDE = 50
"""A range longer than this is spaced evenly in log(1 + distance from its low end): its small values differ most."""


def ranges(recording: Recording, profile: Profile, points: int | None = None) -> dict[str, list[float]]:
    """For every threshold of the recipe, in declaration order, about ``points`` ascending values and the profile's own;
    of one that cannot act on this recording (``idle``) its ends."""
    count = POINTS[profile.recipe] if points is None else points
    knobs = [knob for knob in for_recipe(profile.recipe) if isinstance(knob, Threshold)]
    return {
        knob.name: values(recording, profile, knob, 2 if idle(recording, profile, knob) else count)
        for knob in knobs
    }


def values(recording: Recording, profile: Profile, knob: Threshold, points: int) -> list[float]:
    """Ascending values of one threshold that the recording serves while all others are the profile's; its own value is
    among them, whole numbers where it counts, so perhaps fewer than ``points``."""
    low, high = _ends(recording, profile, knob)
    if high - low > WIDE:
        spread = low + np.expm1(np.linspace(0, np.log1p(high - low), max(2, points)))
    else:
        spread = np.linspace(low, high, max(2, points))
    rounded = np.round(spread) if knob.integer else np.round(spread, 6)
    own = profile.number(knob.name)
    every = {own, *(float(value) for value in np.clip(rounded, low, high))}
    return sorted(value for value in every if value == own or served(recording, profile, {knob.name: value}))


def served(recording: Recording, profile: Profile, changes: Mapping[str, float]) -> bool:
    """Whether the recording is wide enough for the profile with these values."""
    typed = {name: int(value) if float(value).is_integer() else value for name, value in changes.items()}
    widths = recording.header.widths
    asked = needs(profile.with_values(typed))
    return all(asked[name] <= width for name, width in widths.items() if name in asked)


def idle(recording: Recording, profile: Profile, knob: Threshold) -> bool:
    """Whether it changes nothing here: a cut on a score nothing has (no reranker, no learned gate), or places, which a
    recording asks nothing about."""
    if knob.space == "probability":
        return profile.learned_gate is None
    return knob.name.startswith("geo.") or (
        knob.space is not None and knob.space not in recording.header.spaces
    )


def _ends(recording: Recording, profile: Profile, knob: Threshold) -> tuple[float, float]:
    """The declared range, up to what was recorded; of a reranker's score, which has no scale of its own, what it gave."""
    high = float(min(knob.high, recording.header.widths.get(knob.name, knob.high)))
    if knob.space != "rerank" or idle(recording, profile, knob):
        return float(knob.low), high
    given = recording.arrays["rerank"][np.isfinite(recording.arrays["rerank"])]
    return (float(given.min()), float(given.max())) if len(given) else (float(knob.low), high)
