"""Ranges as they are written, and the settings that are sampled from them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import UsageError
from core.thresholds import Threshold, for_recipe
from core.trace import RECIPES, Recipe
from evals.tuning.samplers import STATIC, Static, sampled
from evals.tuning.space import USUAL, parse_axes


def test_a_range_a_stepped_range_and_a_list() -> None:
    floor, weight, kept = parse_axes(["floor=0.2:0.6", "lambda=0.5:1:0.25", "select.k=5,1,3"], "brain")
    assert (floor.name, floor.low, floor.high, floor.values) == ("floor.min_score", 0.2, 0.6, ())
    assert (weight.name, weight.values) == ("mmr.lambda", (0.5, 0.75, 1.0))
    assert (kept.name, kept.values) == ("select.k", (1, 3, 5))
    assert [kept.at(share) for share in (0, 0.34, 0.99, 1)] == [1, 3, 5, 5]
    assert floor.spread(3) == (0.2, 0.4, 0.6)


@pytest.mark.parametrize(
    ("recipe", "full"),
    [("brain", "floor.min_score"), ("memory", "gate.min_best_cosine"), ("graph", "gate.min_cosine")],
)
def test_floor_is_the_cut_on_confidence(recipe: Recipe, full: str) -> None:
    assert parse_axes(["floor=0:1"], recipe)[0].name == full


@pytest.mark.parametrize("recipe", RECIPES)
def test_what_is_usual_can_be_read(recipe: Recipe) -> None:
    assert len(parse_axes([], recipe)) == len(USUAL[recipe])


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("floor", "name=low:high"),
        ("floor=", "name=low:high"),
        ("=1:2", "name=low:high"),
        ("flor=0:1", "is no threshold of recipe brain"),
        ("gate.min_cosine=0:1", "is no threshold of recipe brain"),
        ("weight=0:1", "may be fusion.weight or blend.weight or rerank.weight"),
        ("fusion.method=0:1", "is a method"),
        ("floor=0.6:0.2", "low must be below high"),
        ("floor=0.2:0.2", "low must be below high"),
        ("floor=0:2", r"numbers in \[0, 1\]"),
        ("floor=nan:1", "'nan' is no number"),
        ("floor=0:1:0", "step must be above 0"),
        ("floor=0:1:-1", "step must be above 0"),
        ("floor=0:1:1e-9", "values; take a larger step"),
        ("floor=0:1:0.1:2", "a range is"),
        ("floor=0.5", "one value varies nothing"),
        ("floor=0.5,0.5", "one value varies nothing"),
        ("floor=a,b", "is no number"),
        ("select.k=1.5:3", "whole numbers"),
        ("select.k=0:3", r"in \[1, 100\]"),
    ],
)
def test_what_cannot_be_varied_is_refused(written: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        parse_axes([written], "brain")


def test_a_threshold_has_one_range() -> None:
    with pytest.raises(UsageError, match="twice"):
        parse_axes(["floor=0:1", "floor.min_score=0:0.5"], "brain")


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(STATIC), st.integers(1, 70), st.integers(0, 3))
def test_samples_lie_within_their_ranges_and_repeat(search: Static, trials: int, seed: int) -> None:
    axes = parse_axes(["floor=0.2:0.6", "mmr.lambda=0.5,1", "select.k=1:4"], "brain")
    if search == "grid" and trials < 8:
        with pytest.raises(UsageError, match="more than --trials"):
            sampled(search, axes, trials)
        return
    points = sampled(search, axes, trials, seed=seed)
    assert points == sampled(search, axes, trials, seed=seed)
    assert 1 <= len(points) <= trials
    assert len({tuple(point.items()) for point in points}) == len(points)
    for point in points:
        assert 0.2 <= float(point["floor.min_score"]) <= 0.6
        assert point["mmr.lambda"] in (0.5, 1)
        assert point["select.k"] in (1, 2, 3, 4)


def test_a_grid_is_every_combination() -> None:
    axes = parse_axes(["floor=0:1", "select.k=1,2,3"], "brain")
    points = sampled("grid", axes, 20)
    assert len(points) == 18  # six floors, three counts; a seventh floor would make 21
    assert sorted({float(point["floor.min_score"]) for point in points}) == [0, 0.2, 0.4, 0.6, 0.8, 1]


def test_sobol_and_lhs_leave_no_large_hole() -> None:
    axes = parse_axes(["floor=0:1"], "brain")
    for search in ("sobol", "lhs"):
        values = np.sort([float(p["floor.min_score"]) for p in sampled(search, axes, 64, seed=5)])
        assert np.diff(values).max() < 2.1 / 64


@pytest.mark.parametrize("recipe", RECIPES)
def test_every_threshold_can_be_varied_over_its_declared_range(recipe: Recipe) -> None:
    written = [f"{k.name}={k.low}:{k.high}" for k in for_recipe(recipe) if isinstance(k, Threshold)]
    for point in sampled("lhs", parse_axes(written, recipe), 16):
        for knob in for_recipe(recipe):
            if isinstance(knob, Threshold):
                assert knob.low <= float(point[knob.name]) <= knob.high
