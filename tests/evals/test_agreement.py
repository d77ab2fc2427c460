"""Cohen's kappa against scikit-learn and by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from core.store.labels import VERDICTS, Label
from evals.agreement import cohen, of_labels

pairs = st.lists(st.tuples(st.sampled_from(VERDICTS), st.sampled_from(VERDICTS)), min_size=1, max_size=60)


@given(pairs)
@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_kappa_is_that_of_scikit_learn(judged: list[tuple[str, str]]) -> None:
    first, second = map(list, zip(*judged, strict=True))
    ours = cohen(first, second).kappa
    if ours is None:  # both gave one verdict throughout: 0 / 0
        assert len({*first, *second}) == 1
        return
    theirs = cohen_kappa_score(first, second, labels=list(VERDICTS))
    assert math.isclose(ours, theirs, abs_tol=1e-12)


def test_by_hand() -> None:
    """Cohen's table of 50: 20 both yes, 15 both no, 5 and 10 apart; observed 0.7, expected 0.5, kappa 0.4."""
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    found = cohen(first, second)
    assert (found.observed, found.expected) == (0.7, 0.5)
    assert found.kappa == pytest.approx(0.4)
    assert found.table == {
        ("yes", "yes"): 20,
        ("yes", "no"): 5,
        ("no", "yes"): 10,
        ("no", "no"): 15,
    }


def test_no_case_is_no_kappa_and_other_lengths_are_an_error() -> None:
    assert cohen([], []).kappa is None
    with pytest.raises(ValueError, match="shorter"):
        cohen(["wrong", "wrong"], ["wrong"])


def test_every_pair_of_labellers_on_the_cases_both_judged() -> None:
    labels = [
        Label(case_id=case_id, labeller=labeller, verdict=verdict, question="?")
        for case_id, labeller, verdict in [
            ("a", "Ben", "wrong"),
            ("a", "Ada", "wrong"),
            ("b", "Ada", "correct"),
            ("b", "Ben", "partly"),
            ("c", "Ada", "wrong"),
            ("d", "Cat", "wrong"),
        ]
    ]
    found = {(pair.first, pair.second): (pair.n, pair.observed) for pair in of_labels(labels)}
    assert found == {("Ada", "Ben"): (2, 0.5), ("Ada", "Cat"): (0, None), ("Ben", "Cat"): (0, None)}
