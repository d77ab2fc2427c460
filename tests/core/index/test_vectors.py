import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.index import vectors as module
from core.index.vectors import FaissIndex

DIM = 4
# ±½ in four dimensions: exactly unit vectors whose cosines are exact multiples of ½, so that ties are exact
exact_rows = st.lists(st.sampled_from([-0.5, 0.5]), min_size=DIM, max_size=DIM)
missing_rows = st.sampled_from([[0.0] * DIM, [np.nan, 1, 0, 0], [0, np.inf, 0, 0]])
tables = st.lists(st.one_of(exact_rows, exact_rows, exact_rows, missing_rows), min_size=1, max_size=30).map(
    lambda rows: np.array(rows, dtype=np.float32)
)


def brute(table: np.ndarray, query: np.ndarray, k: int, mask: np.ndarray | None) -> list[tuple[int, float]]:
    """By (−cosine, row) among the rows that have a vector."""
    allowed = np.isfinite(table).all(axis=1) & table.any(axis=1) & (True if mask is None else mask)
    found = [(row, float(table[row].astype(float) @ query)) for row in np.flatnonzero(allowed)]
    return sorted(found, key=lambda item: (-item[1], item[0]))[:k]


def listed(result: tuple[np.ndarray, np.ndarray]) -> list[tuple[int, float]]:
    rows, cosines = result
    assert cosines.dtype == np.float32
    return list(zip(rows.tolist(), cosines.tolist(), strict=True))


@settings(max_examples=300, deadline=None)
@given(tables, exact_rows, st.integers(0, 35), st.data())
def test_flat_search_equals_brute_force(table, query, k, data):
    query = np.array(query, dtype=np.float32)
    mask = data.draw(st.none() | st.lists(st.booleans(), min_size=len(table), max_size=len(table)))
    mask = None if mask is None else np.array(mask)
    index = FaissIndex.build(table)
    assert index.exact
    assert len(index) == len(table)
    assert listed(index.search(query, k, mask)) == brute(table, query, k, mask)


@settings(max_examples=60, deadline=None)
@given(tables, exact_rows, st.integers(1, 35), st.data())
def test_graph_search_finds_as_many_as_there_are(table, query, k, data):
    query = np.array(query, dtype=np.float32)
    mask = data.draw(st.none() | st.lists(st.booleans(), min_size=len(table), max_size=len(table)))
    mask = None if mask is None else np.array(mask)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "FLAT_LIMIT", 0)
        found = listed(FaissIndex.build(table, flat_limit=0).search(query, k, mask))
    expected = brute(table, query, 10**6, mask)
    assert len(found) == min(k, len(expected))
    assert set(found) <= set(expected)
    assert found == sorted(found, key=lambda item: (-item[1], item[0]))


