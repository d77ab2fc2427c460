"""The gate's arithmetic: weights, trees, calibration, what it is told apart by, where it refuses."""

from dataclasses import replace
from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import ScoreSpaceError
from core.gate.model import MOST, Weighed, standardised
from core.gate.trees import LEAF, Tree
from tests.core.gate.small import gate_of

STUMP = Tree(
    feature=(1, LEAF, LEAF), cut=(0.5, 0, 0), left=(1, LEAF, LEAF), right=(2, LEAF, LEAF), value=(0.1, -1, 2)
)
VALUES = {"best_cosine": 0.5, "terms": 3.0}


def test_probability_by_hand():
    gate = gate_of({"best_cosine": 2.0, "terms": -0.5}, intercept=0.25)
    assert gate.contributions(VALUES) == {"best_cosine": 1.0, "terms": -1.5}
    assert gate.probability(VALUES) == pytest.approx(1 / (1 + exp(0.25)))


def test_values_are_standardised_and_far_ones_held():
    one = Weighed(name="terms", mean=2, scale=0.5, weight=1)
    assert [one.standard(value) for value in (2, 3, 100, -100)] == [0, 2, MOST, -MOST]
    assert standardised(np.array([[3.0], [100.0]]), [2], [0.5]).tolist() == [[2], [MOST]]


@pytest.mark.parametrize("name", ["best_cosine", "terms"])
def test_every_weight_counts(name):
    gate = gate_of({"best_cosine": 2.0, "terms": -0.5})
    zeroed = replace(
        gate, features=tuple(replace(one, weight=0.0) if one.name == name else one for one in gate.features)
    )
    assert zeroed.probability(VALUES) != gate.probability(VALUES)
    assert zeroed.digest != gate.digest


def test_trees_add_what_their_leaves_say():
    gate = gate_of({"best_cosine": 0.0, "terms": 0.0}, intercept=-1.0, trees=(STUMP, STUMP))
    assert gate.probability(VALUES) == pytest.approx(1 / (1 + exp(1 - 4)))
    assert gate.contributions(VALUES) == {"best_cosine": 0.0, "terms": pytest.approx(2 * (2 - 0.1))}
    assert gate.probability({**VALUES, "terms": 0.5}) == pytest.approx(
        1 / (1 + exp(1 + 2))
    )  # up to the cut: left


def test_isotonic_points_are_read_off_the_line_through_them():
    gate = gate_of({"terms": 1.0}, calibration=((-1.0, 0.1), (1.0, 0.5), (2.0, 0.9)))
    assert [gate.calibrated(z) for z in (-9, -1, 0, 1.5, 9)] == pytest.approx([0.1, 0.1, 0.3, 0.7, 0.9])


@given(z=st.floats(-1e4, 1e4))
def test_a_probability_never_leaves_its_range(z):
    assert 0 <= gate_of({"terms": 1.0}).calibrated(z) <= 1


def test_a_changed_number_is_another_space():
    gate = gate_of({"terms": 1.0})
    others = [
        replace(gate, intercept=1e-9),
        replace(gate, calibration=((0.0, 0.0), (1.0, 1.0))),
        replace(gate, trees=(STUMP,)),
        replace(gate, recipe="memory"),
        replace(gate, reads={"cosine": "cosine/other"}),
    ]
    assert len({one.space for one in [gate, *others]}) == 6
    assert replace(gate, report={"note": "said"}).space == gate.space


def test_another_embedder_is_refused_with_what_to_run():
    gate = gate_of({"terms": 1.0}, reads={"cosine": "cosine/minilm-l6-int8"})
    gate.check({"cosine": "cosine/minilm-l6-int8"}, "mine")
    told = r"'cosine/minilm-l6-int8'.*'cosine/wordllama-256'.*assay tune --gate --dataset NAME --recipe brain"
    with pytest.raises(ScoreSpaceError, match=told):
        gate.check({"cosine": "cosine/wordllama-256"}, "mine")
