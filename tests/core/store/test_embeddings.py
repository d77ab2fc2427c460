"""The embedding cache: what goes in comes out, what is no vector is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from core.errors import StoreError
from core.store import Store
from core.store.embeddings import Embeddings
from tests.backends import Place


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory, at: Place) -> Iterator[Embeddings]:
    with Store.open(at(tmp_path_factory.mktemp("cache") / "a.db")) as store:
        yield store.embeddings


@settings(max_examples=25, deadline=None)
@given(
    vectors=arrays(
        np.float32,
        st.tuples(st.integers(1, 5), st.integers(1, 8)),
        elements=st.floats(width=32, allow_nan=False, allow_infinity=False),
    )
)
def test_vectors_come_back_bit_by_bit(vectors: np.ndarray, cache: Embeddings) -> None:
    hashes = [f"h{row}" for row in range(len(vectors))]
    cache.put("model", hashes, vectors)
    found = cache.get("model", [*hashes, "unknown", *hashes])
    assert set(found) == set(hashes)
    for row, key in enumerate(hashes):
        assert found[key].dtype == np.dtype("<f4")
        assert found[key].tobytes() == vectors[row].astype("<f4").tobytes()


def test_a_vector_belongs_to_its_model_and_can_be_replaced(tmp_path: Path, at: Place) -> None:
    with Store.open(at(tmp_path / "a.db")) as store:
        cache = store.embeddings
        cache.put("one", ["h"], np.array([[1, 2]], dtype=np.float32))
        assert cache.get("two", ["h"]) == {}
        assert cache.known("two", ["h"]) == set()
        cache.put("two", ["h", "g"], np.array([[3, 4], [5, 6]], dtype=np.float32))
        cache.put("one", ["h"], np.array([[7, 8]], dtype=np.float32))
        assert (cache.count("one"), cache.count("two"), cache.count("three")) == (1, 2, 0)
        assert cache.known("two", ["g", "h", "x"]) == {"g", "h"}
        assert cache.get("one", ["h"])["h"].tolist() == [7, 8]
    with Store.open(at(tmp_path / "a.db")) as store:  # and it was acknowledged
        assert store.embeddings.get("two", ["g"])["g"].tolist() == [5, 6]


def test_a_vector_of_zeros_is_legal(cache: Embeddings) -> None:
    cache.put("zero", ["h"], np.zeros((1, 3), dtype=np.float32))
    assert cache.get("zero", ["h"])["h"].tolist() == [0, 0, 0]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_refused_with_all_that_came_along(value: float, cache: Embeddings) -> None:
    vectors = np.ones((3, 2), dtype=np.float32)
    vectors[1, 1] = value
    with pytest.raises(StoreError, match="model odd gave a vector that is not finite"):
        cache.put("odd", ["a", "b", "c"], vectors)
    assert cache.count("odd") == 0


@pytest.mark.parametrize("shape", [(2, 4), (4, 4), (3,), (3, 4, 1), (0, 4)])
def test_shapes_that_do_not_fit_are_refused(shape: tuple[int, ...], cache: Embeddings) -> None:
    with pytest.raises(StoreError, match=r"3 texts but vectors of shape .*: expected \(3, dim\)"):
        cache.put("shape", ["a", "b", "c"], np.ones(shape, dtype=np.float32))
    assert cache.count("shape") == 0


def test_thousands_are_asked_for_at_once(tmp_path: Path, at: Place) -> None:
    hashes = [f"{n:064x}" for n in range(5_000)]
    vectors = np.arange(5_000, dtype=np.float32)[:, None]
    with Store.open(at(tmp_path / "a.db")) as store:
        store.embeddings.put("m", hashes, vectors)
        found = store.embeddings.get("m", hashes)
        assert [found[key][0] for key in hashes] == list(range(5_000))
        assert store.embeddings.known("m", hashes) == set(hashes)
