"""AUROC and AURC of many profiles at once: the figures of ``metrics.abstention``, each profile sorted once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evals.metrics.abstention import Flags, Floats

Places = NDArray[np.int64]


def auroc(confidence: Floats, answerable: Flags) -> Floats:
    """(P,) of ``confidence`` (P, n) and which cases ``answerable`` (n,) are; NaN with one class only.

    Source: see ``metrics.abstention.auroc``; tied cases share their mean rank.
    """
    positive, negative = int(answerable.sum()), int((~answerable).sum())
    if not positive or not negative:
        return np.full(len(confidence), np.nan)
    order = np.argsort(confidence, axis=1)
    first, last = _ties(np.take_along_axis(confidence, order, axis=1))
    ranks = np.where(answerable[order], (first + last) / 2 + 1, 0).sum(axis=1)
    return np.asarray((ranks - positive * (positive + 1) / 2) / (positive * negative), dtype=np.float64)


def aurc(confidence: Floats, wrong: Flags) -> Floats:
    """(P,) of ``confidence`` (P, n) and what would be ``wrong`` (P, n) if answered; NaN for no cases.

    Source: see ``metrics.abstention.aurc``; tied cases share their mean risk.
    """
    if not confidence.shape[1]:
        return np.full(len(confidence), np.nan)
    order = np.argsort(-confidence, axis=1, kind="stable")
    first, last = _ties(np.take_along_axis(confidence, order, axis=1))
    mistakes = np.cumsum(np.take_along_axis(wrong, order, axis=1), axis=1)
    before = np.where(first > 0, np.take_along_axis(mistakes, np.maximum(first - 1, 0), axis=1), 0)
    spread = (np.take_along_axis(mistakes, last, axis=1) - before) / (last - first + 1)
    risks = np.cumsum(spread, axis=1) / np.arange(1, confidence.shape[1] + 1)
    return np.asarray(risks.mean(axis=1), dtype=np.float64)


def _ties(ordered: Floats) -> tuple[Places, Places]:
    """(P, n) where the run of values equal to each begins and ends."""
    count = ordered.shape[1]
    new = np.ones(ordered.shape, dtype=bool)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    first = np.maximum.accumulate(np.where(new, np.arange(count), 0), axis=1)
    ends = np.ones(ordered.shape, dtype=bool)
    ends[:, :-1] = new[:, 1:]
    last = np.minimum.accumulate(np.where(ends, np.arange(count), count - 1)[:, ::-1], axis=1)[:, ::-1]
    return first, last
