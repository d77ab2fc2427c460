import pytest

from core.records import Entity
from core.stages.keywords import Keywords, stands_in

KEYWORDS = Keywords(max_terms=12, min_length=2, name_points=5, term_points=3, description_points=1)


def entity(name: str, description: str = "") -> Entity:
    return Entity(
        entity_id=1, name=name, type="thing", description=description, updated_at="2025-01-01T00:00:00Z"
    )


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("Where does Alice work?", ("alice", "work")),
        ("the the what a", ()),
        ("Alice alice ALICE's x", ("alice",)),
        (" ".join(f"t{i}" for i in range(20)), tuple(f"t{i}" for i in range(12))),
    ],
)
def test_terms(question, terms):
    assert KEYWORDS.terms(question) == terms


@pytest.mark.parametrize(
    ("name", "description", "question", "points"),
    [
        ("New York", "", "flats in New York", 5 + 3 + 3),
        ("Alice", "engineer at Acme", "Where does Alice the engineer work?", 5 + 3 + 1),
        ("York", "", "flats in New York", 5 + 3),
        ("Acme", "makes pumps", "who makes valves", 1),
        ("Ann", "", "what is the planning", 0),
    ],
)
def test_points(name, description, question, points):
    assert KEYWORDS.points(entity(name, description), question, KEYWORDS.terms(question)) == points


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [("", "anything", False), ("Alice", "Alice's desk", True), ("Al", "Alice", False)],
)
def test_stands_in(name, text, found):
    assert stands_in(name, text) is found
