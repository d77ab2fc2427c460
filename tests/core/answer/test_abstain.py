"""What an abstention says: why the closest candidate fell, and which value would have let it pass."""

from __future__ import annotations

import pytest

from core.answer.abstain import explained, letting_pass
from core.profile import Value
from core.trace import Drop


def fall(threshold: str, value: float, cut: float, space: str | None = None) -> str:
    return explained(Drop(stage="s", threshold=threshold, cut=cut, value=value, space=space))


@pytest.mark.parametrize(
    ("threshold", "value", "cut", "said"),
    [
        ("floor.min_cosine", 0.2504, 0.3,
         "scored 0.250 in cosine/m, floor.min_cosine asks for 0.300: 0.050 short. floor.min_cosine = 0.25 would"),
        ("floor.min_cosine", 0.29995, 0.3, "scored 0.299950 in cosine/m, floor.min_cosine asks for 0.300000: 0.000050"),
        ("floor.min_score", 0.34, 0.34, "asks for 0.340000: 0.000000 short. floor.min_score = 0.339 would have let"),
        ("floor.min_score", 0.0, 0.34, "No value of floor.min_score in its range would have let it pass this check."),
        ("floor.min_overlap", 0.0, 0.12, "floor.min_overlap = 0 would have let it pass this check."),
        ("similar.facts", 1, 0, "came in place 1, similar.facts takes 0. similar.facts = 1 would have let it pass"),
        ("keywords.seeds", 12, 10, "came in place 12, keywords.seeds takes 10. keywords.seeds = 12 would have let"),
    ],
)  # fmt: skip
def test_a_fall_in_words(threshold: str, value: float, cut: float, said: str) -> None:
    assert said in fall(threshold, value, cut, "cosine/m" if "floor" in threshold else None)


@pytest.mark.parametrize(
    ("threshold", "value", "cut", "expected"),
    [
        ("floor.min_score", 0.31, 0.34, 0.309),  # asks for more than its value
        ("floor.min_score", 0.3104, 0.34, 0.31),
        ("floor.min_overlap", 0.1, 0.12, 0.1),  # as much is enough
        ("floor.min_overlap", 0.0, 0.12, 0.0),
        ("floor.min_score", 0.0, 0.34, None),
        ("floor.min_cosine", -0.2504, 0.75, -0.251),
        ("select.k", 7.0, 5.0, 7),
        ("similar.facts", 51.0, 10.0, None),  # beyond the declared range
        ("no.such", 0.1, 0.2, None),
    ],
)
def test_the_nearest_value_that_lets_pass(
    threshold: str, value: float, cut: float, expected: Value | None
) -> None:
    assert letting_pass(Drop(stage="s", threshold=threshold, cut=cut, value=value)) == expected
