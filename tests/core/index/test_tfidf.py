"""TF-IDF and overlap against scikit-learn's own transform, and by hand."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import linear_kernel

from core.index.tfidf import TfidfIndex
from core.text import stems

ROOT = Path(__file__).resolve().parents[3]
TEXTS = ["The proxy failed; the proxy fails.", "", "Lunch at the canal.", "of the and", "Proxies and canals"]
words = st.lists(
    st.sampled_from("proxy fails canal lunch buffer Friday the of 10KB".split()), max_size=12
).map(" ".join)


@settings(max_examples=60, deadline=None)
@given(st.lists(words, min_size=1, max_size=12), words)
def test_scores_equal_scikit_learn_s(texts, question):
    index = TfidfIndex.build(texts)
    if not any(stems(text) for text in texts):
        assert not index.scores(question).any()
        return
    vectorizer = TfidfVectorizer(analyzer=stems, sublinear_tf=True)
    expected = linear_kernel(vectorizer.fit_transform(texts), vectorizer.transform([question])).ravel()
    scores = index.scores(question)
    assert scores.dtype == np.float32
    assert scores == pytest.approx(expected, abs=1e-6)
    assert scores.max() <= 1


@settings(max_examples=60, deadline=None)
@given(st.lists(words, max_size=12), words)
def test_overlap_is_the_share_of_the_question_s_distinct_stems(texts, question):
    asked = set(stems(question))
    expected = [len(asked & set(stems(text))) / len(asked) if asked else 0 for text in texts]
    rows = np.arange(len(texts))[::-1]
    assert TfidfIndex.build(texts).overlap(question, rows) == pytest.approx(np.array(expected)[rows])


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Did the proxy fail?", [1.0, 0, 0, 0, 0.5]),
        ("proxy zebra", [0.5, 0, 0, 0, 0.5]),  # a stem nobody has counts as not found
        ("canal canal canals lunch", [0, 0, 1.0, 0, 0.5]),  # distinct stems
        ("what is the", [0, 0, 0, 0, 0]),
        ("", [0, 0, 0, 0, 0]),
    ],
)
def test_overlap_by_hand(question, expected):
    assert TfidfIndex.build(TEXTS).overlap(question, np.arange(5)).tolist() == expected


def test_question_terms_are_distinct_stems_in_order():
    assert TfidfIndex.build(TEXTS).question_terms("Failing proxies and the failed canal") == (
        "fail",
        "proxi",
        "canal",
    )


def test_a_rare_stem_weighs_more_and_an_unseen_one_most():
    index = TfidfIndex.build(TEXTS)
    assert index.idf("lunch") == pytest.approx(math.log(6 / 2) + 1)  # one of five texts
    assert index.idf("proxi") == pytest.approx(math.log(6 / 3) + 1)
    assert index.idf("zebra") > index.idf("lunch") > index.idf("proxi")


@pytest.mark.parametrize("texts", [[], [""], ["the of", ""]])
def test_texts_without_terms_score_zeros(texts, tmp_path):
    TfidfIndex.build(texts).save(tmp_path)
    for index in (TfidfIndex.build(texts), TfidfIndex.load(tmp_path)):
        assert len(index) == len(texts)
        assert index.scores("proxy").tolist() == [0] * len(texts)
        assert index.overlap("proxy", np.arange(len(texts))).tolist() == [0] * len(texts)
        assert math.isfinite(index.idf("proxy"))


def test_a_saved_index_reads_back_equal_without_scikit_learn(tmp_path):
    index = TfidfIndex.build(TEXTS)
    index.save(tmp_path)
    again = TfidfIndex.load(tmp_path)
    assert np.array_equal(again.scores("proxy at the canal"), index.scores("proxy at the canal"))
    assert again.idf("proxi") == index.idf("proxi")
    code = (
        "import sys; from pathlib import Path; from core.index.tfidf import TfidfIndex; "
        f"print(TfidfIndex.load(Path({str(tmp_path)!r})).scores('lunch').argmax(), 'sklearn' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.split() == ["2", "False"]
