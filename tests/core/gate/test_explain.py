"""What a gate says of itself: the probability, and the strongest reasons in concrete words."""

import pytest

from core.gate.explain import explained, ordered
from core.gate.findings import find
from tests.core.gate.small import considered, flat

HERS = {"text": "Caroline: I paint horses.", "speaker": "Caroline", "cosine": 0.4}
HIS = {"text": "Melanie: I did paint at the lake.", "speaker": "Melanie", "cosine": 0.6}
OLD = {"text": "The mill is old.", "cosine": 0.3}
MILL = {"text": "The mill on the hill is old.", "cosine": 0.6}


def said(question, *rows, probability=0.31, cut=0.5, **contributions):
    seen = considered(*rows)
    return explained(probability, cut, contributions, find(question, seen, flat), seen)


LOW = "abstained: P = 0.31, gate.min_probability asks for 0.50"


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        (
            said("Did Caroline paint the mill?", MILL, best_score=-1.0),
            [
                "the question's 'Caroline' appears in no candidate",
                "the closest candidate's evidence score is 0.60",
            ],
        ),
        (
            said("Did Ada and Bob Carol Dan paint?", OLD),
            ["the question's 'Ada', 'Bob' and 'Carol' appear in no candidate"],
        ),
        (
            said("Did Caroline paint at the lake?", HERS, HIS, told_by_named=-1.0),
            ["the nearest evidence is said by Melanie, the question asks about Caroline"],
        ),
        (
            said("where is the mill", OLD, lacks_kind=-0.4, terms_absent=-0.2),
            [
                "the question asks where, its best sentence holds no place",
                "its best sentence holds 100% of the question's weight",
            ],
        ),
        (
            said("green mill", OLD, terms_absent=-0.4),
            ["none of the closest 4 candidates holds the question's 'green'"],
        ),
        (
            said("old hill", OLD, {**MILL, "cosine": 0.2}, terms_lacking=-0.4),
            ["the closest candidate lacks the question's 'hill'"],
        ),
        (said("mill", OLD, best_score=-0.01), []),
        (
            said("Is the mill not old?", OLD, contradicts=-0.9),
            ["just one of the question and its best sentence is negated"],
        ),
    ],
)
def test_why_it_abstained(text, reasons):
    assert text == "; ".join([LOW, *reasons])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            said("old mill", OLD, probability=0.8, text_coverage=1.0),
            "answered: P = 0.80, gate.min_probability asks for 0.50; the closest candidate holds 100% of the "
            "question's weight",
        ),
        (
            said("old mill", OLD, MILL, probability=0.5, score_above_second=0.3),
            "answered: P = 0.50, gate.min_probability asks for 0.50; the best score is 0.30 above the second",
        ),
    ],
)
def test_why_it_answered(text, expected):
    assert text == expected


def test_a_name_in_any_candidate_is_not_called_missing():
    far = [{"text": f"Mill {number}.", "cosine": 0.5} for number in range(9)]
    assert "no candidate" not in said(
        "Did Caroline paint?", *far, {"text": "caroline's horse", "cosine": 0.1}
    )
    assert "no candidate" in said("Did Caroline paint?", *far)


def test_groups_by_how_far_they_moved():
    moved = {
        "best_score": -0.3,
        "best_cosine": -0.3,
        "terms_lacking": -0.5,
        "contradicts": -0.05,
        "text_coverage": 0.2,
    }
    assert ordered(moved, downward=True) == ["nearness", "coverage"]
    assert ordered(moved, downward=False) == []
