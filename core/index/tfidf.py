"""TF-IDF cosine and term overlap over one sparse matrix. scikit-learn builds it; an opened index needs only SciPy."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from scipy import sparse

from core.index.base import Rows, Scores
from core.text import stems

FILES = ("tfidf.npz", "tfidf.json")


class TfidfIndex:
    """Rows × stems, sublinear term frequency, smooth idf, rows of unit length.

    Source: Salton & Buckley, Term-weighting approaches, 1988; as scikit-learn's TfidfVectorizer(sublinear_tf=True).
    """

    space = "tfidf"

    def __init__(
        self, by_stem: sparse.csr_array, vocabulary: dict[str, int], idf: np.ndarray, size: int
    ) -> None:
        self._by_stem = by_stem  # (stems, rows): only the question's postings are touched
        self._vocabulary = vocabulary
        self._idf = idf
        self._size = size
        self._unseen = float(np.log(1 + size) + 1)

    @classmethod
    def build(cls, texts: Iterable[str]) -> TfidfIndex:
        """From the texts of n rows; n may be 0, and texts may be without terms."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        listed = [stems(text) for text in texts]
        if not any(listed):
            return cls(
                sparse.csr_array((0, len(listed)), dtype=np.float32), {}, np.empty(0, np.float32), len(listed)
            )
        vectorizer = TfidfVectorizer(analyzer=_as_it_is, sublinear_tf=True, dtype=np.float32)
        matrix = vectorizer.fit_transform(listed)
        vocabulary = {str(stem): int(column) for stem, column in vectorizer.vocabulary_.items()}
        idf = np.asarray(vectorizer.idf_, dtype=np.float32)
        return cls(sparse.csr_array(matrix.T.tocsr()), vocabulary, idf, len(listed))

    def __len__(self) -> int:
        return self._size

    def question_terms(self, question: str) -> tuple[str, ...]:
        """Distinct stems of the question, in order."""
        return tuple(dict.fromkeys(stems(question)))

    def idf(self, stem: str) -> float:
        """Weight of a stem; an unseen one weighs most."""
        column = self._vocabulary.get(stem)
        return self._unseen if column is None else float(self._idf[column])

    def scores(self, question: str) -> Scores:
        """(n,) cosine in [0, 1]; zeros for a question without a known term."""
        counts = self._counts(question)
        scores = np.zeros(self._size, dtype=np.float32)
        weights = {column: (1 + np.log(count)) * float(self._idf[column]) for column, count in counts.items()}
        norm = float(np.sqrt(sum(weight**2 for weight in weights.values())))
        for column, weight in sorted(weights.items()):
            rows, values = self._postings(column)
            scores[rows] += np.float32(weight / norm) * values
        return np.minimum(scores, 1, out=scores)

    def overlap(self, question: str, rows: Rows) -> Scores:
        """(m,) share of the question's distinct stems found in each of ``rows``; zeros for a question without terms."""
        terms = self.question_terms(question)
        found = np.zeros(len(rows), dtype=np.float32)
        for column in (self._vocabulary[term] for term in terms if term in self._vocabulary):
            holding, _ = self._postings(column)
            place = np.searchsorted(holding, rows)
            found += holding[np.minimum(place, len(holding) - 1)] == rows
        return found / np.float32(len(terms)) if terms else found

    def save(self, folder: Path) -> None:
        """Writes ``FILES`` into ``folder``."""
        sparse.save_npz(folder / FILES[0], self._by_stem, compressed=False)
        ordered = sorted(self._vocabulary, key=self._vocabulary.__getitem__)
        body = {"stems": ordered, "idf": self._idf.tolist(), "size": self._size}
        (folder / FILES[1]).write_text(json.dumps(body))

    @classmethod
    def load(cls, folder: Path) -> TfidfIndex:
        """Reads what ``save`` wrote."""
        body = json.loads((folder / FILES[1]).read_text())
        matrix = sparse.csr_array(sparse.load_npz(folder / FILES[0]))
        vocabulary = {stem: column for column, stem in enumerate(body["stems"])}
        return cls(matrix, vocabulary, np.array(body["idf"], dtype=np.float32), int(body["size"]))

    def _counts(self, question: str) -> dict[int, int]:
        counts: dict[int, int] = {}
        for stem in stems(question):
            if stem in self._vocabulary:
                column = self._vocabulary[stem]
                counts[column] = counts.get(column, 0) + 1
        return counts

    def _postings(self, column: int) -> tuple[Rows, Scores]:
        start, end = self._by_stem.indptr[column], self._by_stem.indptr[column + 1]
        return self._by_stem.indices[start:end], self._by_stem.data[start:end]


def _as_it_is(listed: list[str]) -> list[str]:
    return listed
