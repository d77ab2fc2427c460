"""Fitting and measuring a gate on tables of numbers of which the truth is known."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from core.gate import stored
from core.gate.features import BY_NAME
from evals.gate_examples import Examples, features_of
from evals.gate_fit import SCORES, cut_at, fit_boosted, fit_logistic, folds
from evals.gate_heldout import boosting_wins, held_out
from evals.gate_learners import boosted, corners, line, logistic

NAMES = features_of("brain")
TELLING = NAMES.index("best_cosine")
READS = {"cosine": "cosine/bag-64"}


def examples(n: int = 120, *, seed: int = 0, signal: float = 2.0, documents: int | None = None) -> Examples:
    """Questions of which one feature tells, by ``signal`` standard deviations, and all others are noise."""
    rng = np.random.default_rng(seed)
    answerable = rng.permutation(np.arange(n) % 2 == 0)
    values = rng.standard_normal((n, len(NAMES)))
    values[:, TELLING] += signal * answerable
    return Examples(
        names=NAMES,
        values=values,
        answerable=answerable,
        clusters=tuple(f"d{place % (documents or n)}" for place in range(n)),
        variants=("near-miss",) * n,
        cases=tuple(("main", str(place)) for place in range(n)),
        passed=np.ones(n, dtype=bool),
    )


@pytest.mark.parametrize(("documents", "count", "made"), [(40, 5, 5), (3, 5, 3), (1, 5, 1)])
def test_a_cluster_is_never_split(documents, count, made):
    clusters = [f"d{place % documents}" for place in range(100)]
    dealt = folds(clusters, seed=3, count=count)
    assert len(set(dealt.tolist())) == made
    assert all(len(set(dealt[np.array(clusters) == one].tolist())) == 1 for one in set(clusters))
    assert (folds(clusters, seed=3, count=count) == dealt).all()


def test_folds_are_of_a_size():
    dealt = folds([f"d{place}" for place in range(100)], seed=0)
    assert np.bincount(dealt).tolist() == [20] * 5


def test_the_same_bytes_every_time_and_other_data_another_gate():
    first, again = (fit_logistic(examples(), "brain", READS, seed=0) for _ in range(2))
    assert stored.to_lines(first.gate) == stored.to_lines(again.gate)
    assert (first.held_out == again.held_out).all()
    assert fit_logistic(examples(seed=1), "brain", READS, seed=0).gate.digest != first.gate.digest


@pytest.mark.parametrize("fit", [fit_logistic, fit_boosted])
def test_what_is_stored_says_what_was_fitted(fit):
    """The gate's own arithmetic on plain numbers, against the model of scikit-learn it was read off."""
    data = examples()
    fitted = fit(data, "brain", READS, seed=0)
    gate = stored.parse(stored.to_table(fitted.gate), "brain", "x")
    if fit is fit_logistic:
        names = [
            name for name in NAMES if BY_NAME[name].group in SCORES
        ]  # one feature of those tells: no more is needed
        learner = logistic(names, penalty=fitted.penalty, strength=fitted.strength)
    else:
        names, learner = list(NAMES), boosted(NAMES, seed=0)
    values = data.values[:, [NAMES.index(name) for name in names]]
    z = learner(values, data.answerable).z(values)
    said = np.array([gate.probability(dict(zip(NAMES, row, strict=True))) for row in data.values.tolist()])
    order = np.argsort(z, kind="stable")
    assert all(
        low <= high + 1e-12 for low, high in pairwise(said[order].tolist())
    )  # calibration keeps the order
    assert roc_auc_score(data.answerable, said) == pytest.approx(roc_auc_score(data.answerable, z), abs=0.02)


def test_only_what_tells_is_weighed_much():
    gate = fit_logistic(examples(300, signal=3), "brain", READS, seed=0).gate
    assert {BY_NAME[one.name].group for one in gate.features} <= set(SCORES)
    ranked = sorted(gate.features, key=lambda one: -abs(one.weight))
    assert ranked[0].name == "best_cosine"
    assert ranked[0].weight > 4 * abs(ranked[1].weight)


def test_under_l1_a_feature_of_noise_falls_out():
    data = examples(300)
    numbers = logistic(NAMES, penalty="l1", strength=0.03)(data.values, data.answerable).numbers(1.0, 0.0)
    kept = [one.name for one in numbers["features"]]
    assert "best_cosine" in kept
    assert len(kept) < 5


def test_a_feature_that_never_changes_is_no_division_by_zero():
    data = examples()
    values = data.values.copy()
    values[:, 0] = 7.0
    gate = fit_logistic(replace(data, values=values), "brain", READS, seed=0).gate
    assert all(one.scale > 0 and np.isfinite(one.weight) for one in gate.features)


