"""The figures of a run, in one table: what a case adds to each, which cases count, and which way is better."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from core.errors import UsageError
from evals import resampled_curves as curves
from evals.figures import (
    COUNTING_ABSTENTION,
    COVERAGE,
    OF_TEXT,
    RISK,
    is_probability,
    model_wrote,
    or_silence,
)
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
        "repeat",
        "gold_answers",
    }
)
"""Fields of a row that say what the case is or was decided, and are no figures of their own."""


Ratio = Callable[[Row], tuple[float, float]]
"""What a case adds above and below the line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """``of`` gives what a case adds, NaN where it does not count. The figure is their mean; or the mean of ``ratios``
    (``geometric``: their geometric mean); or ``curve`` of it and the confidence. ``needs_answer``: an abstention is why a
    case does not count. ``both_kinds``: no figure without answerable and unanswerable cases; ``by_model``: none where no
    model wrote. ``better`` None: it depends. ``span``: the ends it cannot lie beyond."""

    name: str
    better: Better | None
    of: Callable[[Row], float]
    needs_answer: bool = False
    ratios: tuple[Ratio, ...] = ()
    geometric: bool = False
    both_kinds: bool = False
    by_model: bool = False
    curve: Curve | None = None
    span: tuple[float, float] = (0.0, 1.0)

    @property
    def is_mean(self) -> bool:
        """Whether it is the plain mean of what cases add."""
        return self.curve is None and not self.ratios

    def values(self, rows: Sequence[Row]) -> Floats:
        """(n,) what each case adds, NaN where it does not count."""
        if self.by_model and not model_wrote(rows):
            return np.full(len(rows), math.nan)
        found = np.fromiter((self.of(row) for row in rows), dtype=np.float64, count=len(rows))
        if self.both_kinds:
            kinds = {
                row["answerable"] for row, value in zip(rows, found, strict=True) if not math.isnan(value)
            }
            return found if len(kinds) == 2 else np.full(len(rows), math.nan)
        return found

    def parts(self, rows: Sequence[Row]) -> tuple[Floats, Floats]:
        """(parts, n) what each counted case adds above and below the line of each ratio; of no curve."""
        ratios = self.ratios or (lambda row: (self.of(row), 1.0),)
        added = np.array([[ratio(row) for row in rows] for ratio in ratios], dtype=np.float64)
        added = added.reshape(len(ratios), len(rows), 2)
        return added[:, :, 0], added[:, :, 1]


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


def _decided_right(row: Row) -> float:
    return math.nan if row["answerable"] is None else float(row["answerable"] is not row["abstained"])


def _due(row: Row) -> tuple[float, float]:
    return float(row["abstained"] and row["answerable"] is False), float(row["abstained"])


def _refused(row: Row) -> float:
    return float(row["abstained"]) if row["answerable"] is False else math.nan


def _answered_answerable(row: Row) -> float:
    return _answered(row) if row["answerable"] is True else math.nan


def _right_if_probable(row: Row) -> float:
    return field("would_be_right")(row) if is_probability(row) else math.nan


def _squared_error(row: Row) -> float:
    return (float(row["confidence"]) - _right_if_probable(row)) ** 2 if is_probability(row) else math.nan


def _gain(row: Row) -> float:
    right = _correct_of_known(row)
    return right if math.isnan(right) else 0.0 if row["abstained"] else 2 * right - 1


def _correct_of_known(row: Row) -> float:
    return math.nan if row["answerable"] is None else field("correct")(row)


def _balanced(
    name: str, of: Callable[[Row], float], span: tuple[float, float] = (0.0, 1.0), *, geometric: bool = False
) -> Figure:
    """The mean over the answerable and the mean over the unanswerable weigh the same.

    Source: Brodersen et al., The Balanced Accuracy and Its Posterior Distribution, ICPR 2010.
    """

    def over(kind: bool) -> Ratio:
        return lambda row: (of(row), 1.0) if row["answerable"] is kind else (0.0, 0.0)

    return Figure(
        name=name, better="up", of=of, ratios=(over(True), over(False)), geometric=geometric, both_kinds=True,
        span=span,
    )  # fmt: skip


