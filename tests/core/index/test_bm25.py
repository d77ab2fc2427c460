"""BM25 against its formula; rank-bm25 and bm25s give equal scores."""

from __future__ import annotations

import gzip
import json
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.index.bm25 import K1, SMALL, B, BM25Index, _Large, _Small
from core.text import stems

TEXTS = ["The proxy failed; the proxy fails.", "", "Lunch at the canal.", "of the and", "Proxies and canals"]
words = st.lists(
    st.sampled_from("proxy fails canal lunch buffer Friday the of 10KB".split()), max_size=12
).map(" ".join)


def by_formula(texts: list[str], question: str) -> list[float]:
    listed = [stems(text) for text in texts]
    mean = sum(map(len, listed)) / len(listed) if listed else 0
    scores = []
    for document in listed:
        counts, score = Counter(document), 0.0
        for stem in sorted(set(stems(question))):
            n = sum(stem in other for other in listed)
            if counts[stem]:
                idf = math.log(1 + (len(listed) - n + 0.5) / (n + 0.5))
                score += idf * counts[stem] / (counts[stem] + K1 * (1 - B + B * len(document) / mean))
        scores.append(score)
    return scores


@settings(max_examples=80, deadline=None)
@given(st.lists(words, max_size=12), words)
def test_both_libraries_equal_the_formula(texts, question):
    expected = by_formula(texts, question)
    for small in (SMALL, 0):
        scores = BM25Index.build(texts, small=small).scores(question)
        assert (scores.shape, scores.dtype) == ((len(texts),), np.float32)
        assert scores == pytest.approx(expected, abs=1e-5)


def test_a_term_of_every_text_still_adds_and_the_right_text_comes_first():
    scores = BM25Index.build(["proxy buffer", "proxy", "proxy lunch"]).scores("proxy buffer")
    assert (scores > 0).all()
    assert scores.argmax() == 0


def test_repeating_a_term_in_the_question_changes_nothing():
    index = BM25Index.build(TEXTS)
    assert np.array_equal(index.scores("proxy proxies canal"), index.scores("proxy canal"))


def test_the_space_names_its_parameters():
    assert BM25Index.build([]).space == "bm25/k1=0.9,b=0.4"


@pytest.mark.parametrize("small", [SMALL, 0])
@pytest.mark.parametrize("texts", [[], [""], ["the of", ""], TEXTS])
def test_a_saved_index_reads_back_equal(texts, small, tmp_path):
    index = BM25Index.build(texts, small=small)
    index.save(tmp_path)
    again = BM25Index.load(tmp_path)
    assert len(again) == len(texts)
    for question in ("proxy at the canal", "zebra", ""):
        assert np.array_equal(again.scores(question), index.scores(question))
        assert again.scores(question).shape == (len(texts),)


@pytest.mark.parametrize(("count", "kind"), [(SMALL, _Small), (SMALL + 1, _Large)])
def test_the_library_goes_by_size(count, kind):
    assert isinstance(BM25Index.build(["a proxy"] * count)._scorer, kind)


@pytest.mark.data
def test_both_libraries_agree_on_scifact(public_data):
    with gzip.open(public_data / "scifact" / "corpus.jsonl.gz", "rt") as lines:
        documents = [json.loads(line) for line, _ in zip(lines, range(2000), strict=False)]
    texts = [f"{document['title']}\n{' '.join(document['abstract'])}" for document in documents]
    claims = (public_data / "scifact" / "claims_dev.jsonl").read_text().splitlines()[:25]
    small, large = BM25Index.build(texts), BM25Index.build(texts, small=0)
    for claim in claims:
        question = json.loads(claim)["claim"]
        assert small.scores(question) == pytest.approx(large.scores(question), abs=1e-4)
        assert small.scores(question).max() > 1
