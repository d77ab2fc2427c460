"""HNSW against the exact search over 100,000 clustered vectors: latency, recall, filters, opening."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

import numpy as np
import pytest

from core.index import persist
from core.index.vectors import FaissIndex

COUNT, DIM, CENTRES, QUESTIONS = 100_000, 384, 2000, 50


def clustered(count: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((CENTRES, DIM), dtype=np.float32)
    rows = centres[rng.integers(CENTRES, size=count)]
    rows += 0.9 * rng.standard_normal((count, DIM), dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def milliseconds(index: FaissIndex, questions: np.ndarray, k: int, mask: np.ndarray | None = None) -> float:
    index.search(questions[0], k, mask)
    started = perf_counter()
    for question in questions:
        index.search(question, k, mask)
    return (perf_counter() - started) * 1000 / len(questions)


@pytest.mark.bench
def test_the_graph_is_faster_than_the_exact_search_and_finds_the_same(tmp_path: Path):
    drawn = clustered(COUNT + QUESTIONS)
    vectors, questions = drawn[:COUNT], drawn[COUNT:]
    started = perf_counter()
    graph = FaissIndex.build(vectors)
    built = perf_counter() - started
    flat = FaissIndex.build(vectors, flat_limit=COUNT)
    print(f"\nbuilt in {built:.0f} s")
    for k in (10, 50, 100, 1000):
        recall = np.mean(
            [len(np.intersect1d(graph.search(q, k)[0], flat.search(q, k)[0])) / k for q in questions]
        )
        times = [milliseconds(index, questions, k) for index in (graph, flat)]
        print(f"k={k}: graph {times[0]:.2f} ms, exact {times[1]:.2f} ms, recall {recall:.3f}")
        if k == 10:
            assert recall >= 0.95
            assert times[0] < times[1]
    for share in (0.01, 0.5):
        mask = np.random.default_rng(1).random(COUNT) < share
        print(f"filter of {share:.0%}: {milliseconds(graph, questions, 100, mask):.2f} ms")
    graph.save(tmp_path)
    started = perf_counter()
    persist._checksum(tmp_path / "vectors.faiss")
    checked = perf_counter()
    FaissIndex.load(tmp_path)
    print(f"checked in {checked - started:.2f} s, read in {perf_counter() - checked:.2f} s")
    assert perf_counter() - started < 5
