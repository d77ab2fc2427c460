"""What a row adds to each figure, by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from core.errors import UsageError
from evals.aggregates import FIGURES, figure_named, figures_of
from evals.figures import COUNTING_ABSTENTION, OF_SENTENCES, OF_TEXT
from evals.metrics.citation import citation_f1
from evals.paired import pair
from evals.scoring import RETRIEVAL, summarised

MakeRow = Callable[..., dict[str, Any]]
NONE = None


@pytest.mark.parametrize(
    ("name", "fields", "adds"),
    [
        ("mrr", {"mrr": 0.25}, 0.25),
        ("mrr", {"mrr": None}, NONE),
        ("mrr", {}, NONE),
        ("correct", {"correct": False}, 0.0),
        ("correct", {"correct": None}, NONE),
        ("citation_f1", {"citation_precision": 0.5, "citation_recall": 1.0}, 2 / 3),
        ("citation_f1", {"citation_precision": 0.0, "citation_recall": 0.0}, 0.0),
        ("citation_f1", {"citation_precision": None, "citation_recall": None}, NONE),
        ("citation_f1", {"citation_precision": 0.5, "citation_recall": 1.0, "citation_f1": 0.7}, 0.7),
        ("coverage", {"abstained": True}, 0.0),
        ("coverage", {"abstained": False}, 1.0),
        ("selective_risk", {"correct": True}, 0.0),
        ("selective_risk", {"correct": False}, 1.0),
        ("selective_risk", {"correct": None}, NONE),
        ("selective_risk", {"correct": True, "abstained": True}, NONE),
        ("false_answer_rate", {"answerable": False}, 1.0),
        ("false_answer_rate", {"answerable": False, "abstained": True}, 0.0),
        ("false_answer_rate", {"answerable": True}, NONE),
        ("false_answer_rate", {"answerable": None}, NONE),
        ("over_refusal_rate", {"answerable": True, "abstained": True}, 1.0),
        ("over_refusal_rate", {"answerable": True}, 0.0),
        ("over_refusal_rate", {"answerable": False}, NONE),
        ("balanced_accuracy", {"answerable": None}, NONE),
        ("auroc", {"answerable": False}, 0.0),
        ("auroc", {"answerable": None}, NONE),
        ("aurc", {"would_be_right": True}, 0.0),
        ("aurc", {"would_be_right": None}, NONE),
    ],
)
def test_what_a_case_adds(make_row: MakeRow, name: str, fields: dict[str, Any], adds: float | None) -> None:
    (value,) = FIGURES[name].values([make_row("c", **fields)])
    assert value == pytest.approx(np.nan if adds is None else adds, nan_ok=True)


def test_both_kinds_weigh_the_same(make_row: MakeRow) -> None:
    """Of three answerable cases two are answered, one rightly; of two that are not, one is."""
    rows = [
        make_row("a"), make_row("b", correct=False), make_row("c", abstained=True, correct=False),
        make_row("d", answerable=False, correct=False), make_row("e", answerable=False, abstained=True),
        make_row("f", answerable=None, correct=None),
    ]  # fmt: skip
    expected = {
        "balanced_correct": (1 / 3 + 1 / 2) / 2,
        "balanced_accuracy": (2 / 3 + 1 / 2) / 2,
        "reliability": ((1 - 1 + 0) / 3 + (-1 + 0) / 2) / 2,
        "decision_f1": (2 * 2 / (3 + 3) + 2 * 1 / (2 + 2)) / 2,
        "g_mean": (1 / 3 * 1 / 2) ** 0.5,
    }
    for name, value in expected.items():
        paired = pair(FIGURES[name], rows, [dict(row) for row in rows])
        assert (paired.before, paired.n) == (pytest.approx(value), 5), name
        of_one_kind = FIGURES[name].values([row for row in rows if row["answerable"]])
        assert np.isnan(of_one_kind).all(), name


def test_silence_is_the_empty_answer_where_a_model_wrote(make_row: MakeRow) -> None:
    rows = [
        make_row("a", writer="m-1", exact_match=0.0, token_f1=0.5, gold_answers=["x"]),
        make_row("b", writer="deterministic", abstained=True, gold_answers=["x"]),
        make_row("c", writer="deterministic", abstained=True, answerable=False, gold_answers=[]),
    ]
    summary = summarised([{"why_unanswerable": None, **row} for row in rows], seed=0)
    for name, expected in (("exact_match", [0.0, 0.0, 1.0]), ("token_f1", [0.5, 0.0, 1.0])):
        assert FIGURES[name].values(rows).tolist() == expected
        assert summary[name].value == pytest.approx(sum(expected) / 3)
        assert np.isnan(FIGURES[name].values(rows[1:])).all()  # none of these was written by a model


def test_another_number_in_the_rows_is_a_figure_of_theirs(make_row: MakeRow) -> None:
    rows = [
        make_row("a", em=None, model="m", repeat=0),
        make_row("b", em=True, spans=[1], cost=0.25, repeat=1),
    ]
    figures = figures_of(rows)
    assert figures.keys() - FIGURES.keys() == {"em", "cost"}
    assert figure_named("em", figures).values(rows) == pytest.approx([np.nan, 1.0], nan_ok=True)
    assert figures["em"].better is None
    with pytest.raises(UsageError, match=r"no figure 'emm' in these runs; there are ndcg@10, .*cost, em"):
        figure_named("emm", figures)


def test_every_figure_is_that_of_the_summary(make_row: MakeRow) -> None:
    """Whatever a run reports can be compared and gated, and is the same number there."""
    random = np.random.default_rng(3)
    rows = []
    for number in range(60):
        answerable, abstained, right = (bool(flag) for flag in random.random(3) < 0.6)
        metrics = {name: float(random.random()) for name in (*RETRIEVAL, *OF_SENTENCES, "stale")}
        written = {name: float(random.random()) for name in (*COUNTING_ABSTENTION, *OF_TEXT)}
        cited = dict.fromkeys(("citation_precision", "citation_recall", "citation_f1"))
        if answerable and not abstained:
            precision, recall = (float(value) for value in random.random(2))
            cited = dict(zip(cited, (precision, recall, citation_f1(precision, recall)), strict=True))
        rows.append(
            make_row(
                f"c{number}", answerable=answerable, abstained=abstained, correct=right, would_be_right=right,
                confidence=round(float(random.random()), 1), confidence_space="probability/test", writer="m-1",
                gold_answers=["x"], why_unanswerable=None,
                **metrics, **written, **cited,
            )
        )  # fmt: skip
    summary = summarised(rows, seed=0)
    assert summary.keys() == FIGURES.keys()
    for name, told in summary.items():
        paired = pair(FIGURES[name], rows, [dict(row) for row in rows])
        assert paired.before == pytest.approx(told.value), name
        if FIGURES[name].is_mean:
            assert paired.n == told.n, name
