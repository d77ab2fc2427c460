from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from core.answer.sentences import MAX_QUOTE, best_sentence
from core.text import sentences, stems

TEXT = "Pumps are checked in May. Requests over 10KB failed at the proxy. Nobody knew why."


def test_the_sentence_with_the_rarest_shared_words_is_quoted():
    start, end = best_sentence(TEXT, set(stems("why did requests over 10KB fail?")), lambda stem: 1.0)
    assert TEXT[start:end] == "Requests over 10KB failed at the proxy."


def test_idf_decides_between_sentences():
    text = "The proxy is old. The buffer is small."
    weights = {"proxi": 1.0, "buffer": 5.0}
    start, end = best_sentence(text, {"proxi", "buffer"}, lambda stem: weights[stem])
    assert text[start:end] == "The buffer is small."


def test_without_a_shared_word_the_first_sentence_is_quoted():
    start, end = best_sentence(TEXT, {"zebra"}, lambda stem: 1.0)
    assert TEXT[start:end] == "Pumps are checked in May."


def test_blank_text():
    assert best_sentence("  \n ", {"a"}, lambda stem: 1.0) == (0, 0)


@given(st.text(alphabet="ab zebra.\n", max_size=900))
def test_a_quote_lies_in_the_text_and_is_short(text):
    start, end = best_sentence(text, {"zebra"}, lambda stem: 1.0)
    assert 0 <= start <= end <= len(text)
    assert end - start <= MAX_QUOTE
    assert (end > start) == bool(text.strip())


def test_a_long_sentence_is_cut_around_the_match():
    text = "word " * 200 + "zebra stands here " + "word " * 200
    start, end = best_sentence(text, {"zebra"}, lambda stem: 1.0)
    assert "zebra" in text[start:end]
    assert end - start <= MAX_QUOTE


@given(st.text(max_size=300))
def test_sentences_cover_every_visible_character_once(text):
    spans = sentences(text)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
    covered = {i for start, end in spans for i in range(start, end)}
    assert all(i in covered for i, mark in enumerate(text) if not mark.isspace())


def test_words_of_the_title_do_not_choose_the_sentence():
    text = "Quito Quito is the capital. It rains in April."
    question = set(stems("when does it rain in Quito"))
    assert (
        text[slice(*best_sentence(text, question, lambda stem: 1.0, title="Quito"))] == "It rains in April."
    )
    only = "It is old. Quito is a city."
    assert (
        only[slice(*best_sentence(only, set(stems("Quito")), lambda stem: 1.0, "Quito"))]
        == "Quito is a city."
    )
