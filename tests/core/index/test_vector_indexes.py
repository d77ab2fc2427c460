"""Every vector index over every store gives the same: rankings, cosines, filters, what is left out, what changes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from core.index.corpus import Corpus
from core.workspace import Workspace
from tests.backends import Backend, TableEmbedder, fill

GRAPH_ROWS = 6000
EXACT_ROWS = 400


def clustered(count: int, dim: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(99).standard_normal((40, dim))
    rows = centres[rng.integers(40, size=count)] + 0.6 * rng.standard_normal((count, dim))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def brute(
    vectors: np.ndarray, query: np.ndarray, k: int, mask: np.ndarray | None = None
) -> tuple[list[int], list[float]]:
    """The oracle: all inner products, sorted by (−cosine, row); rows of zeros are never members."""
    cosines = np.einsum("ij,j->i", vectors, query)
    rows = np.flatnonzero(vectors.any(axis=1) if mask is None else vectors.any(axis=1) & mask)
    best = sorted(rows.tolist(), key=lambda row: (-cosines[row], row))[:k]
    return best, cosines[best].tolist()


def corpus_of(workspace: Workspace, dataset: str = "main") -> Corpus:
    return workspace.corpus("node", workspace.store.matching(dataset))


def found(
    corpus: Corpus, query: np.ndarray, k: int, mask: np.ndarray | None = None
) -> tuple[list[int], list[float]]:
    rows, cosines = corpus.vectors.search(query, k, mask)
    return rows.tolist(), cosines.tolist()


def test_an_exact_ranking_is_the_oracles_to_the_bit(backend: Backend, tmp_path: Path):
    vectors = clustered(EXACT_ROWS, 24)
    vectors[[3, 77]] = 0
    vectors[200:220] = vectors[0]  # ties across every cut
    with backend.workspace(tmp_path, TableEmbedder(vectors)) as workspace:
        fill(workspace, range(EXACT_ROWS))
        corpus = corpus_of(workspace)
        assert corpus.vectors.exact
        assert corpus.vectors.left_out.tolist() == [3, 77]
        rng = np.random.default_rng(5)
        for query in [vectors[0], vectors[1], *clustered(5, 24, seed=3)]:
            for k in (1, 10, 30, 1000):
                assert found(corpus, query, k) == brute(vectors, query, k)
                for share in (0.01, 0.3):
                    mask = rng.random(EXACT_ROWS) < share
                    assert found(corpus, query, k, mask) == brute(vectors, query, k, mask)
            nothing = np.zeros(EXACT_ROWS, dtype=bool)
            assert found(corpus, query, 10, nothing) == ([], [])
        assert found(corpus, np.zeros(24, np.float32), 3) == ([0, 1, 2], [0.0] * 3)


def test_vectors_and_cosines_are_those_that_were_stored(backend: Backend, tmp_path: Path):
    vectors = clustered(60, 384)
    vectors[5] = 0
    with backend.workspace(tmp_path, TableEmbedder(vectors)) as workspace:
        fill(workspace, range(60))
        index = corpus_of(workspace).vectors
        rows = np.array([7, 5, 59, 7, 0])
        assert np.array_equal(index.vectors(rows), vectors[rows])
        assert np.array_equal(
            index.cosines(vectors[1], rows), np.einsum("ij,j->i", vectors[rows], vectors[1])
        )
        assert index.vectors(np.empty(0, dtype=np.int64)).shape == (0, 384)


@pytest.fixture(scope="module")
def graph(backend: Backend, tmp_path_factory: pytest.TempPathFactory):
    """A corpus whose every search must go by the graph, and its vectors."""
    vectors = clustered(GRAPH_ROWS, 32)
    workspace = backend.workspace(tmp_path_factory.mktemp("graph"), TableEmbedder(vectors), "exact_below=0")
    with workspace:
        fill(workspace, range(GRAPH_ROWS))
        corpus = corpus_of(workspace)
        assert not corpus.vectors.exact
        yield corpus, vectors


@pytest.mark.parametrize("share", [1.0, 0.5, 0.1, 0.01])
def test_a_graph_finds_what_the_exact_search_finds_and_a_filter_never_underfills_it(graph, share):
    corpus, vectors = graph
    rng = np.random.default_rng(11)
    hits = []
    for query in clustered(40, 32, seed=2):
        mask = None if share == 1 else rng.random(GRAPH_ROWS) < share
        rows, cosines = found(corpus, query, 10, mask)
        assert len(rows) == 10
        assert mask is None or mask[rows].all()
        assert cosines == sorted(cosines, reverse=True)
        hits.append(len(set(rows) & set(brute(vectors, query, 10, mask)[0])) / 10)
    assert np.mean(hits) >= 0.98


def test_a_graph_whose_filter_keeps_fewer_than_asked_gives_all_of_them(graph):
    corpus, vectors = graph
    mask = np.zeros(GRAPH_ROWS, dtype=bool)
    mask[7::500] = True
    query = clustered(1, 32, seed=4)[0]
    assert found(corpus, query, 50, mask) == brute(vectors, query, 50, mask)


def test_changes_of_the_store_are_found_and_nothing_else_is_done_again(backend: Backend, tmp_path: Path):
    vectors = clustered(300, 16)
    with backend.workspace(tmp_path, TableEmbedder(vectors)) as workspace:
        fill(workspace, range(200))
        before = corpus_of(workspace)
        assert found(before, vectors[250], 3) == brute(vectors[:200], vectors[250], 3)
        fill(workspace, range(200, 300))
        after = corpus_of(workspace)
        assert found(after, vectors[250], 3) == brute(vectors, vectors[250], 3)
        assert found(after, vectors[250], 3)[0][0] == 250
        assert found(before, vectors[250], 3) == brute(vectors[:200], vectors[250], 3)


def test_datasets_are_searched_alone_and_together(backend: Backend, tmp_path: Path):
    vectors = clustered(200, 16)
    with backend.workspace(tmp_path, TableEmbedder(vectors)) as workspace:
        fill(workspace, range(120), "set/a")
        fill(workspace, range(120, 200), "set/b")
        both, second = corpus_of(workspace, "set/*"), corpus_of(workspace, "set/b")
        query = vectors[3]
        assert found(both, query, 12) == brute(vectors, query, 12)
        assert found(second, query, 12) == brute(vectors[120:], query, 12)
        workspace.store.delete_dataset("set/a")
        assert found(corpus_of(workspace, "set/*"), query, 12) == brute(vectors[120:], query, 12)


def test_two_models_of_one_store_do_not_meet(backend: Backend, tmp_path: Path):
    vectors, others = clustered(80, 16), clustered(80, 24, seed=8)
    with backend.workspace(tmp_path, TableEmbedder(vectors, "one")) as workspace:
        fill(workspace, range(80))
        assert found(corpus_of(workspace), vectors[5], 9) == brute(vectors, vectors[5], 9)
    other = TableEmbedder(others, "two")
    with backend.workspace(tmp_path, other) as workspace:
        workspace.store.embeddings.put("two", _hashes(80), others)
        assert found(corpus_of(workspace), others[5], 9) == brute(others, others[5], 9)


def test_an_empty_dataset_finds_nothing(backend: Backend, tmp_path: Path):
    vectors = np.zeros((3, 8), dtype=np.float32)
    with backend.workspace(tmp_path, TableEmbedder(vectors)) as workspace:
        fill(workspace, range(3))
        corpus = corpus_of(workspace)
        assert found(corpus, np.ones(8, np.float32), 5) == ([], [])
        assert not corpus.vectors.vectors(np.arange(3)).any()


def test_threads_and_openings_at_once_agree(backend: Backend, tmp_path: Path):
    vectors = clustered(500, 16)
    with backend.workspace(tmp_path, TableEmbedder(vectors)) as workspace:
        fill(workspace, range(500))
        with backend.workspace(tmp_path, TableEmbedder(vectors)) as other, ThreadPoolExecutor(8) as pool:
            corpora = list(pool.map(corpus_of, [workspace, other] * 4))
            answers = pool.map(lambda corpus: found(corpus, vectors[9], 10), corpora)
            assert all(answer == brute(vectors, vectors[9], 10) for answer in answers)


def _hashes(count: int) -> list[str]:
    from core.records import text_hash

    return [text_hash(f"row {row}.") for row in range(count)]
