"""Cosine search against numpy's brute force: with ties, under filters, by the graph, and read back from files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.index.vectors import FaissIndex


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def clustered(count: int, dim: int, seed: int = 0, spread: float = 0.9) -> np.ndarray:
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((max(1, count // 50), dim))
    return unit(centres[rng.integers(len(centres), size=count)] + spread * rng.standard_normal((count, dim)))


def brute(vectors: np.ndarray, query: np.ndarray, k: int, mask: np.ndarray | None = None) -> list[int]:
    """Row numbers by (−cosine, row); rows of zeros or NaN are never members."""
    cosines = np.array([float(np.sum(vector * query, dtype=np.float32)) for vector in vectors])
    members = np.isfinite(cosines) & vectors.any(axis=1)
    rows = np.flatnonzero(members if mask is None else members & mask)
    return sorted(rows.tolist(), key=lambda row: (-cosines[row], row))[:k]


# Vectors of few small whole numbers: many duplicates and ties, and sums that are exact in any order.
small = st.integers(-2, 2).map(float)


@settings(max_examples=150, deadline=None)
@given(data=st.data(), dim=st.integers(1, 4), count=st.integers(0, 60), k=st.integers(0, 70))
def test_flat_search_equals_brute_force_with_ties_and_masks(data, dim, count, k):
    values = data.draw(st.lists(st.lists(small, min_size=dim, max_size=dim), min_size=count, max_size=count))
    vectors = np.array(values, dtype=np.float32).reshape(count, dim)
    if count and data.draw(st.booleans()):
        vectors[data.draw(st.integers(0, count - 1))] = np.nan
    query = np.array(data.draw(st.lists(small, min_size=dim, max_size=dim)), dtype=np.float32)
    bits = data.draw(st.none() | st.lists(st.booleans(), min_size=count, max_size=count))
    mask = None if bits is None else np.array(bits, dtype=bool)
    rows, cosines = FaissIndex.build(vectors).search(query, k, mask)
    assert rows.tolist() == brute(vectors, query, k, mask)
    assert cosines.tolist() == [float(vectors[row] @ query) for row in rows]


def test_all_ties_come_in_row_order_even_across_the_cut():
    vectors = np.tile(unit(np.ones((1, 8))), (500, 1))
    rows, cosines = FaissIndex.build(vectors).search(vectors[0], 20)
    assert rows.tolist() == list(range(20))
    assert len(set(cosines.tolist())) == 1


@pytest.mark.parametrize("flat_limit", [10_000, 100])
def test_a_filter_that_keeps_one_percent_is_filled_and_exact(flat_limit):
    vectors = clustered(3000, 32)
    index = FaissIndex.build(vectors, flat_limit=flat_limit)
    assert index.exact == (flat_limit == 10_000)
    mask = np.zeros(3000, dtype=bool)
    mask[::100] = True
    for query in clustered(10, 32, seed=1):
        rows, _ = index.search(query, 50, mask)
        assert len(rows) == 30  # every member, though 50 were asked for
        assert rows.tolist() == brute(vectors, query, 50, mask)


def test_the_graph_finds_what_brute_force_finds(monkeypatch):
    vectors = clustered(6000, 48)
    index = FaissIndex.build(vectors, flat_limit=1000)
    monkeypatch.setattr(index, "_exactly", lambda *given: pytest.fail("not the graph"))
    found = sum(
        len(set(index.search(query, 10)[0].tolist()) & set(brute(vectors, query, 10)))
        for query in clustered(40, 48, seed=2)
    )
    assert found / 400 >= 0.95


def test_a_filter_too_wide_for_the_exact_search_is_still_filled(monkeypatch):
    monkeypatch.setattr("core.index.vectors.FILTER_LIMIT", 0)
    monkeypatch.setattr("core.index.vectors.GRAPH_GAIN", 1)
    vectors = clustered(6000, 16)
    index = FaissIndex.build(vectors, flat_limit=1000)
    rng = np.random.default_rng(3)
    for share in (0.005, 0.1, 0.6):
        mask = rng.random(6000) < share
        rows, cosines = index.search(vectors[0], 40, mask)
        assert len(rows) == min(40, mask.sum())
        assert mask[rows].all()
        assert (np.diff(cosines) <= 0).all()


@pytest.mark.parametrize("flat_limit", [1000, 10])
def test_a_cosine_is_one_number_whichever_way_it_is_asked_for(flat_limit):
    vectors = clustered(700, 384)
    index = FaissIndex.build(vectors, flat_limit=flat_limit)
    query = clustered(1, 384, seed=5)[0]
    every = index.cosines(query, np.arange(700))
    mask = np.arange(700) % 3 == 0
    for rows, cosines in (index.search(query, 7), index.search(query, 700), index.search(query, 11, mask)):
        assert np.array_equal(every[rows], cosines)
        assert np.array_equal(index.cosines(query, rows[::-1]), cosines[::-1])
    assert np.allclose(every, vectors @ query, atol=1e-6)


@pytest.mark.parametrize("flat_limit", [1000, 10])
def test_rows_without_a_vector_are_never_found_and_are_named(flat_limit):
    vectors = clustered(200, 16)
    vectors[[0, 199]] = 0
    vectors[57] = np.nan
    vectors[58, 3] = np.inf
    index = FaissIndex.build(vectors, flat_limit=flat_limit)
    assert index.left_out.tolist() == [0, 57, 58, 199]
    assert len(index) == 200
    rows, cosines = index.search(vectors[1], 200)
    assert sorted(rows.tolist()) == [row for row in range(200) if row not in (0, 57, 58, 199)]
    assert np.isfinite(cosines).all()
    assert not index.vectors(np.array([0, 57, 58, 199])).any()
    assert not index.cosines(vectors[1], np.array([0, 57, 58, 199])).any()
    assert np.array_equal(index.vectors(np.array([198, 1, 1])), vectors[[198, 1, 1]])


@pytest.mark.parametrize("vectors", [np.zeros((0, 4)), np.zeros((3, 4)), np.full((2, 4), np.nan)])
def test_an_index_of_nothing_finds_nothing(vectors):
    index = FaissIndex.build(vectors.astype(np.float32))
    query = np.array([1, 0, 0, 0], dtype=np.float32)
    rows, cosines = index.search(query, 5)
    assert (rows.size, cosines.size) == (0, 0)
    assert index.cosines(query, np.arange(len(vectors))).tolist() == [0.0] * len(vectors)
    assert index.vectors(np.arange(len(vectors))).shape == (len(vectors), 4)


@pytest.mark.parametrize("flat_limit", [1000, 10])
def test_a_saved_index_reads_back_equal(tmp_path: Path, flat_limit):
    vectors = clustered(300, 24)
    vectors[5] = 0
    index = FaissIndex.build(vectors, flat_limit=flat_limit)
    index.save(tmp_path)
    again = FaissIndex.load(tmp_path)
    query, mask = vectors[9], np.arange(300) % 2 == 1
    assert (len(again), again.exact, again.left_out.tolist()) == (300, index.exact, [5])
    for found, expected in zip(again.search(query, 12, mask), index.search(query, 12, mask), strict=True):
        assert np.array_equal(found, expected)


def test_equal_vectors_give_an_equal_graph(tmp_path: Path):
    vectors = clustered(3000, 16)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        FaissIndex.build(vectors, flat_limit=100).save(tmp_path / name)
    assert (tmp_path / "one" / "vectors.faiss").read_bytes() == (
        tmp_path / "two" / "vectors.faiss"
    ).read_bytes()
