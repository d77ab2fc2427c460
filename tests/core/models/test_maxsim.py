"""MaxSim against its definition, and the same scores whatever is kept."""

from __future__ import annotations

import numpy as np
import pytest

from core.models.maxsim import MaxSim
from core.models.minilm import MiniLM

PASSAGES = ["Shakespeare wrote Hamlet around 1600.", "", "The proxy buffer is 10KB.", "hamlet", " \n"]
QUESTION = "Who wrote Hamlet?"


class TableModel:
    """Token vectors out of a table, so that scores can be computed by hand; counts the texts it was asked for."""

    def __init__(self, table: dict[str, list[list[float]]]) -> None:
        self.table = table
        self.asked: list[str] = []

    def token_vectors(self, texts):
        self.asked += texts
        return [np.array(self.table[text], dtype=np.float32).reshape(-1, 2) for text in texts]


def test_the_mean_over_question_tokens_of_the_best_cosine():
    table = {"q": [[1, 0], [0, 1]], "a": [[1, 0], [0.6, 0.8]], "b": [[0, -1]], "none": []}
    scores = MaxSim(TableModel(table)).scores("q", ["a", "b", "none"])
    # a: (max(1, 0.6) + max(0, 0.8)) / 2, b: (0 − 1) / 2
    assert scores.tolist() == pytest.approx([0.9, -0.5, -1.0])
    assert MaxSim(TableModel(table)).scores("none", ["a", "b"]).tolist() == [-1, -1]
    assert MaxSim(TableModel(table)).scores("q", []).shape == (0,)


def test_scores_of_a_text_with_itself_stay_within_one():
    scores = MaxSim().scores(QUESTION, [QUESTION, *PASSAGES])
    assert scores.dtype == np.float32
    assert scores[0] == pytest.approx(1, abs=1e-5)
    assert scores.max() <= 1
    assert scores[2] == scores[5] == -1  # no tokens
    assert scores[1] > scores[3]


def test_equal_scores_with_and_without_what_was_kept(monkeypatch):
    monkeypatch.setenv("ASSAY_TOKEN_CACHE_MB", "1")
    kept, model = MaxSim(), MiniLM()
    first = kept.scores(QUESTION, PASSAGES)
    assert np.array_equal(kept.scores(QUESTION, PASSAGES), first)
    assert np.array_equal(kept.scores(QUESTION, PASSAGES[::-1]), first[::-1])
    for place, passage in enumerate(PASSAGES):
        assert MaxSim(model).scores(QUESTION, [passage])[0] == first[place]


def test_passages_are_read_once_and_the_longest_unused_are_forgotten(monkeypatch):
    monkeypatch.setenv("ASSAY_TOKEN_CACHE_MB", "1")
    names = [f"p{n}" for n in range(4)]
    table = {name: [[1.0, 0.0]] * 40_000 for name in names} | {"q": [[1.0, 0.0]]}  # 320 kB each: three fit
    model = TableModel(table)
    maxsim = MaxSim(model)
    for asked in (names[:3], names[:2], names[3:], names[:2], names[2:3]):
        maxsim.scores("q", asked)
    assert [text for text in model.asked if text != "q"] == ["p0", "p1", "p2", "p3", "p2"]
