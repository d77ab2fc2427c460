import sys
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from core.errors import ModelError
from core.models import minilm
from core.models.minilm import DIM, MAX_TOKENS, MiniLM

TEXTS = [
    "Requests over 10KB fail with status 413 at the proxy.",
    "short",
    "",
    "Der Zug fährt um 7:45 Uhr. 🚆",
    " \n\t",
    "long " * 400,
    "A lone surrogate \ud800 in a text.",
    "The proxy buffer was set to 10KB by the upgrade.",
]
BLANK = [2, 4]


@pytest.fixture
def unloaded():
    """Whatever a test puts in place of the model's files is forgotten after it."""
    minilm._session.cache_clear()
    minilm._tokenizer.cache_clear()
    yield
    minilm._session.cache_clear()
    minilm._tokenizer.cache_clear()


def test_rows_are_unit_vectors_and_zeros_without_tokens():
    rows = MiniLM().embed(TEXTS)
    assert rows.shape == (len(TEXTS), DIM)
    assert rows.dtype == np.float32
    spoken = [place for place in range(len(TEXTS)) if place not in BLANK]
    np.testing.assert_allclose(np.linalg.norm(rows[spoken], axis=1), 1, atol=1e-6)
    assert not rows[BLANK].any()


def test_no_texts_give_no_rows():
    assert MiniLM().embed([]).shape == (0, DIM)
    assert MiniLM().token_vectors([]) == []


def test_a_vector_does_not_depend_on_its_batch_mates():
    together = MiniLM().embed(TEXTS * 3)
    alone = np.vstack([MiniLM().embed([text]) for text in TEXTS])
    np.testing.assert_allclose(together, np.tile(alone, (3, 1)), atol=1e-5)


def test_similar_meanings_are_nearer_than_strangers():
    question, near, far = MiniLM().embed(
        ["why do large requests fail?", "Requests over 10KB fail at the proxy.", "Lunch is at the canal."]
    )
    assert question @ near > question @ far + 0.3


def test_a_vector_is_the_unit_mean_of_the_last_hidden_states():
    text = TEXTS[0]
    ids = np.array([minilm._tokenizer().encode(text).ids])
    inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    (states,) = minilm._session().run(["last_hidden_state"], inputs)
    mean = states[0].astype(np.float64).mean(axis=0)
    np.testing.assert_allclose(MiniLM().embed([text])[0], mean / np.linalg.norm(mean), atol=1e-5)


def test_only_the_first_tokens_are_read():
    kept = MAX_TOKENS - 2  # without [CLS] and [SEP]
    vectors = MiniLM().embed(
        ["word " * kept, "word " * kept + "proxy " * 50, "word " * (kept - 40) + "proxy " * 40]
    )
    np.testing.assert_allclose(vectors[0], vectors[1], atol=1e-5)
    assert abs(vectors[0] - vectors[2]).max() > 1e-2


def test_token_vectors_are_one_unit_row_a_word_piece():
    found = MiniLM().token_vectors(TEXTS)
    for text, vectors in zip(TEXTS, found, strict=True):
        pieces = len(minilm._tokenizer().encode(text.replace("\ud800", "?")).ids) - 2
        assert vectors.shape == (pieces, DIM)
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert found[5].shape[0] == MAX_TOKENS - 2
    assert found[BLANK[0]].shape == (0, DIM)


def test_progress_counts_every_text_with_tokens():
    counted: list[int] = []
    MiniLM().embed(TEXTS, counted.append)
    assert sum(counted) == len(TEXTS) - len(BLANK)


@pytest.mark.parametrize("limit", [1, 64, 4096])
def test_batches_cover_every_text_whatever_their_size(limit, monkeypatch):
    expected = MiniLM().embed(TEXTS)
    monkeypatch.setattr(minilm, "BATCH_TOKENS", limit)
    np.testing.assert_allclose(MiniLM().embed(TEXTS), expected, atol=1e-5)


@pytest.mark.parametrize("part", ["_WEIGHTS", "_TOKENIZER"])
def test_missing_files_name_the_package_to_install(part, monkeypatch, unloaded):
    name, digest = getattr(minilm, part)[1:]
    monkeypatch.setattr(minilm, part, ("no_such_weights", name, digest))
    with pytest.raises(ModelError, match=r"is missing: install the package no-such-weights$"):
        MiniLM().embed(["text"])


def test_a_package_without_the_file_counts_as_missing(tmp_path, monkeypatch, unloaded):
    (tmp_path / "hollow_weights").mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(minilm, "_WEIGHTS", ("hollow_weights", *minilm._WEIGHTS[1:]))
    with pytest.raises(ModelError, match="install the package hollow-weights"):
        MiniLM().embed(["text"])


def test_damaged_files_are_refused_before_they_are_read(tmp_path, monkeypatch, unloaded):
    package, name, digest = minilm._TOKENIZER
    sound = Path(minilm._file(package, name, digest)).read_bytes()
    assert sha256(sound).hexdigest() == digest
    copy = tmp_path / "damaged_weights" / name
    copy.parent.mkdir(parents=True)
    copy.write_bytes(sound + b" ")  # it would still parse
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(minilm, "_TOKENIZER", ("damaged_weights", name, digest))
    with pytest.raises(ModelError, match="reinstall damaged_weights") as caught:
        MiniLM().embed(["text"])
    assert str(copy) in str(caught.value)
