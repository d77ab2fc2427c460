"""Text from data stays text in HTML, Markdown, CSV and on a canvas."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as some

from core.show.plain import cell, clean, inert, literal, markup, number, score, shortened


class Tags(HTMLParser):
    """Collects the tags and the text a browser would see."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.words = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.words += data


@given(some.text())
def test_markup_is_text_to_an_html_parser(text: str) -> None:
    parser = Tags()
    parser.feed(f"<p>{markup(text)}</p>")
    parser.close()
    assert parser.tags == ["p"]
    assert parser.words.replace("\r", "\n") == clean(text).replace("\r", "\n")


@given(some.text(alphabet=some.characters(exclude_categories=())))
def test_clean_text_has_nothing_that_an_encoder_or_a_terminal_stumbles_over(text: str) -> None:
    assert clean(text).encode("utf-8").decode("utf-8") == clean(text)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", clean(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "` plain `"),
        ("a `b` c", "`` a `b` c ``"),
        ("``x``", "``` ``x`` ```"),
        ("![x](http://e.example)\n# no", "` ![x](http://e.example) # no `"),
        ("", "`   `"),
    ],
)
def test_literal_is_a_code_span_longer_than_any_run_inside(text: str, expected: str) -> None:
    assert literal(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("<b>&amp;", "‹b›＆amp;"), ("3 < 4", "3 ‹ 4"), ("\ud800", "?"), ("a\x1b[31m", "a·[31m")],
)
def test_inert_holds_nothing_that_html_reads(text: str, expected: str) -> None:
    assert inert(text) == expected


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [("short", 10, "short"), ("one two three", 8, "one two…"), ("a\n\n b", 10, "a b"), ("", 5, "")],
)
def test_shortened_is_one_line_of_at_most_the_limit(text: str, limit: int, expected: str) -> None:
    assert shortened(text, limit) == expected
    assert len(shortened(text, limit)) <= limit


@pytest.mark.parametrize(
    ("text", "expected"),
    [("=1+1", "'=1+1"), ("@cmd", "'@cmd"), ("-3", "'-3"), ("+1", "'+1"), ("a=b", "a=b"), ("", "")],
)
def test_cell_never_starts_a_formula(text: str, expected: str) -> None:
    assert cell(text) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (5, "5"),
        (5.0, "5"),
        (0.34, "0.34"),
        (0.123456, "0.1235"),
        (-1000.0, "-1,000"),
        (None, "–"),
        ("tfidf", "tfidf"),
    ],
)
def test_numbers_read_as_people_write_them(value: float | str | None, expected: str) -> None:
    assert number(value) == expected


@pytest.mark.parametrize(("value", "expected"), [(1.0, "1.000"), (0.08512, "0.085"), (None, "–")])
def test_scores_have_three_digits(value: float | None, expected: str) -> None:
    assert score(value) == expected
