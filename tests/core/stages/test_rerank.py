import numpy as np

from core.stages.rerank import mixed, order


def test_weight_one_is_the_reranker_and_weight_zero_the_fused_order():
    fused = np.array([0.9, 0.5, 0.1], dtype=np.float32)
    reranked = np.array([-3.0, 2.0, 7.0], dtype=np.float32)
    assert order(mixed(fused, reranked, 1.0)).tolist() == [2, 1, 0]
    assert order(mixed(fused, reranked, 0.0)).tolist() == [0, 1, 2]
    np.testing.assert_allclose(mixed(fused, reranked, 0.5), [0.5, 0.5, 0.5])


def test_equal_scores_keep_the_order_before():
    assert order(np.zeros(4, dtype=np.float32)).tolist() == [0, 1, 2, 3]
