"""Answers by hand; SQuAD's figures against a second writing of its script, ROUGE-L against a recursive definition."""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from evals.metrics import answers

TEXT = st.lists(
    st.sampled_from(
        ["The", "a", "an", "cat", "Cat.", "sat", "on", "mat", "—", "U.S.", "1,000", "don't", "élan"]
    ),
    max_size=7,
).map(" ".join)


@pytest.mark.parametrize(
    ("answer", "gold", "match", "f1"),
    [
        ("The Cat.", ["cat"], 1, 1),
        ("cat", ["dog", "a cat!"], 1, 1),
        ("the black cat", ["cat"], 0, 2 / 3),
        ("cat cat", ["cat"], 0, 2 / 3),  # a repeat counts once
        ("cat cat dog", ["cat cat"], 0, 4 / 5),
        ("dog", ["cat"], 0, 0),
        ("U.S.", ["us"], 1, 1),
        ("theatre", ["atre"], 0, 0),  # an article is a whole word
        # no gold answer: it is right to say nothing
        ("", [], 1, 1),
        ("cat", [], 0, 0),
        ("", ["cat"], 0, 0),
        ("the", [], 1, 1),
        # a gold answer of nothing but articles and marks is none, unless it is the only one
        ("", ["the", "cat"], 0, 0),
        ("", ["the"], 1, 1),
    ],
)
def test_squad_by_hand(answer: str, gold: list[str], match: float, f1: float) -> None:
    assert answers.exact_match(answer, gold) == match
    assert answers.token_f1(answer, gold) == pytest.approx(f1)


def squads(answer: str, gold: list[str]) -> tuple[float, float]:
    """Exact and F1 in the steps of SQuAD's script: characters, precision and recall."""

    def normal(text: str) -> str:
        kept = "".join(char for char in text.lower() if char not in set(string.punctuation))
        return " ".join(re.sub(re.compile(r"\b(a|an|the)\b", re.UNICODE), " ", kept).split())

    def f1(one: str) -> float:
        wanted, said = normal(one).split() if one else [], normal(answer).split() if answer else []
        same = sum((Counter(wanted) & Counter(said)).values())
        if not wanted or not said:
            return int(wanted == said)
        if not same:
            return 0
        precision, recall = same / len(said), same / len(wanted)
        return 2 * precision * recall / (precision + recall)

    kept = [one for one in gold if normal(one)] or [""]
    return max(int(normal(one) == normal(answer)) for one in kept), max(map(f1, kept))


@given(TEXT, st.lists(TEXT, max_size=3))
def test_equals_the_script_of_squad(answer: str, gold: list[str]) -> None:
    ours = (answers.exact_match(answer, gold), answers.token_f1(answer, gold))
    assert ours == pytest.approx(squads(answer, gold))


@pytest.mark.parametrize(
    ("answer", "gold", "expected"),
    [
        ("police killed the gunman", ["police kill the gunman"], 1.0),  # stemmed
        # LCS "police the gunman" of 4 and 4
        ("police ended the gunman", ["police kill the gunman"], 3 / 4),
        ("the gunman police", ["police kill the gunman"], 2 * (2 / 3) * (2 / 4) / (2 / 3 + 2 / 4)),
        ("", ["police"], 0.0),
        ("police", ["nothing", "police"], 1.0),
    ],
)
def test_rouge_l_by_hand(answer: str, gold: list[str], expected: float) -> None:
    assert answers.rouge_l(answer, gold) == pytest.approx(expected)


@given(st.lists(st.text(max_size=40), min_size=2, max_size=2))
def test_rouge_l_is_that_of_the_package(texts: list[str]) -> None:
    answer, gold = texts
    if answers.normalized(gold):
        expected = RougeScorer(["rougeL"], use_stemmer=True).score(gold, answer)["rougeL"].fmeasure
        assert answers.rouge_l(answer, [gold]) == pytest.approx(expected)


WORDS = st.lists(st.sampled_from(["red", "cat", "mat", "sun"]), max_size=8)


@given(WORDS, WORDS.filter(bool))
def test_rouge_l_equals_a_recursive_longest_common_subsequence(said: list[str], wanted: list[str]) -> None:
    @cache
    def longest(i: int, j: int) -> int:
        if i == len(said) or j == len(wanted):
            return 0
        if said[i] == wanted[j]:
            return 1 + longest(i + 1, j + 1)
        return max(longest(i + 1, j), longest(i, j + 1))

    expected = 2 * longest(0, 0) / (len(said) + len(wanted))  # F1 of LCS/n and LCS/m
    assert answers.rouge_l(" ".join(said), [" ".join(wanted)]) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("answer", "gold", "expected"),
    [
        ("It was in 1999, they say.", ["1999"], 1),
        ("It was in 1999.", ["1"], 0),
        ("the United States of America", ["United States"], 1),
        ("United we stand, States of mind", ["United States"], 0),
        ("", ["1999"], 0),
        ("New York", ["Boston", "new york!"], 1),
        ("New York", ["the"], math.nan),
        ("New York", [], math.nan),
    ],
)
def test_containing_by_hand(answer: str, gold: list[str], expected: float) -> None:
    assert answers.contains_gold(answer, gold) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Rosamund Pike since 2014", 0),
        ("It was Ben Okri", 1),
        ("First Ben Okri, now Rosamund Pike", 0),
        ("Nobody knows", 0),
        ("", 0),
    ],
)
def test_stale_by_hand(answer: str, expected: float) -> None:
    assert answers.stale(answer, ["Rosamund Pike"], ["Ben Okri", "Iris Vale"]) == expected


def test_what_is_right_again_is_not_stale() -> None:
    assert answers.stale("Ben Okri", ["Ben Okri"], ["Iris Vale", "Ben Okri"]) == 0
    assert math.isnan(answers.stale("Ben Okri", ["Ben Okri"], ["Ben Okri."]))
    assert math.isnan(answers.stale("Ben Okri", ["Ben Okri"], []))
    assert answers.stale("Ben Okri", [], ["Ben Okri"]) == 1
