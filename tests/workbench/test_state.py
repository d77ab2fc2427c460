"""A view survives the way through an address; what an address cannot give is said, never guessed silently."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as some

from core.profile import load, shipped
from core.thresholds import Setting, for_recipe
from core.trace import RECIPES, Recipe
from workbench.state import MAX_LINKED_QUESTION, View, differing, from_query, to_query

DATASETS = ("meridian", "locomo/conv-26", "a,b & c=d")


@some.composite
def views(draw: some.DrawFn) -> View:
    """Any view of the datasets and shipped profiles there are."""
    recipe: Recipe = draw(some.sampled_from(RECIPES))
    name = draw(some.sampled_from(shipped()))
    base = load(name, recipe)
    changes = {}
    for knob in draw(some.lists(some.sampled_from(for_recipe(recipe)), unique_by=lambda each: each.name)):
        if isinstance(knob, Setting):
            value = draw(some.sampled_from(knob.choices))
        elif knob.integer:
            value = draw(some.integers(int(knob.low), int(knob.high)))
        else:
            value = draw(some.floats(knob.low, knob.high))
        changes |= differing(base, {knob.name: value})
    return View(
        dataset=draw(some.sampled_from(DATASETS)),
        recipe=recipe,
        profile=name,
        question=draw(some.text(max_size=80)),
        levels=tuple(draw(some.lists(some.sampled_from(["L0", "L1", "L2"]), unique=True))),
        as_of=draw(some.sampled_from(["", "2023", "2023-03-01"])),
        changes=changes,
    )


@given(views())
def test_a_view_survives_its_link(view: View) -> None:
    back, said = from_query(to_query(view), DATASETS)
    assert said == []
    assert back == view
    assert back.tuned().values == view.tuned().values


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"dataset": "gone"}, "dataset 'gone'"),
        ({"recipe": "oracle"}, "recipe 'oracle'"),
        ({"profile": "/etc/passwd"}, "profile '/etc/passwd'"),
        ({"set.floor.min_score": "7"}, r"min_score must be a number in \[0, 1\]"),
        ({"set.floor.min_score": "high"}, "could not convert"),
        ({"set.no.such": "1"}, "unknown key 'no.such'"),
        ({"set.select.k": "2.5"}, "whole number"),
        ({"set.floor.min_score": "nan"}, "must be a number"),
    ],
)
def test_what_a_link_cannot_give_is_said_and_left_out(params: dict[str, str], words: str) -> None:
    view, said = from_query(params, DATASETS)
    assert len(said) == 1
    assert re.search(words, said[0])
    assert view.changes == {}
    assert view.dataset == "meridian"


def test_an_empty_address_is_the_first_data_set_and_memory() -> None:
    view, said = from_query({}, DATASETS)
    assert (view.dataset, view.recipe, view.question, said) == ("meridian", "memory", "", [])


def test_a_value_equal_to_the_profile_is_no_change() -> None:
    base = load("seed", "brain")
    view, said = from_query(
        {"recipe": "brain", "profile": "seed", "set.floor.min_score": str(base.values["floor.min_score"])},
        DATASETS,
    )
    assert (view.changes, said) == ({}, [])


def test_a_changed_view_is_tuned_under_a_name_of_its_own() -> None:
    view = View(dataset="m", recipe="brain", profile="seed", question="", changes={"select.k": 3})
    assert view.tuned().name == "seed-changed"
    assert view.tuned().values["select.k"] == 3


def test_a_link_carries_only_so_much_of_a_question() -> None:
    view = View(dataset="m", recipe="brain", profile="seed", question="x" * 5000)
    assert len(to_query(view)["q"]) == MAX_LINKED_QUESTION
