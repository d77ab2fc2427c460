"""The figures of a run, in one table: what a case adds to each, which cases count, and which way is better."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from core.errors import UsageError
from evals import resampled
from evals.resampled import Curve, Floats

Row = Mapping[str, Any]
Better = Literal["up", "down"]
NOT_FIGURES = frozenset(
    {
        "answerable",
        "abstained",
        "confidence",
        "would_be_right",
        "case_id",
        "dataset",
        "cluster",
        "tags",
        "split",
    }
)
"""Fields of a row that say what the case is or was decided, and are no figures of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """``of`` gives what a case adds, NaN where it does not count; the figure is the mean of that, or ``curve`` of it and
    the confidence. ``needs_answer``: an abstention is why a case does not count. ``better`` None: it depends."""

    name: str
    better: Better | None
    of: Callable[[Row], float]
    needs_answer: bool = False
    curve: Curve | None = None

    def values(self, rows: Sequence[Row]) -> Floats:
        """(n,) what each case adds, NaN where it does not count."""
        return np.fromiter((self.of(row) for row in rows), dtype=np.float64, count=len(rows))


def field(name: str) -> Callable[[Row], float]:
    """What a row says under ``name``; NaN for null or nothing."""

    def read(row: Row) -> float:
        value = row.get(name)
        return math.nan if value is None else float(value)

    return read


def _citation_f1(row: Row) -> float:
    """Harmonic mean of citation precision and recall, 0 where both are. Source: van Rijsbergen, Information Retrieval,
    1979, ch. 7 (1 − E with equal weights)."""
    if row.get("citation_f1") is not None:
        return float(row["citation_f1"])
    precision, recall = field("citation_precision")(row), field("citation_recall")(row)
    if math.isnan(precision) or math.isnan(recall):
        return math.nan
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _answered(row: Row) -> float:
    return float(not row["abstained"])


def _wrong(row: Row) -> float:
    return math.nan if row["abstained"] else 1 - field("correct")(row)


def _false_answer(row: Row) -> float:
    return _answered(row) if row["answerable"] is False else math.nan


def _over_refusal(row: Row) -> float:
    return 1 - _answered(row) if row["answerable"] is True else math.nan


def _wrong_if_answered(row: Row) -> float:
    return 1 - field("would_be_right")(row)


def _mean(name: str, better: Better | None = "up", *, needs_answer: bool = False) -> Figure:
    return Figure(name=name, better=better, of=field(name), needs_answer=needs_answer)


_RETRIEVAL = ("ndcg@10", "recall@5", "recall@10", "precision@10", "mrr", "map", "hit@1")
FIGURES: Mapping[str, Figure] = {
    figure.name: figure
    for figure in (
        *map(_mean, _RETRIEVAL),
        _mean("citation_precision", needs_answer=True),
        _mean("citation_recall", needs_answer=True),
        Figure(name="citation_f1", better="up", of=_citation_f1, needs_answer=True),
        _mean("correct"),
        Figure(name="coverage", better=None, of=_answered),
        Figure(name="selective_risk", better="down", of=_wrong, needs_answer=True),
        Figure(name="false_answer_rate", better="down", of=_false_answer),
        Figure(name="over_refusal_rate", better="down", of=_over_refusal),
        Figure(name="auroc", better="up", of=field("answerable"), curve=resampled.auroc),
        Figure(name="aurc", better="down", of=_wrong_if_answered, curve=resampled.aurc),
    )
}


def figures_of(rows: Sequence[Row]) -> dict[str, Figure]:
    """The table, and every other number the rows hold, as a mean that an abstention may leave out."""
    others = set().union(*rows) - FIGURES.keys() - NOT_FIGURES
    numbers = {name for name in others if any(isinstance(row.get(name), int | float) for row in rows)}
    return {**FIGURES, **{name: _mean(name, None, needs_answer=True) for name in sorted(numbers)}}


def figure_named(name: str, figures: Mapping[str, Figure]) -> Figure:
    """The figure of that name.

    Raises:
        UsageError: there is none; the message lists those there are.
    """
    if name not in figures:
        raise UsageError(f"no figure {name!r} in these runs; there are {', '.join(figures)}")
    return figures[name]
