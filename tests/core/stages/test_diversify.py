import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from core.stages.diversify import mmr


def naive(relevance, similarity, trade_off):
    """Straight from the definition, one candidate at a time."""
    waiting, taken = list(range(len(relevance))), []
    while waiting:
        value = {
            i: trade_off * float(relevance[i])
            - (1 - trade_off) * max((float(similarity[i][j]) for j in taken), default=0.0)
            for i in waiting
        }
        best = min(waiting, key=lambda i: (-value[i], -relevance[i], i))
        taken.append(best)
        waiting.remove(best)
    return taken


def test_a_near_duplicate_waits_for_something_new():
    relevance = np.array([0.9, 0.89, 0.6], dtype=np.float32)
    similarity = np.array([[1, 0.99, 0.1], [0.99, 1, 0.1], [0.1, 0.1, 1]], dtype=np.float32)
    assert mmr(relevance, similarity, 0.72).tolist() == [0, 2, 1]
    assert mmr(relevance, similarity, 1.0).tolist() == [0, 1, 2]


@pytest.mark.parametrize("count", [0, 1])
def test_nothing_to_diversify(count):
    assert mmr(
        np.ones(count, dtype=np.float32), np.ones((count, count), dtype=np.float32), 0.5
    ).tolist() == list(range(count))


@given(
    st.integers(1, 9).flatmap(
        lambda n: st.tuples(
            npst.arrays(np.float32, n, elements=st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])),
            npst.arrays(np.float32, (n, n), elements=st.sampled_from([0.0, 0.25, 0.5, 1.0])),
        )
    ),
    st.sampled_from([0.0, 0.25, 0.5, 0.75]),
)
def test_equals_the_definition(candidates, trade_off):
    relevance, drawn = candidates
    similarity = np.maximum(drawn, drawn.T)
    assert mmr(relevance, similarity, trade_off).tolist() == naive(relevance, similarity, trade_off)
