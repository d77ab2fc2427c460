"""The support score: its features by hand, what must lower it, and an entailment model in its place."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.metrics import support as module
from evals.metrics.support import SUPPORTED, Features, entailed, features, support

TEXT = "The proxy was upgraded in March 2024 by Priya. It then refused requests over 10 KB."


def test_features_by_hand() -> None:
    sentence = "Omar upgraded the proxy in March 2024 with 12 helpers"
    # stems: omar upgrad proxi march 2024 12 helper; in the text: upgrad proxi march 2024
    assert features(sentence, [TEXT]) == Features(
        coverage=pytest.approx(4 / 7),
        missing_mass=3,
        missing_numbers=1,
        missing_names=1,
        span=pytest.approx(3 / 10),
    )


def test_a_rare_word_weighs_more() -> None:
    rarity = {"proxi": 0.9, "upgrad": 0.5, "sail": 0.6}.__getitem__
    found = features("the proxy upgrade sails", ["a proxy"], rarity)
    assert found is not None
    assert found.coverage == pytest.approx(0.9 / 2.0)
    assert found.missing_mass == pytest.approx(1.1)


def test_texts_count_together_but_a_stretch_stands_in_one() -> None:
    found = features("red sails at noon", ["red sails", "at noon"])
    assert found is not None
    assert (found.coverage, found.span) == (1, 1 / 2)


@pytest.mark.parametrize(
    ("sentence", "text", "missing"),
    [
        ("twelve rooms", "12 rooms", 0),
        ("12 rooms", "twelve rooms", 0),
        ("the 1 room", "the first room", 0),
        ("the first room", "a room", 0),  # said of a sentence, an ordinal is a word
        ("on 1 March 2024", "2024-03-01", 0),
        ("1,000 rooms", "1000 rooms", 0),
        ("11 rooms and 3 halls", "12 rooms", 2),
    ],
)
def test_missing_numbers(sentence: str, text: str, missing: int) -> None:
    found = features(sentence, [text])
    assert found is not None
    assert found.missing_numbers == missing


def test_a_date_is_found_in_its_other_form() -> None:
    found = features("on 1 March 2024", ["2024-03-01"])
    assert found is not None
    assert found.missing_names == 0


def test_word_for_word_is_support_and_no_text_is_none() -> None:
    assert support("It then refused requests over 10 KB", [TEXT]) == 1
    assert support("It then refused requests", []) == 0
    assert math.isnan(support("It was so.", [TEXT]))
    assert math.isnan(support("", [TEXT]))
    assert 0 < support("It then refused requests", ["   "]) < SUPPORTED


FULL = "In March 2024 Priya upgraded the proxy, which refused requests over 10 KB"


@pytest.mark.parametrize(
    "worse",
    [
        FULL.replace("2024", "2023"),
        FULL.replace("Priya", "Omar"),
        FULL.replace("March", "May"),
        FULL.replace("10 KB", "20 KB"),
        FULL.replace("upgraded", "sold"),
        FULL + " at the canal",
    ],
)
def test_what_the_text_does_not_say_lowers_it(worse: str) -> None:
    assert support(worse, [TEXT]) < support(FULL, [TEXT]) - 0.02
    assert support(FULL, [TEXT]) > SUPPORTED


def test_a_wrong_number_alone_takes_the_support_away() -> None:
    assert support(FULL.replace("2024", "2023"), [TEXT]) < SUPPORTED


WORDS = st.lists(
    st.sampled_from(["red", "Priya", "12", "twelve", "the", "canal", "proxy", "2024-03-01"]), max_size=8
)


@given(WORDS.map(" ".join), st.lists(WORDS.map(" ".join), max_size=3), WORDS.map(" ".join))
def test_in_its_range_and_never_lowered_by_another_text(sentence: str, texts: list[str], more: str) -> None:
    alone, together = support(sentence, texts), support(sentence, [*texts, more])
    if math.isnan(alone):
        assert math.isnan(together)
    else:
        assert 0 <= alone <= together <= 1


@given(WORDS.map(" ".join), st.lists(WORDS.map(" ".join), max_size=3))
def test_the_logistic_of_its_features(sentence: str, texts: list[str]) -> None:
    found = features(sentence, texts)
    if found is not None and texts and found.span < 1:
        weights = np.array([module.COVERAGE, module.MISSING_MASS, module.MISSING_NUMBER, module.MISSING_NAME])
        values = np.array(
            [found.coverage, found.missing_mass, found.missing_numbers, found.missing_names], dtype=float
        )
        expected = 1 / (1 + np.exp(-(module.INTERCEPT + weights @ values)))
        assert support(sentence, texts) == pytest.approx(expected)


class Containing:
    """Entailed is what stands in the premise; keeps what it was asked."""

    space = "probability/containing"

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        self.asked += pairs
        return np.array([0.9 if said in premise else 0.2 for premise, said in pairs], dtype=np.float32)


def test_an_entailment_model_is_asked_of_each_text_and_of_all() -> None:
    model = Containing()
    judged = entailed(model)
    assert judged("red sails", ["blue", "red sails"]) == pytest.approx(0.9)
    assert model.asked == [
        ("blue", "red sails"), ("red sails", "red sails"), ("blue red sails", "red sails"),
    ]  # fmt: skip
    assert judged("red sails", ["red", "sails"]) == pytest.approx(0.9)  # only together
    assert judged("red sails", ["blue"]) == pytest.approx(0.2)
    assert judged("red sails", []) == 0
    assert math.isnan(judged("it is so", ["blue"]))
