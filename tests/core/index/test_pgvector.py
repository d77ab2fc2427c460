"""What only the pgvector index has: its graph, its tables and their versions, users who may only read."""

from __future__ import annotations

import sys
import time

import numpy as np
import pytest

from core.errors import StoreError, UsageError
from core.workspace import Workspace
from tests.backends import Server, TableEmbedder, fill

ROWS = 1500


def unit(count: int, dim: int, seed: int = 0) -> np.ndarray:
    rows = np.random.default_rng(seed).standard_normal((count, dim), dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def opened(url: str, vectors: np.ndarray, settings: str = "") -> Workspace:
    return Workspace.open(url, embedder=TableEmbedder(vectors), index=f"pgvector?{settings}")


def index_of(workspace: Workspace):
    return workspace.corpus("node", workspace.store.datasets()).vectors


def graph_scans(postgres: Server, url: str) -> int:
    """How many searches the graph answered; the server counts a search when its connection is gone."""
    until = time.monotonic() + 20
    while postgres.run("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()", url) != [
        (1,)
    ]:
        assert time.monotonic() < until
        time.sleep(0.02)
    (found,) = postgres.run(
        "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = 'vectors_1_graph'", url
    )
    return int(found[0])


@pytest.mark.parametrize("order", ["relaxed_order", "strict_order"])
@pytest.mark.parametrize(("dim", "kept"), [(24, 1.0), (24, 0.01), (2100, 1.0)])
def test_a_search_goes_by_the_graph_also_under_a_filter(postgres: Server, order: str, dim: int, kept: float):
    count = ROWS if dim < 2000 else 60
    vectors, url = unit(count, dim), postgres.url()
    with opened(url, vectors, f"exact_below=0&ef_search=40&iterative_scan={order}") as workspace:
        fill(workspace, range(count))
        index = index_of(workspace)
        mask = np.random.default_rng(1).random(count) < kept
        rows, _ = index.search(vectors[5], 10, mask)
        assert len(rows) == min(10, int(mask.sum()))
        assert mask[rows].all()
    assert graph_scans(postgres, url) > 0


def test_few_rows_are_searched_exactly_though_there_is_a_graph(postgres: Server):
    vectors, url = unit(ROWS, 16), postgres.url()
    with opened(url, vectors, "exact_below=1000") as workspace:
        fill(workspace, range(ROWS))
        index = index_of(workspace)
        mask = np.arange(ROWS) % 2 == 0
        rows, _ = index.search(vectors[8], 20, mask)
        even = np.flatnonzero(mask)
        best = even[np.argsort(-np.einsum("ij,j->i", vectors[even], vectors[8]), kind="stable")[:20]]
        assert rows.tolist() == best.tolist()
        assert not index.exact
    assert graph_scans(postgres, url) == 0


def test_a_text_that_changes_brings_one_vector_and_a_dataset_that_goes_takes_its_own(postgres: Server):
    vectors, url = unit(60, 8), postgres.url()
    with opened(url, vectors) as workspace:
        fill(workspace, range(50))
        index_of(workspace)
        before = dict(postgres.run("SELECT row_id, xmin::text FROM vectors_1", url))
        fill(workspace, range(50, 60))
        index_of(workspace)
        after = dict(postgres.run("SELECT row_id, xmin::text FROM vectors_1", url))
        assert len(before) == 50
        assert len(after) == 60
        assert all(after[row_id] == written for row_id, written in before.items())
        workspace.store.delete_dataset("main")
    assert postgres.run("SELECT count(*) FROM vectors_1", url) == [(0,)]
    assert postgres.run("SELECT count(*) FROM vector_revision", url) == [(0,)]


def test_a_user_who_may_only_read_asks_what_is_there_and_else_works_in_memory(postgres: Server):
    vectors, url = unit(30, 8), postgres.url()
    with opened(url, vectors) as workspace:
        fill(workspace, range(20))
        expected = index_of(workspace).search(vectors[3], 5)[0].tolist()
        fill(workspace, range(20, 30), "other")
        workspace.store.embeddings.put("table", _hashes(range(20, 30)), vectors[20:])
    (name,) = postgres.run("SELECT current_database()", url)[0]
    postgres.run(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    with opened(url, vectors) as workspace:
        first, second = (workspace.store.matching(name) for name in ("main", "other"))
        assert workspace.corpus("node", first).vectors.search(vectors[3], 5)[0].tolist() == expected
        corpus = workspace.corpus("node", second)
        assert corpus.vectors.search(vectors[25], 1)[0].tolist() == [5]
        assert len(corpus.notices) == 1
        assert corpus.notices[0].startswith("vector index of nodes is kept in memory only: ")
        assert "another revision" in corpus.notices[0]


def test_a_server_without_pgvector_is_said_in_one_line(postgres: Server):
    vectors, url = unit(10, 8), postgres.url()
    (name,) = postgres.run("SELECT current_database()", url)[0]
    postgres.run(f"ALTER DATABASE {name} SET extension_control_path = '/nowhere'")
    with opened(url, vectors) as workspace:
        fill(workspace, range(10))
        with pytest.raises(StoreError, match=r"its server has no pgvector; install it there.*--index faiss$"):
            index_of(workspace)
    with Workspace.open(url, embedder=TableEmbedder(vectors), index="faiss") as workspace:
        assert index_of(workspace).search(vectors[3], 1)[0].tolist() == [3]


def test_tables_of_a_newer_version_are_refused(postgres: Server):
    vectors, url = unit(10, 8), postgres.url()
    with opened(url, vectors) as workspace:
        fill(workspace, range(10))
        index_of(workspace)
    postgres.run("UPDATE vector_schema SET version = 99", url)
    with opened(url, vectors) as workspace, pytest.raises(StoreError, match="of a newer Assay"):
        index_of(workspace)


def test_vectors_of_another_length_under_the_same_name_are_refused(postgres: Server):
    vectors, url = unit(10, 8), postgres.url()
    with opened(url, vectors) as workspace:
        fill(workspace, range(10))
        index_of(workspace)
    with opened(url, unit(10, 12)) as workspace, pytest.raises(StoreError, match="with 8 dimensions"):
        index_of(workspace)


def test_without_the_extra_one_line_says_what_to_install(postgres: Server, monkeypatch: pytest.MonkeyPatch):
    vectors = unit(10, 8)
    with opened(postgres.url(), vectors) as workspace:
        fill(workspace, range(10))
        monkeypatch.setitem(sys.modules, "pgvector", None)
        with pytest.raises(UsageError, match=r"run pip install 'assay\[postgres\]'$"):
            index_of(workspace)


def _hashes(rows: range) -> list[str]:
    from core.records import text_hash

    return [text_hash(f"row {row}.") for row in rows]
