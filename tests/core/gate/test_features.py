"""Every feature of the table, worked out by hand on a few sentences in which each stem weighs the same."""

from math import log1p

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.gate.features import BY_NAME, FEATURES
from tests.core.gate.small import found, read

RIVER = "When was the bridge over the Danube built?"
"""Three terms: bridge, Danube, built."""
BRIDGE = {
    "text": "The bridge spans the river. It was built in 1849.",
    "title": "Danube",
    "cosine": 0.8,
    "tfidf": 0.5,
}
BAKER = {"text": "Bakers built an oven.", "title": "Bread", "cosine": 0.2, "tfidf": 0.1}
MILL = {"text": "A mill stands by a bridge.", "title": "Mill", "cosine": 0.4, "tfidf": 0.3}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("best_score", 0.4 * 0.5 + 0.6 * 0.8),
        ("best_cosine", 0.8),
        ("best_tfidf", 0.5),
        ("score_above_second", 0.68 - (0.4 * 0.3 + 0.6 * 0.4)),
        ("score_above_crowd", 0.68 - (0.36 + 0.16) / 2),  # no rank 21: all others
        ("cosine_above_next", 0.8 - 0.3),
        ("tfidf_spread", 0.1632993),  # of 0.5, 0.3, 0.1
        ("channels_agree", 1),
        ("channels_share", 1),
        ("text_coverage", 1),  # bridge and built in the text, Danube in its title
        ("sentence_coverage", 2 / 3),  # either sentence holds one, the title another
        ("window_coverage", 1),  # both sentences
        ("title_coverage", 1 / 3),
        ("attribute_coverage", 1 / 2),  # of bridge and built, one a sentence
        ("near_terms", 0),  # bridge and Danube, Danube and built: the text has no Danube
        ("title_asked", 1),
        ("coverage_above_next", 1 - 1 / 3),
        ("mentions", log1p(2)),
        ("text_terms", log1p(5)),  # bridge spans river built 1849
        ("terms_lacking", 0),
        ("terms_absent", 0),
        ("rarest_lacking", 0),
        ("names_lacking", 0),
        ("numbers_lacking", 0),
        ("lacks_kind", 1),  # the first of two equal sentences holds no time
        ("lacks_when", 1),
        ("lacks_who", 0),
        ("contradicts", 0),
        ("terms", 3),
        ("no_question_word", 0),
        ("names_speaker", 0),
    ],
)
def test_a_feature_by_hand(name, value):
    assert read(RIVER, BAKER, BRIDGE, MILL)[name] == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize(
    ("question", "row", "expected"),
    [
        ("Did Caroline meet 12 Vikings?", {"text": "Nobody met anybody."},
         {"terms_lacking": 4, "terms_absent": 4, "names_lacking": 1, "numbers_lacking": 1, "rarest_lacking": 1 / 4}),
        ("Did Caroline meet 12 Vikings?", {"text": "Caroline met 12."},
         {"names_lacking": 1 / 3, "numbers_lacking": 0}),  # a number is a name too
        ("Does iron rust?", {"text": "Iron does not rust."}, {"contradicts": 1}),
        ("Does iron not rust?", {"text": "Iron does not rust."}, {"contradicts": 0}),
        ("Who built it?", {"text": "It was built by Ada."}, {"lacks_who": 0, "lacks_kind": 0}),
        ("Who built it?", {"text": "It was built by hand."}, {"lacks_who": 1, "lacks_kind": 1}),
        ("Where is the mill?", {"text": "The mill is in Sligo."}, {"lacks_where": 0}),
        ("Where is the mill?", {"text": "The mill is old."}, {"lacks_where": 1}),
        ("How many mills stand?", {"text": "There stand seven mills."}, {"lacks_how_many": 0}),
        ("How many mills stand?", {"text": "There stand mills."}, {"lacks_how_many": 1}),
        ("Why did it fail?", {"text": "It did fail because of rain."}, {"lacks_why": 0}),
        ("Why did it fail?", {"text": "It did fail."}, {"lacks_why": 1}),
        ("name the mill", {"text": "The mill is old."}, {"no_question_word": 1, "lacks_kind": 0}),
        ("red mill wheel", {"text": "A red mill has one."}, {"near_terms": 1 / 2}),
        ("red mill wheel", {"text": "red a1 b2 c3 d4 mill wheel."}, {"near_terms": 1 / 2}),  # five apart, then one
    ],
)  # fmt: skip
def test_what_a_candidate_lacks(question, row, expected):
    values = read(question, row)
    assert {name: values[name] for name in expected} == pytest.approx(expected)


