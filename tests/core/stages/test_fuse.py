import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from core.stages import fuse

SCORES = npst.arrays(np.float32, st.integers(0, 30), elements=st.floats(-5, 5, width=32, allow_nan=False))


def f32(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float32)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        (f32(), f32()),
        (f32(3), f32(0)),
        (f32(2, 2), f32(0, 0)),
        (f32(1, 2, 5), f32(0, 0.25, 1)),
        (f32(-1, 1), f32(0, 1)),
    ],
)
def test_min_max(scores, expected):
    np.testing.assert_allclose(fuse.min_max(scores), expected)


@given(SCORES)
def test_min_max_keeps_the_order_and_stays_in_the_unit_interval(scores):
    scaled = fuse.min_max(scores)
    assert scaled.dtype == np.float32
    assert ((scaled >= 0) & (scaled <= 1)).all()
    order = np.argsort(scores, kind="stable")
    assert (np.diff(scaled[order]) >= 0).all()


def test_blend_clips_both_sides():
    np.testing.assert_allclose(fuse.blend(f32(0.4, 1.2), f32(0.2, -0.5), 0.25), f32(0.25, 0.25), atol=1e-7)


@pytest.mark.parametrize(
    ("weight", "expected"), [(1.0, f32(1, 0, 0.5)), (0.0, f32(0, 1, 0.5)), (0.5, f32(0.5, 0.5, 0.5))]
)
def test_convex(weight, expected):
    np.testing.assert_allclose(fuse.convex(f32(10, 0, 5), f32(0.1, 0.9, 0.5), weight), expected, atol=1e-6)


def test_reciprocal_rank_by_hand():
    fused = fuse.reciprocal_rank(f32(3, 2, 1), f32(0.1, 0.9, 0.5), 60)
    np.testing.assert_allclose(fused, f32(1 / 61 + 1 / 63, 1 / 62 + 1 / 61, 1 / 63 + 1 / 62), rtol=1e-6)


def test_neighbours_add_their_share_and_only_inside_the_pool():
    rows = np.array([3, 4, 7])
    neighbours = np.array([[2, 4], [3, 5], [-1, -1]])
    fused = fuse.with_neighbours(f32(1, 2, 4), rows, neighbours, 0.5)
    np.testing.assert_allclose(fused, f32(1 + 0.5 * 2, 2 + 0.5 * 1, 4))


def test_no_neighbour_weight_leaves_the_scores_alone():
    scores = f32(1, 2)
    assert fuse.with_neighbours(scores, np.array([0, 1]), np.array([[-1, 1], [0, -1]]), 0.0) is scores


def test_what_has_no_word_of_the_question_has_no_rank_by_words():
    fused = fuse.reciprocal_rank(f32(0, 2, 0), f32(0.1, 0.5, 0.9), 60)
    assert fused.tolist() == pytest.approx([1 / 63, 1 / 61 + 1 / 62, 1 / 61])
