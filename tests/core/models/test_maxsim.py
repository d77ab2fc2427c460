import json

import numpy as np
import pytest

from core.models.maxsim import LOWEST, MaxSim
from core.models.minilm import MODEL_ID, MiniLM
from core.stages import rerank

QUESTION = "Why do large requests fail at the proxy?"
PASSAGES = [
    "Requests over 10KB fail with status 413 at the proxy.",
    "Lunch on Friday is at the canal.",
    "",
    "The proxy buffer was set to 10KB by the upgrade.",
    "Lunch on Friday is at the canal.",
]


def naive(model: MiniLM, question: str, passage: str) -> float:
    """The definition, token by token."""
    (asked,), (found,) = model.token_vectors([question]), model.token_vectors([passage])
    if not len(asked) or not len(found):
        return -1.0
    return sum(max(float(a @ b) for b in found.astype(float)) for a in asked.astype(float)) / len(asked)


def test_scores_equal_the_definition():
    model = MiniLM()
    scores = MaxSim(model).scores(QUESTION, PASSAGES)
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, [naive(model, QUESTION, passage) for passage in PASSAGES], atol=1e-5)
    assert scores[1] == scores[4]
    assert scores[0] > scores[1]


def test_scores_lie_between_minus_one_and_one_and_a_text_matches_itself_best():
    scores = MaxSim().scores(QUESTION, [*PASSAGES, QUESTION])
    assert (scores >= -1).all()
    assert (scores <= 1 + 1e-6).all()
    assert scores[-1] == pytest.approx(1, abs=1e-5)
    assert scores[2] == LOWEST


def test_texts_without_tokens_score_lowest():
    assert (MaxSim().scores("  ", PASSAGES) == LOWEST).all()
    assert MaxSim().scores(QUESTION, []).shape == (0,)
    assert MaxSim().scores(QUESTION, ["", " "]).tolist() == [LOWEST, LOWEST]


def test_the_space_names_the_model():
    assert MaxSim.space == f"maxsim/{MODEL_ID}"


class Counting(MiniLM):
    """MiniLM, with a record of what it was asked for."""

    def __init__(self):
        self.asked: list[str] = []

    def token_vectors(self, texts):
        self.asked += texts
        return super().token_vectors(texts)


def test_passages_are_read_once_and_score_alike_with_and_without_the_cache(monkeypatch):
    model = Counting()
    warm = MaxSim(model)
    first = warm.scores(QUESTION, PASSAGES)
    assert sorted(model.asked) == sorted([QUESTION, *set(PASSAGES)])
    assert (warm.scores(QUESTION, PASSAGES) == first).all()
    assert model.asked[5:] == [QUESTION]
    monkeypatch.setenv("ASSAY_TOKEN_CACHE_MB", "1")
    cold = MaxSim(model)
    cold._limit = 0
    for _ in range(2):
        assert (cold.scores(QUESTION, PASSAGES) == first).all()
        assert cold._bytes == 0
        assert not cold._kept


def test_the_cache_is_bounded_and_forgets_the_least_recently_used(monkeypatch):
    monkeypatch.setenv("ASSAY_TOKEN_CACHE_MB", "1")
    model = Counting()
    bounded = MaxSim(model)
    texts = [f"passage {number} " + "word " * 300 for number in range(8)]  # 254 tokens of 1,536 bytes each
    for text in texts:
        bounded.scores(QUESTION, [texts[0], text])
        assert bounded._bytes == sum(tokens.nbytes for tokens in bounded._kept.values()) <= 1024 * 1024
    assert len(bounded._kept) == 2
    model.asked.clear()
    bounded.scores(QUESTION, [texts[0], texts[7]])
    assert model.asked == [QUESTION]
    bounded.scores(QUESTION, [texts[1]])
    assert model.asked == [QUESTION, QUESTION, texts[1]]


@pytest.mark.data
def test_it_ranks_real_questions_better_than_the_cosine(public_data):
    """On the first 30 answerable CLAPnq questions over their passages, the best five by cosine read again."""
    lines = (public_data / "clapnq" / "dev_answerable.jsonl").read_text().splitlines()[:30]
    cases = [json.loads(line) for line in lines]
    passages = ["{title}\n{text}".format(**case["passages"][0]) for case in cases]
    questions = [case["input"] for case in cases]
    model = MiniLM()
    cosines = model.embed(questions) @ model.embed(passages).T
    reader, by_cosine, by_maxsim, reordered = MaxSim(model), 0, 0, 0
    for gold, question in enumerate(questions):
        near = np.argsort(-cosines[gold], kind="stable")[:5]
        order = near[rerank.order(reader.scores(question, [passages[place] for place in near]))]
        reordered += (order != near).any()
        by_cosine += near[0] == gold
        by_maxsim += order[0] == gold
    assert reordered > 0
    assert by_maxsim > by_cosine