def test_without_words_vectors_still_tell():
    values = read(RIVER, {"text": "The bridge.", "cosine": 0.7}, {"text": "A mill.", "cosine": 0.1})
    assert values["best_score"] == pytest.approx(0.7)
    assert (values["best_tfidf"], values["channels_agree"], values["tfidf_spread"]) == (0, 0, 0)


def test_channels_that_disagree():
    first = {"text": "One.", "cosine": 0.9, "tfidf": 0.0}
    second = {"text": "Two.", "cosine": 0.1, "tfidf": 0.9}
    assert read("One or two?", first, second)["channels_agree"] == 0
    assert read("One or two?", first, second)["channels_share"] == 1 / 2  # the second is all that words find


def test_a_candidate_without_a_score_is_never_the_best():
    values = read(RIVER, {"text": "The bridge.", "cosine": float("nan")}, {"text": "A mill.", "cosine": 0.1})
    assert values["text_coverage"] == 0
    assert values["best_cosine"] == pytest.approx(0.1)


def test_a_question_of_stop_words_is_read_too():
    values = read("what is the?", BRIDGE)
    assert (values["terms"], values["text_coverage"], values["attribute_coverage"]) == (0, 0, 1)


def test_absent_is_what_the_next_candidates_do_not_have_either():
    told = found(RIVER, {"text": "A mill.", "cosine": 0.9}, {"text": "The bridge.", "cosine": 0.5})
    assert told.lacking == ("danub", "bridg", "built")  # names first
    assert told.absent == ("danub", "built")


TEXT = st.text(alphabet="abc XY.?'12é", max_size=40)
ROW = st.fixed_dictionaries(
    {
        "text": TEXT,
        "title": TEXT,
        "speaker": st.sampled_from([None, "Ana", "Bo"]),
        "cosine": st.floats(-1, 1, width=32),
        "tfidf": st.floats(0, 1, width=32),
    }
)


@given(question=TEXT, rows=st.lists(ROW, max_size=6))
def test_any_candidates_give_finite_numbers_in_the_order_of_the_table(question, rows):
    values = read(question, *rows)
    assert list(values) == [feature.name for feature in FEATURES]
    assert all(abs(value) < 1e6 for value in values.values())


@given(question=TEXT, texts=st.lists(TEXT, min_size=2, max_size=6), by_words=st.permutations(range(6)))
def test_the_order_candidates_come_in_does_not_matter(question, texts, by_words):
    rows = [
        {"text": text, "cosine": (place + 1) / 10, "tfidf": by_words[place] / 100}
        for place, text in enumerate(texts)
    ]
    assert read(question, *rows) == pytest.approx(read(question, *rows[::-1]))


def test_words_that_find_nothing_agree_with_nothing():
    rows = [{"text": "One.", "cosine": 0.9, "tfidf": 0.0}, {"text": "Two.", "cosine": 0.1, "tfidf": 0.0}]
    assert read("three", *rows)["channels_agree"] == 0
    assert read("three", *rows)["channels_share"] == 0


def test_every_feature_says_what_it_is():
    assert len(BY_NAME) == len(FEATURES)
    assert all(len(feature.about) > 5 for feature in FEATURES)
