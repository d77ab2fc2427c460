"""The TF-IDF embedder against scikit-learn's vectorizer, and what it makes of texts without terms."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from core.models.tfidf_embedder import TfidfEmbedder
from core.text import stems

TEXTS = [
    "the old mill by the river",
    "a river and a bridge, a bridge",
    "mills and bridges",
    "the mayor opened it",
]


def test_vectors_are_scikit_learns() -> None:
    model = TfidfEmbedder(TEXTS)
    vectorizer = TfidfVectorizer(analyzer=stems, sublinear_tf=True)
    expected = vectorizer.fit_transform(TEXTS).toarray()
    asked = ["bridge bridge mill", "opened by nobody"]
    np.testing.assert_allclose(
        model.embed(TEXTS) @ model.embed(asked).T,
        expected @ vectorizer.transform(asked).toarray().T,
        atol=1e-6,
    )
    assert model.dim == expected.shape[1]


def test_rows_are_of_unit_length_or_zero() -> None:
    model = TfidfEmbedder(TEXTS, features=3)
    rows = model.embed([*TEXTS, "", "the of", "unknown words"])
    assert rows.shape == (7, 3)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), [1, 1, 1, 0, 0, 0, 0], atol=1e-6)
    assert model.embed([]).shape == (0, 3)


def test_another_corpus_is_another_space() -> None:
    assert TfidfEmbedder(TEXTS).model_id == TfidfEmbedder(list(TEXTS)).model_id
    assert TfidfEmbedder(TEXTS).model_id != TfidfEmbedder(TEXTS[:-1]).model_id
    with pytest.raises(ValueError, match="there is no term in these texts"):
        TfidfEmbedder(["the", ""])
