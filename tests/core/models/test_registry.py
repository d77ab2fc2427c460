"""Models by name, and the static embedder."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from core.errors import ModelError, UsageError
from core.models.maxsim import MaxSim
from core.models.minilm import MiniLM
from core.models.registry import embedder, reranker
from core.models.wordllama import WordLlama

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    ("name", "environment", "kind"),
    [
        (None, None, MiniLM),
        ("minilm", "wordllama", MiniLM),
        (None, "wordllama", WordLlama),
        ("wordllama", None, WordLlama),
    ],
)
def test_the_name_wins_over_the_environment_and_minilm_is_the_default(monkeypatch, name, environment, kind):
    monkeypatch.delenv("ASSAY_EMBEDDER", raising=False)
    if environment:
        monkeypatch.setenv("ASSAY_EMBEDDER", environment)
    assert isinstance(embedder(name), kind)


@pytest.mark.parametrize("name", ["bert", "openai", "openai:", "sentence-transformers", "minilm:x", "MiniLM"])
def test_an_unknown_embedder_lists_those_there_are(name):
    with pytest.raises(
        UsageError, match=rf"no embedder '{name}'; there are minilm, wordllama, openai:MODEL, "
    ):
        embedder(name)


def test_rerankers_by_the_profile_s_value():
    assert reranker("none") is None
    maxsim = reranker("maxsim")
    assert isinstance(maxsim, MaxSim)
    assert maxsim.space == "maxsim/minilm-l6-int8"
    with pytest.raises(
        UsageError, match="no reranker 'cross-encoder'; there are none, overlap, maxsim, cross-encoder:NAME"
    ):
        reranker("cross-encoder")


def test_importing_the_registry_loads_no_model_library():
    slow = "onnxruntime tokenizers wordllama anthropic openai httpx2 faiss sklearn torch sentence_transformers".split()
    code = f"import sys, core.models.registry; print([name for name in {slow!r} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.stdout.strip() == "[]"


def test_wordllama_gives_unit_rows_and_zeros_without_words_whatever_the_batch():
    texts = [
        "the sea",
        "",
        "A long text about ships and harbours. " * 60,
        "  \n",
        "ships in the harbour",
        "x\ud800",
    ]
    seen: list[int] = []
    model = WordLlama()
    rows = model.embed(texts, seen.append)
    assert (rows.shape, rows.dtype, model.model_id) == ((6, 256), np.float32, "wordllama-256")
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 0, 1, 0, 1, 1], abs=1e-5)
    assert np.array_equal(rows, np.vstack([model.embed([text]) for text in texts]))
    assert rows[2] @ rows[4] > rows[2] @ rows[0]
    assert sum(seen) == 6
    assert model.embed([]).shape == (0, 256)


def test_wordllama_leaves_the_process_s_logging_alone():
    code = (
        "import logging; from core.models.wordllama import WordLlama; WordLlama().embed(['x']); "
        "print(logging.getLogger().level, logging.getLogger().handlers)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.stdout.strip() == f"{logging.WARNING} []"


def test_wordllama_without_its_files_says_what_to_do(monkeypatch, tmp_path):
    import wordllama

    from core.models import wordllama as module

    monkeypatch.setattr(wordllama, "__file__", str(tmp_path / "__init__.py"))
    module._model.cache_clear()
    with pytest.raises(ModelError, match=r"WordLlama's files cannot be loaded \(.*\); reinstall wordllama"):
        module._model()
