import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text import sentences, stem, stems, terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Why did requests over 10KB fail?", ["requests", "10kb", "fail"]),
        ("What's Caroline's café?", ["caroline", "café"]),
        ("the of and", []),
        ("", []),
        ("İstanbul I", ["istanbul"]),
        ("２０２３", ["2023"]),
    ],
)
def test_terms(text, expected):
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("left", "right"),
    [("Zoe\u0308 caf\u00e9", "Zo\u00eb cafe\u0301"), ("İzmir", "i\u0307zmir"), ("１２", "12")],
)
def test_canonically_equal_texts_have_equal_terms(left, right):
    assert terms(left) == terms(right) != []


@given(st.text(max_size=80))
def test_terms_do_not_depend_on_the_normal_form(text):
    assert terms(unicodedata.normalize("NFC", text)) == terms(unicodedata.normalize("NFD", text))


def test_stems():
    assert stems("failing requests") == [stem("failing"), stem("requests")] == ["fail", "request"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr. Smith left. He was late!", ["Dr. Smith left.", "He was late!"]),
        ("One line\n\nAnother", ["One line", "Another"]),
        ("- a\n- b", ["- a", "- b"]),
        ("It cost 3.5 euros. Fine", ["It cost 3.5 euros.", "Fine"]),
        ("", []),
    ],
)
def test_sentences(text, expected):
    assert [text[start:end] for start, end in sentences(text)] == expected
