import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.stages.floor import CHECKS, PASSED, Floor
from core.stages.gate import passes

DOCUMENTED = Floor(min_overlap=0.12, min_score=0.34, strong_overlap=0.2, min_cosine=-1.0)


def f32(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float32)


@pytest.mark.parametrize(
    ("overlap", "score", "felled_by"),
    [
        (0.11, 0.99, "floor.min_overlap"),  # confident but about something else
        (0.12, 0.35, None),
        (0.12, 0.34, "floor.min_score"),  # the score must lie above, not at
        (0.19, 0.10, "floor.min_score"),
        (0.20, 0.00, None),  # strong overlap stands in
        (0.00, 0.00, "floor.min_overlap"),
    ],
)
def test_the_documented_floor(overlap, score, felled_by):
    (verdict,) = DOCUMENTED.verdicts(f32(overlap), f32(score), f32(0.5))
    assert (None if verdict == PASSED else CHECKS[verdict]) == felled_by


def test_a_cosine_floor_alone():
    floor = Floor(min_overlap=0, min_score=0, strong_overlap=0, min_cosine=0.4)
    assert floor.verdicts(f32(0, 0), f32(0, 0), f32(0.39, 0.4)).tolist() == [2, PASSED]


@given(
    st.lists(st.tuples(st.floats(0, 1, width=32), st.floats(0, 1, width=32)), max_size=20),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_a_higher_floor_never_lets_more_through(rows, low, high):
    low, high = sorted((low, high))
    overlap, score = (f32(*(row[i] for row in rows)) for i in (0, 1))
    passed = [
        Floor(min_overlap=0, min_score=cut, strong_overlap=1.01, min_cosine=-1).verdicts(
            overlap, score, score
        )
        == PASSED
        for cut in (low, high)
    ]
    assert not (passed[1] & ~passed[0]).any()


def test_gate_reads_only_what_was_reranked():
    assert passes(f32(0.2, 0.6, np.nan), 0.5).tolist() == [False, True, True]