def _decision_f1(positive: bool) -> Ratio:
    """F1 of answering (of abstaining): twice what was rightly chosen over what should be and what was.

    Source: Sokolova & Lapalme, Information Processing & Management 2009, table 3.
    """

    def added(row: Row) -> tuple[float, float]:
        due, chosen = row["answerable"] is positive, row["abstained"] is not positive
        return 2.0 * (due and chosen), float(due) + float(chosen)

    return added


def _of_text(name: str) -> Figure:
    """What a model wrote against the gold answers, an abstention as the empty answer, see ``figures.of_model``."""
    return Figure(
        name=name, better="up", of=lambda row: or_silence(row, name), needs_answer=True, by_model=True
    )


def _mean(name: str, better: Better | None = "up", *, needs_answer: bool = False) -> Figure:
    return Figure(name=name, better=better, of=field(name), needs_answer=needs_answer)


_RETRIEVAL = ("ndcg@10", "recall@5", "recall@10", "recall_all@10", "precision@10", "mrr", "mrr@10", "map", "hit@1",
              "hit@10")  # fmt: skip
_OF_SENTENCES: Mapping[str, Better] = {
    "support": "up", "stale": "down", "unsupported_sentence_rate": "down", "invalid_citation_rate": "down",
}  # fmt: skip
FIGURES: Mapping[str, Figure] = {
    figure.name: figure
    for figure in (
        *map(_mean, _RETRIEVAL),
        _mean("citation_precision", needs_answer=True),
        _mean("citation_recall", needs_answer=True),
        Figure(name="citation_f1", better="up", of=_citation_f1, needs_answer=True),
        _mean("correct"),
        _balanced("balanced_correct", _correct_of_known),
        _balanced("reliability", _gain, (-1.0, 0.5)),
        _balanced("balanced_accuracy", _decided_right),
        Figure(
            name="decision_f1",
            better="up",
            of=_decided_right,
            both_kinds=True,
            ratios=(_decision_f1(True), _decision_f1(False)),
        ),
        _balanced("g_mean", _correct_of_known, geometric=True),
        Figure(name="abstention_precision", better="up", of=_decided_right, ratios=(_due,)),
        Figure(name="abstention_recall", better="up", of=_refused),
        Figure(name="abstention_f1", better="up", of=_decided_right, ratios=(_decision_f1(False),)),
        Figure(name="coverage", better=None, of=_answered),
        Figure(name="answered_answerable", better="up", of=_answered_answerable),
        Figure(name="answered_unanswerable", better="down", of=_false_answer),
        Figure(name="selective_risk", better="down", of=_wrong, needs_answer=True),
        Figure(name="false_answer_rate", better="down", of=_false_answer),
        Figure(name="over_refusal_rate", better="down", of=_over_refusal),
        Figure(name="auroc", better="up", of=field("answerable"), curve=curves.auroc),
        *map(_of_text, (*COUNTING_ABSTENTION, *OF_TEXT)),
        *(_mean(name, better, needs_answer=True) for name, better in _OF_SENTENCES.items()),
        Figure(name="aurc", better="down", of=_wrong_if_answered, curve=curves.aurc),
        Figure(name="e_aurc", better="down", of=_wrong_if_answered, curve=curves.e_aurc),
        Figure(
            name=f"coverage@risk{RISK}",
            better="up",
            of=_wrong_if_answered,
            curve=curves.coverage_at_risk(RISK),
        ),
        Figure(
            name=f"risk@coverage{COVERAGE}",
            better="down",
            of=_wrong_if_answered,
            curve=curves.risk_at_coverage(COVERAGE),
        ),
        Figure(name="brier", better="down", of=_squared_error),
        Figure(
            name="calibration_error", better="down", of=_right_if_probable, curve=curves.calibration_error
        ),
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