@pytest.fixture(scope="module")
def clustered() -> np.ndarray:
    """(20000, 32) unit rows around 200 centres."""
    random = np.random.default_rng(11)
    centres = random.standard_normal((200, 32))
    table = centres[random.integers(200, size=20_000)] + 0.5 * random.standard_normal((20_000, 32))
    return (table / np.linalg.norm(table, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def graph(clustered) -> FaissIndex:
    index = FaissIndex.build(clustered, flat_limit=1000)
    assert not index.exact
    return index


@pytest.fixture
def graph_only(monkeypatch):
    """Small sets of members are not searched exactly either."""
    monkeypatch.setattr(module, "FLAT_LIMIT", 0)


def queries(table: np.ndarray, count: int) -> np.ndarray:
    random = np.random.default_rng(12)
    near = table[random.integers(len(table), size=count)] + 0.1 * random.standard_normal(
        (count, table.shape[1])
    )
    return (near / np.linalg.norm(near, axis=1, keepdims=True)).astype(np.float32)


def recall(
    index: FaissIndex, table: np.ndarray, mask: np.ndarray | None, k: int = 10, count: int = 100
) -> float:
    hits = 0
    for query in queries(table, count):
        rows, cosines = index.search(query, k, mask)
        assert len(rows) == k
        np.testing.assert_allclose(cosines, table[rows] @ query, atol=1e-5)
        cosine = table @ query if mask is None else np.where(mask, table @ query, -2)
        hits += len(set(rows) & set(np.argsort(-cosine, kind="stable")[:k]))
    return hits / (k * count)


def test_the_graph_finds_nearly_all_of_the_ten_nearest(graph, clustered, graph_only):
    assert recall(graph, clustered, None) >= 0.95


@pytest.mark.parametrize("share", [0.01, 0.5])
def test_the_graph_under_a_filter(share, graph, clustered, graph_only):
    mask = np.random.default_rng(13).random(len(clustered)) < share
    assert recall(graph, clustered, mask, count=30) >= 0.9
    for query in queries(clustered, 5):
        rows, _ = graph.search(query, 10**6, mask)
        assert sorted(rows) == np.flatnonzero(mask).tolist()


def test_a_filter_that_leaves_one_row(graph, clustered, graph_only):
    for row in (0, 777, 19_999):
        mask = np.zeros(len(clustered), dtype=bool)
        mask[row] = True
        for query in queries(clustered, 5):
            rows, cosines = graph.search(query, 10, mask)
            assert rows.tolist() == [row]
            assert cosines[0] == pytest.approx(float(clustered[row] @ query), abs=1e-5)


def test_few_members_of_a_graph_are_searched_exactly(graph, clustered):
    mask = np.random.default_rng(14).random(len(clustered)) < 0.5
    assert recall(graph, clustered, mask, count=20) == 1


def test_a_filter_that_leaves_nothing(graph, clustered):
    rows, cosines = graph.search(clustered[0], 5, np.zeros(len(clustered), dtype=bool))
    assert rows.size == cosines.size == 0


def test_many_equal_vectors_fill_the_result(graph_only):
    table = np.tile(np.array([[0.6, 0.8]], dtype=np.float32), (500, 1))
    rows, cosines = FaissIndex.build(table, flat_limit=100).search(table[0], 300)
    assert len(set(rows.tolist())) == 300
    np.testing.assert_allclose(cosines, 1, atol=1e-6)


@pytest.mark.parametrize("flat_limit", [10, 10_000])
def test_a_saved_index_answers_alike(flat_limit, clustered, tmp_path):
    table = clustered[:3000].copy()
    table[[5, 6]] = 0
    index = FaissIndex.build(table, flat_limit=flat_limit)
    index.save(tmp_path)
    again = FaissIndex.load(tmp_path)
    assert (len(again), again.exact) == (3000, flat_limit == 10_000)
    mask = np.arange(3000) % 3 == 0
    for query in queries(clustered, 10):
        for allowed in (None, mask):
            assert listed(again.search(query, 20, allowed)) == listed(index.search(query, 20, allowed))
    assert (again.vectors(np.arange(3000)) == table).all()


@pytest.mark.parametrize("flat_limit", [1, 100])
def test_vectors_and_cosines_of_any_rows(flat_limit):
    table = np.array([[0.6, 0.8], [0, 0], [1, 0], [np.nan, 0], [0, -1]], dtype=np.float32)
    index = FaissIndex.build(table, flat_limit=flat_limit)
    rows = np.array([4, 1, 0, 3, 0])
    expected = np.array([[0, -1], [0, 0], [0.6, 0.8], [0, 0], [0.6, 0.8]], dtype=np.float32)
    assert (index.vectors(rows) == expected).all()
    np.testing.assert_allclose(index.cosines(np.array([0, 1], dtype=np.float32), rows), [-1, 0, 0.8, 0, 0.8])
    assert index.vectors(np.empty(0, dtype=np.int64)).shape == (0, 2)


def test_a_copy_of_vectors_is_the_caller_s_own():
    index = FaissIndex.build(np.eye(3, dtype=np.float32))
    index.vectors(np.array([0]))[:] = 7
    assert index.vectors(np.array([0])).tolist() == [[1, 0, 0]]


@pytest.mark.parametrize("table", [np.zeros((0, 3)), np.zeros((2, 3)), np.full((2, 3), np.nan)])
def test_an_index_without_a_single_vector(table, tmp_path):
    built = FaissIndex.build(table.astype(np.float32))
    built.save(tmp_path)
    for index in (built, FaissIndex.load(tmp_path)):
        assert len(index) == len(table)
        rows, cosines = index.search(np.ones(3, dtype=np.float32), 5)
        assert rows.size == cosines.size == 0
        assert index.vectors(np.arange(len(table))).shape == table.shape
        assert not index.cosines(np.ones(3, dtype=np.float32), np.arange(len(table))).any()
