import gzip
import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.index.bm25 import K1, SMALL, B, BM25Index
from core.text import stems

WORDS = ["proxy", "proxies", "buffer", "the", "upgrade", "Größe", "10KB", "canal", "of", "数据", ""]
text = st.lists(st.sampled_from(WORDS), max_size=15).map(" ".join)
corpora = st.lists(text, max_size=12)
RANK_BM25, BM25S = 10**9, 0
"""Sizes of ``small`` that choose the one or the other library."""


def by_hand(texts: list[str], question: str) -> list[float]:
    """The formula, term by term."""
    listed = [stems(passage) for passage in texts]
    mean = sum(map(len, listed)) / len(listed) if listed else 0
    total = []
    for passage in listed:
        counts, score = Counter(passage), 0.0
        for stem in set(stems(question)):
            holding = sum(stem in other for other in listed)
            idf = np.log(1 + (len(listed) - holding + 0.5) / (holding + 0.5))
            if counts[stem]:
                length = len(passage) / mean
                score += idf * counts[stem] / (counts[stem] + K1 * (1 - B + B * length))
        total.append(score)
    return total


@settings(max_examples=150, deadline=None)
@given(corpora, text)
def test_both_libraries_equal_the_formula(texts, question):
    expected = by_hand(texts, question)
    for small in (RANK_BM25, BM25S):
        index = BM25Index.build(texts, small=small)
        scores = index.scores(question)
        assert len(index) == len(texts)
        assert scores.dtype == np.float32
        assert (scores >= 0).all()
        np.testing.assert_allclose(scores, expected, atol=1e-4)


def test_a_term_in_every_passage_still_counts():
    texts = ["proxy buffer", "proxy", "proxy canal proxy"]
    for small in (RANK_BM25, BM25S):
        assert (BM25Index.build(texts, small=small).scores("proxy") > 0).all()


def test_a_repeated_term_of_the_question_counts_once():
    index = BM25Index.build(["proxy buffer", "canal"])
    assert (index.scores("proxy proxies proxy") == index.scores("proxy")).all()


@pytest.mark.parametrize("small", [RANK_BM25, BM25S])
@pytest.mark.parametrize("texts", [[], [""], ["", "of the"]])
def test_a_corpus_without_terms(texts, small, tmp_path):
    index = BM25Index.build(texts, small=small)
    index.save(tmp_path)
    for built in (index, BM25Index.load(tmp_path)):
        assert len(built) == len(texts)
        assert built.scores("proxy").tolist() == [0.0] * len(texts)


@settings(max_examples=30, deadline=None)
@given(corpora, text)
@pytest.mark.parametrize("small", [RANK_BM25, BM25S])
def test_a_saved_index_answers_alike(tmp_path_factory, small, texts, question):
    folder = tmp_path_factory.mktemp("bm25")
    index = BM25Index.build(texts, small=small)
    index.save(folder)
    again = BM25Index.load(folder)
    assert len(again) == len(texts)
    assert (again.scores(question) == index.scores(question)).all()


def test_the_library_is_chosen_by_size(tmp_path):
    def saved(count: int) -> dict:
        folder = tmp_path / str(count)
        folder.mkdir()
        BM25Index.build(["proxy"] * count).save(folder)
        return json.loads((folder / "bm25.json").read_text())

    assert saved(SMALL)["large"] is False
    assert saved(SMALL + 1)["large"] is True
    assert BM25Index.space == "bm25/k1=0.9,b=0.4"


@pytest.mark.data
def test_both_libraries_agree_on_abstracts(public_data):
    with gzip.open(public_data / "scifact" / "corpus.jsonl.gz", "rt") as lines:
        rows = [json.loads(line) for line, _ in zip(lines, range(2000), strict=False)]
    texts = ["{title}\n{text}".format(title=row["title"], text=str(row.get("text") or row.get("abstract")))
             for row in rows]  # fmt: skip
    claims = (public_data / "scifact" / "claims_dev.jsonl").read_text().splitlines()[:40]
    small, large = (BM25Index.build(texts, small=size) for size in (RANK_BM25, BM25S))
    for claim in claims:
        question = json.loads(claim)["claim"]
        scores = small.scores(question)
        assert scores.max() > 1
        np.testing.assert_allclose(large.scores(question), scores, atol=1e-4)
