"""HTML of answers and evidence: links that resolve, the quote marked, and hostile text that stays text."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

import pytest

from core.show.evidence import Piece, pieces
from core.trace import Provenance
from tests.workbench import traces
from workbench import cards
from workbench.cards import FULL_TEXT


class Page(HTMLParser):
    """Tags with their attributes, and the text inside each tag."""

    def __init__(self, body: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, str] = {}
        self._open: list[str] = []
        self.feed(body)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in set(self._open):
            self.inside[tag] = self.inside.get(tag, "") + data

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def test_an_answer_is_taken_apart_at_citations_that_resolve() -> None:
    evidence = traces.brain_answered().answer.evidence
    assert pieces("A [mem:n2] and B [mem:nope] [mem:n1].", evidence) == [
        Piece(text="A "),
        Piece(cites=2),
        Piece(text=" and B [mem:nope] "),
        Piece(cites=1),
        Piece(text="."),
    ]


@pytest.mark.parametrize(("text", "expected"), [("", []), ("no citation", [Piece(text="no citation")])])
def test_an_answer_without_citations_is_one_piece(text: str, expected: list[Piece]) -> None:
    assert pieces(text, ()) == expected


@pytest.mark.parametrize("made", [traces.brain_answered, traces.memory_answered, traces.graph_answered])
def test_each_citation_links_to_a_card_of_that_number(made: object) -> None:
    answer = made().answer  # type: ignore[operator]
    links = [link["href"] for link in Page(cards.answer(answer)).of("a")]
    body = "".join(cards.evidence_card(item, n, None) for n, item in enumerate(answer.evidence, start=1))
    assert links == [f"#{card['id']}" for card in Page(body).of("article")] == ["#evidence-1", "#evidence-2"]


def test_the_quote_is_marked_inside_the_whole_text() -> None:
    trace = traces.brain_answered()
    page = Page(cards.evidence_card(trace.answer.evidence[0], 1, trace.candidate("n1")))
    assert page.inside["mark"] == traces.QUOTE
    assert traces.CAUSE in page.inside["article"]
    for shown in ("note-n1", "eng-log/notes", "session 2025-03-04", "0.620", "0.710", traces.COSINE):
        assert shown in page.inside["article"]


def test_provenance_is_a_tree_from_the_synthesis_down_to_the_turns() -> None:
    chain = (
        Provenance(node_id="b", level="L1", source="notes", turn=None, text="the note", hops=1, child_id="a"),
        Provenance(node_id="c", level="L0", source="log", turn="t1", text="the turn", hops=2, child_id="b"),
    )
    item = replace(traces.brain_answered().answer.evidence[0], candidate_id="a", level="L2", provenance=chain)
    body = cards.evidence_card(item, 1, None)
    assert "Made from 2 memories (L1 → L0)" in body
    assert body.index("the note") < body.index("<ul><li", body.index("the note")) < body.index("the turn")


def test_a_fact_shows_its_validity() -> None:
    item = traces.graph_answered().answer.evidence[0]
    page = Page(cards.evidence_card(item, 1, None))
    assert "valid 2023-01-01 to now" in page.inside["article"]
    assert page.inside["mark"] == item.quote


def test_hostile_text_makes_no_tag_and_is_shown_as_it_is() -> None:
    trace = traces.hostile()
    body = cards.answer(trace.answer) + cards.notices(trace.notices)
    for place, item in enumerate(trace.answer.evidence, start=1):
        body += cards.evidence_card(item, place, trace.candidate(item.candidate_id))
    body += "".join(cards.candidate_card(candidate) for candidate in trace.candidates)
    page = Page(body)
    own = {
        "div",
        "p",
        "a",
        "article",
        "header",
        "span",
        "strong",
        "small",
        "mark",
        "b",
        "bdi",
        "details",
        "summary",
    }
    assert {tag for tag, _ in page.tags} <= own | {"ul", "li"}
    assert all((link["href"] or "").startswith("#evidence-") for link in page.of("a"))
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert traces.HOSTILE in page.inside["p"]
    assert "\x00" not in body
    assert "\x1b" not in body


def test_of_a_very_long_text_the_quote_is_shown_and_the_rest_is_counted() -> None:
    item = traces.hostile().answer.evidence[1]
    body = cards.evidence_card(item, 2, None)
    assert len(body) < 3 * FULL_TEXT
    page = Page(body)
    assert traces.HOSTILE in page.inside["mark"]
    assert f"of {len(item.text):,} characters are shown" in page.inside["small"]
