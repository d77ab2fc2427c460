import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from core.index.tfidf import TfidfIndex
from core.text import stems

WORDS = [
    "proxy",
    "proxies",
    "buffer",
    "the",
    "upgrade",
    "Größe",
    "10KB",
    "don't",
    "canal",
    "of",
    "数据",
    "!?",
    "",
]
text = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
corpora = st.lists(text, max_size=12)


@settings(max_examples=150, deadline=None)
@given(corpora, text)
def test_scores_equal_scikit_learn_s_cosine(texts, question):
    scores = TfidfIndex.build(texts).scores(question)
    assert scores.dtype == np.float32
    assert scores.shape == (len(texts),)
    if not any(stems(passage) for passage in texts):
        assert not scores.any()
        return
    vectorizer = TfidfVectorizer(analyzer=stems, sublinear_tf=True)
    matrix = vectorizer.fit_transform(texts)
    expected = (matrix @ vectorizer.transform([question]).T).toarray()[:, 0]
    np.testing.assert_allclose(scores, expected, atol=1e-6)
    assert (scores >= 0).all()
    assert (scores <= 1).all()


@settings(max_examples=100, deadline=None)
@given(corpora, text)
def test_overlap_is_the_share_of_the_question_s_distinct_stems(texts, question):
    rows = np.arange(len(texts))[::-1]
    asked = set(stems(question))
    expected = [len(asked & set(stems(texts[row]))) / len(asked) if asked else 0.0 for row in rows]
    np.testing.assert_allclose(TfidfIndex.build(texts).overlap(question, rows), expected, atol=1e-6)


TEXTS = ["the proxy buffer", "a proxy upgrade, an upgrade", "", "the canal"]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Is the proxy of the upgrades up?", [1 / 2, 1, 0, 0]),  # proxi and upgrad; up is a stop word
        ("proxy proxy canal nowhere", [1 / 3, 1 / 3, 0, 1 / 3]),
        ("what is it", [0, 0, 0, 0]),
        ("", [0, 0, 0, 0]),
    ],
)
def test_overlap_by_hand(question, expected):
    np.testing.assert_allclose(TfidfIndex.build(TEXTS).overlap(question, np.arange(4)), expected, atol=1e-6)


def test_overlap_of_some_rows_in_the_order_asked():
    index = TfidfIndex.build(TEXTS)
    assert index.overlap("proxy upgrade", np.array([3, 1, 0])).tolist() == [0, 1, 0.5]
    assert index.overlap("proxy", np.empty(0, dtype=np.int64)).shape == (0,)


@pytest.mark.parametrize(("stem", "holding"), [("proxi", 2), ("upgrad", 1), ("canal", 1), ("unseen", 0)])
def test_idf_is_smooth_and_an_unseen_stem_weighs_most(stem, holding):
    assert TfidfIndex.build(TEXTS).idf(stem) == pytest.approx(np.log((1 + 4) / (1 + holding)) + 1, abs=1e-6)


def test_question_terms_are_distinct_and_in_order():
    assert TfidfIndex.build(TEXTS).question_terms("Upgrades of the proxy, the upgrade!") == (
        "upgrad",
        "proxi",
    )


@settings(max_examples=40, deadline=None)
@given(corpora, text)
def test_a_saved_index_answers_alike(tmp_path_factory, texts, question):
    folder = tmp_path_factory.mktemp("tfidf")
    index = TfidfIndex.build(texts)
    index.save(folder)
    again = TfidfIndex.load(folder)
    assert len(again) == len(index) == len(texts)
    assert (again.scores(question) == index.scores(question)).all()
    rows = np.arange(len(texts))
    assert (again.overlap(question, rows) == index.overlap(question, rows)).all()
    assert again.question_terms(question) == index.question_terms(question)
    assert [again.idf(stem) for stem in ("proxi", "unseen")] == [
        index.idf(stem) for stem in ("proxi", "unseen")
    ]


@pytest.mark.parametrize("texts", [[], ["", "of the"]])
def test_a_corpus_without_terms(texts):
    index = TfidfIndex.build(texts)
    assert len(index) == len(texts)
    assert index.scores("proxy").tolist() == [0.0] * len(texts)
    assert index.overlap("proxy", np.arange(len(texts))).tolist() == [0.0] * len(texts)
