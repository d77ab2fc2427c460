"""The real loading code of sentence-transformers over a tiny random model made on the spot."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from core.errors import ModelError, UsageError
from core.models.registry import embedder, entailment, reranker

ROOT = Path(__file__).resolve().parents[3]
TEXTS = ["the sea", "", "the harbour and the sea", " \n"]
present = pytest.mark.skipif(
    find_spec("sentence_transformers") is None, reason="the extra cross-encoder is not installed"
)


@present
def test_a_cross_encoder_scores_each_pair_and_puts_blanks_last(tiny_bert: Path):
    from sentence_transformers import CrossEncoder

    model = reranker(f"cross-encoder:{tiny_bert}")
    assert model is not None
    assert model.space == f"cross-encoder/{str(tiny_bert).replace('/', '--')}"
    scores = model.scores("where is the harbour", TEXTS)
    expected = CrossEncoder(str(tiny_bert)).predict([("where is the harbour", TEXTS[0])])
    assert (scores.shape, scores.dtype) == ((4,), np.float32)
    assert scores[0] == pytest.approx(float(expected[0]), abs=1e-5)
    assert scores[0] != scores[2]
    assert scores[1] == scores[3] == -1000
    assert (model.scores("  ", TEXTS) == -1000).all()
    assert model.scores("q", []).shape == (0,)


@present
def test_a_bi_encoder_gives_unit_rows_and_zeros_for_blanks(tiny_bert: Path):
    model = embedder(f"sentence-transformers:{tiny_bert}")
    seen: list[int] = []
    rows = model.embed(TEXTS, seen.append)
    assert (model.dim, rows.shape, rows.dtype) == (32, (4, 32), np.float32)
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 0, 1, 0], abs=1e-5)
    assert sum(seen) == 4


@present
def test_an_entailment_model_gives_the_probability_of_its_label(tiny_nli: Path):
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model = entailment(f"cross-encoder:{tiny_nli}")
    assert model.space == f"probability/nli-{str(tiny_nli).replace('/', '--')}"
    pairs = [
        ("the sea is calm", "the sea"),
        ("the sea", "the harbour and the sea"),
        (" ", "the sea"),
        ("the sea", ""),
    ]
    found = model.probabilities(pairs)
    tokens = AutoTokenizer.from_pretrained(tiny_nli)(*map(list, zip(*pairs[:2], strict=True)), padding=True,
                                                     return_tensors="pt")  # fmt: skip
    with torch.no_grad():
        logits = AutoModelForSequenceClassification.from_pretrained(tiny_nli).eval()(**tokens).logits
    expected = torch.softmax(logits, dim=1)[:, 1].numpy()
    assert (found.shape, found.dtype) == ((4,), np.float32)
    assert found[:2] == pytest.approx(expected, abs=1e-5)
    assert found[0] != pytest.approx(found[1], abs=1e-4)
    assert found[2] == found[3] == 0
    assert model.probabilities([]).shape == (0,)


@present
def test_a_model_without_that_label_is_refused(tiny_bert: Path):
    with pytest.raises(ModelError, match=r"judges no entailment: its labels are LABEL_0; choose"):
        entailment(f"cross-encoder:{tiny_bert}")


@pytest.mark.parametrize("name", ["", "cross-encoder", "cross-encoder:", "nli:x"])
def test_an_unknown_entailment_model_is_refused(name: str):
    with pytest.raises(UsageError, match=f"no entailment model '{name}'; there is cross-encoder:NAME"):
        entailment(name)


@present
def test_a_model_that_is_not_there_is_one_line(tmp_path: Path):
    with pytest.raises(ModelError, match=r"model '.*nowhere' cannot be loaded: ") as caught:
        reranker(f"cross-encoder:{tmp_path / 'nowhere'}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("call", ["reranker('cross-encoder:any')", "embedder('sentence-transformers:any')"])
def test_without_the_extra_one_line_says_how_to_install_it(call: str):
    code = (
        "import sys; sys.modules['sentence_transformers'] = None\n"
        "from core.errors import ModelError\nfrom core.models.registry import embedder, reranker\n"
        f"try:\n    {call}\nexcept ModelError as error:\n    print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.stdout == "model 'any' needs an extra: pip install 'assay[cross-encoder]'\n"