def test_platts_line_undoes_a_known_one():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=20_000)
    answerable = rng.random(20_000) < 1 / (1 + np.exp(-truth))
    slope, offset = line((truth - 1) / 3, answerable)
    assert (slope, offset) == (pytest.approx(3, rel=0.05), pytest.approx(1, abs=0.07))


def test_isotonic_corners_by_hand():
    z = np.array([1.0, 2.0, 3.0, 4.0])
    assert corners(z, np.array([False, True, False, True])) == (
        (1.0, 0.0),
        (2.0, 0.5),
        (3.0, 0.5),
        (4.0, 1.0),
    )


@pytest.mark.parametrize(
    ("coverage", "passed", "cut"),
    [(0.5, [1, 1, 1, 1], 0.8), (0.51, [1, 1, 1, 1], 0.4), (1.0, [1, 1, 1, 1], 0.2), (0.01, [1, 1, 1, 1], 0.9),
     (0.5, [0, 1, 1, 1], 0.4), (1.0, [0, 1, 1, 1], 0.0)],
)  # fmt: skip
def test_the_cut_that_answers_a_share(coverage, passed, cut):
    data = replace(
        examples(6), answerable=np.array([1, 1, 1, 1, 0, 0], bool), passed=np.array([*passed, 1, 1], bool)
    )
    assert cut_at(np.array([0.9, 0.8, 0.4, 0.2, 0.99, 0.5]), data, coverage) == cut


def test_noise_cannot_be_learned():
    """What leaked into training would show here: the truth is that nothing can be told."""
    out = held_out(examples(100, signal=0, seed=5), "brain", coverage=0.9, repeats=1)
    assert 0.3 < out.splits[0] < 0.7


def test_a_document_never_tells_on_itself():
    """Five questions each on 30 documents that look alike, labelled by a coin per document: who has seen a document can
    tell, nobody else can. Cut apart by question, the same data would be told well."""
    rng = np.random.default_rng(2)
    labels = np.repeat(rng.permutation(np.arange(30) % 2 == 0), 5)
    values = np.repeat(rng.standard_normal((30, len(NAMES))), 5, axis=0) + 0.01 * rng.standard_normal(
        (150, len(NAMES))
    )
    documents = tuple(f"d{place // 5}" for place in range(150))
    data = replace(examples(150), values=values, answerable=labels, clusters=documents)
    leaky = replace(data, clusters=tuple(str(place) for place in range(150)))
    assert held_out(data, "brain", coverage=0.9, repeats=1).splits[0] < 0.8
    assert held_out(leaky, "brain", coverage=0.9, repeats=1).splits[0] > 0.95


def test_figures_on_held_out_questions_against_an_oracle():
    data = examples(160, signal=1.5)
    out = held_out(data, "brain", coverage=0.9, repeats=1)
    figures = out.figures()
    oracle = np.mean([roc_auc_score(data.answerable, one) for one in out.probability])
    assert figures["auroc"].value == pytest.approx(oracle)
    assert figures["auroc"].low < oracle < figures["auroc"].high
    assert figures["coverage"].value == pytest.approx(out.answered[:, data.answerable].mean())
    assert figures["false_answers"].value == pytest.approx(out.answered[:, ~data.answerable].mean())
    assert 0.8 < figures["coverage"].value < 1
    assert figures["brier"].value == pytest.approx(((out.probability - data.answerable) ** 2).mean())
    assert not boosting_wins(figures)
    some = out.of(np.arange(160) < 80)
    assert some.splits[0] == pytest.approx(roc_auc_score(data.answerable[:80], out.probability[0, :80]))


def test_splits_are_the_same_every_time_and_differ_from_each_other():
    out, again = (held_out(examples(40), "brain", coverage=0.9, repeats=2) for _ in range(2))
    assert (again.probability == out.probability).all()
    assert (out.probability[0] != out.probability[1]).any()


def test_boosting_wins_where_a_line_cannot():
    data = examples(400, signal=0)
    outside = np.abs(data.values[:, TELLING]) > 0.7
    out = held_out(replace(data, answerable=outside), "brain", coverage=0.9, repeats=1)
    assert boosting_wins(out.figures())


def test_floors_of_the_profile_count_in_the_coverage():
    data = examples(100, signal=3)
    passed = np.arange(100) % 4 != 0
    out = held_out(replace(data, passed=passed), "brain", coverage=0.5, repeats=1)
    assert not out.answered[:, ~passed].any()
    assert 0.35 < out.figures()["coverage"].value < 0.65
