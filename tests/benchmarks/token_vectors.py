"""About a million real vectors: MiniLM's token vectors of SciFact's abstracts, and of its claims as questions."""

from __future__ import annotations

import gzip
import json
import os
import sys
from pathlib import Path

import numpy as np

from core.models.minilm import DIM, MiniLM

PART = 128
"""Texts embedded at a time."""


def token_vectors(data: Path, kept: Path) -> tuple[np.ndarray, np.ndarray]:
    """(about 1,000,000, 384) of the abstracts with their titles, memory-mapped, and those of the claims; unit rows.

    Computed once (about six minutes) and kept in the folder ``kept``.
    """
    kept.mkdir(parents=True, exist_ok=True)
    for name, texts in (("abstracts", abstracts(data)), ("claims", claims(data))):
        file = kept / f"{name}.f32"
        if not file.is_file():
            _write(file, texts)
    stored = np.memmap(kept / "abstracts.f32", dtype=np.float32, mode="r").reshape(-1, DIM)
    return stored, np.fromfile(kept / "claims.f32", dtype=np.float32).reshape(-1, DIM)


def abstracts(data: Path) -> list[str]:
    """Title and sentences of each of the 5,183 documents."""
    with gzip.open(data / "scifact" / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [" ".join([body["title"], *body["abstract"]]) for body in map(json.loads, lines)]


def claims(data: Path) -> list[str]:
    """The 300 claims of the dev part."""
    lines = (data / "scifact" / "claims_dev.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["claim"] for line in lines]


def _write(file: Path, texts: list[str]) -> None:
    model, partial = MiniLM(), file.with_suffix(".partial")
    with partial.open("wb") as stream:
        for start in range(0, len(texts), PART):
            for tokens in model.token_vectors(texts[start : start + PART]):
                stream.write(np.ascontiguousarray(tokens, dtype=np.float32).tobytes())
    os.replace(partial, file)


if __name__ == "__main__":
    found = token_vectors(Path(sys.argv[1]), Path(sys.argv[2]))
    print(*(vectors.shape for vectors in found))
