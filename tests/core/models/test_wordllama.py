import numpy as np
import pytest

from core.models.wordllama import DIM, WordLlama

TEXTS = [
    "The proxy buffer was set to 10KB.",
    "",
    "  \n",
    "\x00",
    "\u200b",
    "的",
    "!?",
    "lone \ud800",
    "a" * 5000,
]


def test_rows_are_unit_vectors_or_zeros_and_never_nan():
    rows = WordLlama().embed(TEXTS)
    assert rows.shape == (len(TEXTS), DIM)
    assert rows.dtype == np.float32
    assert np.isfinite(rows).all()
    lengths = np.linalg.norm(rows, axis=1)
    assert ((np.abs(lengths - 1) < 1e-5) | (lengths == 0)).all()
    assert lengths[0] > 0
    assert not rows[1:3].any()


def test_no_texts_and_only_blank_texts():
    assert WordLlama().embed([]).shape == (0, DIM)
    assert not WordLlama().embed(["", " "]).any()


def test_a_text_keeps_its_place_and_its_vector_beside_others():
    together = WordLlama().embed(TEXTS)
    for place, text in enumerate(TEXTS):
        np.testing.assert_allclose(WordLlama().embed([text])[0], together[place], atol=1e-5)


def test_similar_meanings_are_nearer_than_strangers():
    question, near, far = WordLlama().embed(
        ["when does the train leave", "The train leaves at noon.", "Buffers overflow in proxies."]
    )
    assert question @ near > question @ far + 0.2


@pytest.mark.parametrize("texts", [["one"], ["one", "two", ""]])
def test_progress_counts_every_text(texts):
    counted: list[int] = []
    WordLlama().embed(texts, counted.append)
    assert sum(counted) == len(texts)
