import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.stages.recall import best_rows, ordered, union


@pytest.mark.parametrize(
    ("scores", "k", "mask", "expected"),
    [
        ([0.1, 0.9, 0.5], 2, None, [1, 2]),
        ([0.1, 0.9, 0.5], 5, None, [1, 2, 0]),
        ([0.0, 0.9, -1.0], 5, None, [1]),
        ([0.5, 0.5, 0.5], 2, None, [0, 1]),
        ([0.9, 0.8, 0.7], 2, [False, True, True], [1, 2]),
        ([0.9, 0.8, 0.7], 0, None, []),
        ([], 3, None, []),
    ],
)
def test_best_rows(scores, k, mask, expected):
    found = best_rows(np.array(scores, dtype=np.float32), k, None if mask is None else np.array(mask))
    assert found.tolist() == expected


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), max_size=40), st.integers(0, 50), st.data())
def test_best_rows_equals_a_full_sort(scores, k, data):
    mask = data.draw(st.lists(st.booleans(), min_size=len(scores), max_size=len(scores)))
    array = np.array(scores, dtype=np.float32)
    expected = sorted(
        (row for row in range(len(scores)) if mask[row] and scores[row] > 0), key=lambda r: (-scores[r], r)
    )
    assert best_rows(array, k, np.array(mask, dtype=bool)).tolist() == expected[:k]


def test_union_and_order():
    assert union(np.array([4, 1]), np.array([1, 2])).tolist() == [1, 2, 4]
    assert ordered(np.array([0.5, 0.5, 0.9]), np.array([7, 3, 5])).tolist() == [5, 3, 7]
