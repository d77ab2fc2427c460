"""Figures of the order of confidence for many profiles: those of ``metrics.abstention``, each profile sorted once."""

from __future__ import annotations

from typing import Any

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


class Risks:
    """Of ``confidence`` (P, n), −∞ where nothing was found, and what would be ``wrong`` (P, n) if answered."""

    def __init__(self, confidence: Floats, wrong: Flags) -> None:
        self._count = confidence.shape[1]
        order = np.argsort(-confidence, axis=1, kind="stable")
        ordered = np.take_along_axis(confidence, order, axis=1)
        self._first, self._last = _ties(ordered)
        self._mistakes = np.cumsum(np.take_along_axis(wrong, order, axis=1), axis=1)
        self._found = np.isfinite(ordered)
        self._profiles = len(confidence)

    def aurc(self) -> Floats:
        """(P,) see ``metrics.abstention.aurc``; tied cases share their mean risk. NaN for no cases."""
        if not self._count:
            return self._none()
        before = np.where(
            self._first > 0, np.take_along_axis(self._mistakes, np.maximum(self._first - 1, 0), axis=1), 0
        )
        spread = (np.take_along_axis(self._mistakes, self._last, axis=1) - before) / (
            self._last - self._first + 1
        )
        return np.asarray((np.cumsum(spread, axis=1) / self._answered).mean(axis=1), dtype=np.float64)

    def e_aurc(self) -> Floats:
        """(P,) see ``metrics.abstention.e_aurc``; NaN for no cases."""
        if not self._count:
            return self._none()
        right = self._count - self._mistakes[:, -1:]
        best = np.maximum(0, self._answered - right) / self._answered
        return np.asarray(np.maximum(0.0, self.aurc() - best.mean(axis=1)), dtype=np.float64)

    def coverage_at_risk(self, risk: float) -> Floats:
        """(P,) see ``metrics.abstention.coverage_at_risk``; NaN for no cases."""
        if not self._count:
            return self._none()
        kept = self._cuts & (self._mistakes / self._answered <= risk)
        return np.asarray(np.where(kept, self._answered / self._count, 0.0).max(axis=1), dtype=np.float64)

    def risk_at_coverage(self, coverage: float) -> Floats:
        """(P,) see ``metrics.abstention.risk_at_coverage``; NaN where no cut answers that much."""
        if not self._count:
            return self._none()
        wide = self._cuts & (self._answered / self._count >= coverage - 1e-12)
        at = wide.argmax(axis=1)[:, None]
        risk = np.take_along_axis(self._mistakes, at, axis=1)[:, 0] / (at[:, 0] + 1)
        return np.asarray(np.where(wide.any(axis=1), risk, np.nan), dtype=np.float64)

    @property
    def _answered(self) -> Places:
        return np.arange(1, self._count + 1)

    @property
    def _cuts(self) -> Flags:
        """(P, n) the last of each run of equal values: a cut can fall behind it."""
        return np.asarray(self._found & (self._last == np.arange(self._count)))

    def _none(self) -> Floats:
        return np.full(self._profiles, np.nan)


def _ties(ordered: Floats) -> tuple[Any, Any]:
    """(P, n) where the run of values equal to each begins and ends."""
    count = ordered.shape[1]
    new = np.ones(ordered.shape, dtype=bool)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    first = np.maximum.accumulate(np.where(new, np.arange(count), 0), axis=1)
    ends = np.ones(ordered.shape, dtype=bool)
    ends[:, :-1] = new[:, 1:]
    last = np.minimum.accumulate(np.where(ends, np.arange(count), count - 1)[:, ::-1], axis=1)[:, ::-1]
    return first, last
