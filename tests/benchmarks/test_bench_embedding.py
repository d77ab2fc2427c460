"""MiniLM's rate against a bare onnxruntime loop over the same batches, both in this run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np
import pytest

from core.models import minilm
from core.models.minilm import MiniLM

ROUNDS = 5


def bare_batches(texts: list[str]) -> list[dict[str, np.ndarray]]:
    """The inputs ``embed`` gives its session, made beforehand."""
    inputs: list[dict[str, np.ndarray]] = []

    class Recorder:
        def run(self, names: list[str], given: dict[str, np.ndarray]) -> list[np.ndarray]:
            inputs.append(given)
            return [np.ones((*given["input_ids"].shape, minilm.DIM), dtype=np.float32)]

    loaded = minilm._loaded
    minilm._loaded = lambda: (Recorder(), minilm._tokenizer())
    try:
        MiniLM().embed(texts)
    finally:
        minilm._loaded = loaded
    return inputs


def seconds(work: Callable[[], object]) -> float:
    started = perf_counter()
    work()
    return perf_counter() - started


@pytest.mark.bench
@pytest.mark.data
@pytest.mark.parametrize("part", ["passages", "questions"])
def test_embedding_keeps_nine_tenths_of_the_bare_rate(public_data: Path, part: str):
    lines = (public_data / "clapnq" / "dev_answerable.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    texts = [record["passages"][0]["text"] for record in records[:48]]
    if part == "questions":
        texts = [record["input"] for record in records]
    model, (session, _), inputs = MiniLM(), minilm._loaded(), bare_batches(texts)
    model.embed(texts[:8])
    ours, bare = [], []
    for _ in range(ROUNDS):  # taken in turns, so that other load meets both
        ours.append(seconds(lambda: model.embed(texts)))
        bare.append(seconds(lambda: [session.run(["last_hidden_state"], given) for given in inputs]))
    ratio = min(bare) / min(ours)
    print(f"\n{part}: {len(texts) / min(ours):.1f} texts/s, {ratio:.3f} of the bare loop's rate")
    assert ratio >= 0.9
