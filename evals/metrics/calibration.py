"""Calibration: does a probability come true as often as it says? Only for confidence that is a probability.

``probability`` (n,) in [0, 1] is said of an event, ``happened`` (n,) is whether it did. A similarity or a sum of weights
says nothing of the kind: ``is_probability`` tells by the score space.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from evals.metrics.abstention import Flags, Floats

BINS = 10
Binning = Literal["mass", "width"]


def is_probability(space: str | None) -> bool:
    """Whether scores of that space claim to be probabilities: ``probability/…``."""
    return space is not None and space.startswith("probability/")


def brier(probability: Floats, happened: Flags) -> float:
    """Mean squared difference between what was said and what happened, in [0, 1], lower is better; NaN for none.

    Source: Brier, Monthly Weather Review 1950, for two outcomes, halved as is usual since.

    Raises:
        ValueError: a probability is not in [0, 1].
    """
    _checked(probability)
    return float(((probability - happened) ** 2).mean()) if len(probability) else float("nan")


def calibration_error(
    probability: Floats, happened: Flags, *, bins: int = BINS, binning: Binning = "mass"
) -> float:
    """Expected calibration error in [0, 1], lower is better: the mean over the cases of how far their bin's share that
    happened is from its mean probability; NaN for none.

    ``mass``: bins hold equally many cases, equal probabilities stay together. ``width``: bins are equally wide,
    the lower end belongs to a bin and 1 to the last. Source: Guo et al., On Calibration of Modern Neural Networks, ICML
    2017, eq. 3 (width); Nixon et al., Measuring Calibration in Deep Learning, CVPR workshops 2019 (mass).

    Raises:
        ValueError: a probability is not in [0, 1], or there is no bin.
    """
    _checked(probability)
    if bins < 1:
        raise ValueError(f"bins must be at least 1, got {bins!r}")
    if not len(probability):
        return float("nan")
    place = _by_width(probability, bins) if binning == "width" else _by_mass(probability, bins)
    gap = np.bincount(place, weights=happened - probability, minlength=bins)
    return float(np.abs(gap).sum() / len(probability))


def _by_width(probability: Floats, bins: int) -> np.ndarray:
    edges = np.arange(1, bins) / bins  # compared with, not multiplied by: 0.3 · 10 is below 3
    return np.searchsorted(edges, probability, side="right")


def _by_mass(probability: Floats, bins: int) -> np.ndarray:
    """The bin of each by the middle of the ranks its value takes, so that the order of the input does not count."""
    _, inverse, counts = np.unique(probability, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - (counts + 1) / 2  # ranks from 0
    return np.floor(middle[inverse] * bins / len(probability)).astype(np.int64)


def _checked(probability: Floats) -> None:
    outside = probability[~((probability >= 0) & (probability <= 1))]
    if len(outside):
        raise ValueError(f"a probability must be in [0, 1], got {float(outside[0])!r}")
