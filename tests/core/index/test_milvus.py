"""What only the Milvus index has: collections several stores share, another search than by name, a server, errors."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from core.errors import StoreError, UsageError
from core.index.opening import Serving
from core.index.source import StoreCorpus
from core.index.syncing import Difference, bring, differences
from core.workspace import Workspace
from tests.backends import TableEmbedder, fill


def unit(count: int, dim: int = 16, seed: int = 0) -> np.ndarray:
    rows = np.random.default_rng(seed).standard_normal((count, dim), dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def best(vectors: np.ndarray, query: np.ndarray, k: int) -> list[int]:
    return np.argsort(-np.einsum("ij,j->i", vectors, query), kind="stable")[:k].tolist()


def opened(store: Path, address: str, vectors: np.ndarray) -> Workspace:
    return Workspace.open(store, embedder=TableEmbedder(vectors), index=f"milvus:{address}")


def index_of(workspace: Workspace):
    return workspace.corpus("node", workspace.store.datasets()).vectors


def table_of(workspace: Workspace):
    source = StoreCorpus(workspace.store, "node", workspace.store.datasets())
    return source, Serving(workspace.store, workspace.index).table("node", workspace.embedder)


def test_two_stores_share_a_file_and_do_not_meet(tmp_path: Path):
    first, second = unit(120), unit(120, seed=1)
    for turn in range(2):  # made, then opened
        for name, vectors in (("a", first), ("b", second)):
            with opened(tmp_path / f"{name}.db", str(tmp_path / "index.db"), vectors) as workspace:
                if not turn:
                    fill(workspace, range(120))
                found, _ = index_of(workspace).search(vectors[7], 20)
                assert found.tolist() == best(vectors, vectors[7], 20)


def test_what_is_damaged_is_found_by_the_store_and_made_anew(tmp_path: Path):
    vectors = unit(100)
    with opened(tmp_path / "a.db", str(tmp_path / "index.db"), vectors) as workspace:
        fill(workspace, range(100))
        index_of(workspace)
        source, table = table_of(workspace)
        assert differences(source, table) == {"main": Difference(rows=100, missing=0, stray=0)}
        (dataset,) = source.datasets
        rows = source.columns().row_ids
        table.drop(dataset, rows[:3])
        table.put(dataset, rows[-1:] + np.arange(1, 5), ["0" * 64] * 4, vectors[:4])
        assert differences(source, table) == {"main": Difference(rows=100, missing=3, stray=4)}
        table.forget([dataset])
        bring(source, table, workspace.embedder)
        assert differences(source, table) == {"main": Difference(rows=100, missing=0, stray=0)}


def test_a_long_filter_is_sifted_here_and_filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """As over many millions of rows, where a filter keeps more than can be named."""
    vectors = unit(900)
    monkeypatch.setattr("core.index.milvus.MOST_HITS", 60)
    with opened(tmp_path / "a.db", f"{tmp_path / 'index.db'}?exact_below=0", vectors) as workspace:
        fill(workspace, range(900))
        index = index_of(workspace)
        for share in (0.9, 0.2):
            mask = np.random.default_rng(2).random(900) < share
            kept = np.flatnonzero(mask)
            found, _ = index.search(vectors[7], 40, mask)
            assert len(set(found.tolist()) & set(kept[best(vectors[kept], vectors[7], 40)].tolist())) >= 39
        assert len(index.search(vectors[7], 100)[0]) == 100  # more than Milvus gives at once
        assert np.array_equal(index.vectors(np.arange(900)), vectors)


def test_the_same_client_asks_a_server(tmp_path: Path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "milvus_lite", "server", "--data-dir", str(tmp_path / "data")]
    with (tmp_path / "log").open("w") as log:
        server = subprocess.Popen([*command, "--port", str(port)], stdout=log, stderr=log)
    try:
        until = time.monotonic() + 60
        while not _listening(port):
            assert server.poll() is None, (tmp_path / "log").read_text()
            assert time.monotonic() < until
            time.sleep(0.1)
        vectors = unit(80)
        with opened(tmp_path / "a.db", f"//127.0.0.1:{port}", vectors) as workspace:
            fill(workspace, range(80))
            assert index_of(workspace).search(vectors[7], 9)[0].tolist() == best(vectors, vectors[7], 9)
    finally:
        server.terminate()
        server.wait(timeout=30)


def _listening(port: int) -> bool:
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.parametrize("address", ["x.sqlite", "index"])
def test_a_file_must_be_named_as_milvus_lite_wants_it(tmp_path: Path, address: str):
    with opened(tmp_path / "a.db", str(tmp_path / address), unit(5)) as workspace:
        fill(workspace, range(5))
        with pytest.raises(UsageError, match=r"whose name ends in \.db"):
            index_of(workspace)


def test_a_server_that_is_not_there_is_said_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("core.index.milvus.TIMEOUT_SECONDS", 1)
    with opened(tmp_path / "a.db", "//127.0.0.1:9", unit(5)) as workspace:
        fill(workspace, range(5))
        with pytest.raises(
            StoreError, match=r"^Milvus at http://127\.0\.0\.1:9: .*or start it; the store itself"
        ):
            index_of(workspace)


def test_without_the_extra_one_line_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pymilvus", None)
    with opened(tmp_path / "a.db", str(tmp_path / "index.db"), unit(5)) as workspace:
        fill(workspace, range(5))
        with pytest.raises(UsageError, match=r"run pip install 'assay\[milvus\]'$"):
            index_of(workspace)
