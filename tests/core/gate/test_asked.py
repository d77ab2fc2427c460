"""Questions read: kinds, names, negation, and what a text holds of a kind."""

import pytest

from core.gate.asked import kind_of, read
from core.gate.kinds import holds
from core.text import words
from tests.core.gate.small import flat


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Who wrote it?", "who"),
        ("whose idea was it", "who"),
        ("When did it open?", "when"),
        ("In which year did it open?", "when"),
        ("Where is it?", "where"),
        ("What city is it in?", "where"),
        ("How many are there?", "how many"),
        ("how long is the bridge", "how many"),
        ("How does it work?", "how"),
        ("Why?", "why"),
        ("What is it?", "what"),
        ("the name of the bridge", "none"),
        ("Whoever somehow wins", "none"),
    ],
)
def test_kinds(question, kind):
    assert kind_of(question) == kind


def test_names_are_capitals_inside_and_digits():
    asked = read("Did Ada Lovelace see mRNA in 1843? Yes she did.", flat)
    assert asked.names == {"ada", "lovelac", "mrna", "1843"}
    assert asked.written["lovelac"] == "Lovelace"


def test_weights_are_the_corpus_and_persons_weigh_nothing():
    asked = read(
        "Did Ada see the rare bird, the bird?", lambda stem: 5.0 if stem == "rare" else 1.0, persons=["Ada"]
    )
    assert dict(asked.weights) == {"see": 1.0, "rare": 5.0, "bird": 1.0}
    assert asked.share({"rare"}) == pytest.approx(5 / 7)
    assert asked.missing({"see"}) == ("rare", "bird")
    assert asked.names == frozenset()


def test_a_question_without_terms_shares_nothing():
    assert read("what is the?", flat).share({"what"}) == 0


@pytest.mark.parametrize(
    ("kind", "text", "question", "held"),
    [
        ("when", "It opened in May.", "", True),
        ("when", "It opened two years later.", "", True),
        ("when", "It opened at 12:30.", "", True),
        ("when", "It opened in 17 halls.", "", False),
        ("who", "It was Ada.", "was it ada", False),  # the question's own name
        ("who", "It was Ada's.", "who was it", True),
        ("who", "Nobody knows.", "", False),  # the capital that begins a sentence
        ("how many", "Several came.", "", True),
        ("where", "She lives near Cork.", "", True),
        ("why", "It failed due to rain.", "", True),
        ("what", "", "", True),
    ],
)
def test_kinds_held(kind, text, question, held):
    assert holds(kind, text, words(question)) is held
