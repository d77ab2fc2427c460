"""Answers and evidence as HTML of our own making: every word from data is escaped before it stands in a tag."""

from __future__ import annotations

from collections.abc import Container, Sequence

from core.show.evidence import handle, pieces, validity
from core.show.plain import markup, score, shortened
from core.trace import Answer, Candidate, Evidence
from workbench import provenance

FULL_TEXT = 20_000
"""Characters of a text on the page; of a longer one this much around the quote, and it says so."""
AROUND = 280
"""Characters before and after the quote that stand in a card until it is opened."""
QUOTE = 300


def answer(given: Answer) -> str:
    """The answer's lines with numbered links to the evidence below."""
    lines = [_answer_line(line, given.evidence) for line in given.text.splitlines() if line.strip()]
    return f'<div class="assay-answer">{"".join(lines)}</div>'


def evidence_card(item: Evidence, place: int, candidate: Candidate | None, *, cited: bool = True) -> str:
    """One piece of evidence: where it is from, its text with the quote marked, its scores, what it was made from."""
    anchor, badge = (f"evidence-{place}", f"[{place}]") if cited else (f"closest-{place}", f"{place}")
    rank = (
        f'<span class="assay-score">{score(item.score)}<small>ranking score</small></span>'
        if item.score is not None
        else ""
    )
    return (
        f'<article class="assay-card{"" if cited else " assay-closest"}" id="{anchor}">'
        f'<header><span class="assay-number">{badge}</span><div class="assay-origin">{_origin(item)}</div>{rank}</header>'
        f"{_text(item)}{_scores(candidate)}{provenance.made_from(item.provenance, item.candidate_id)}</article>"
    )


def candidate_card(item: Candidate) -> str:
    """One candidate whole, for a row that was picked in the table."""
    head = provenance.line(
        (item.level or item.kind, item.name, item.title, item.source, item.session, item.turn, item.valid_at)
    )
    text = item.text[:FULL_TEXT]
    return (
        f'<article class="assay-card"><header><div class="assay-origin">{head}</div></header>'
        f'<p class="assay-text" dir="auto">{markup(text)}</p>{_cut_note(item.text, len(text))}{_scores(item)}</article>'
    )


def listed(given: Answer, elsewhere: Container[str], mark: str) -> str:
    """An answer's evidence as a list, best first; what is not also ``elsewhere`` carries ``mark``."""
    if given.abstained:
        return f'<p class="assay-text" dir="auto">{markup(given.text)}</p>'
    rows = [
        f'<li class="{"" if item.candidate_id in elsewhere else "assay-only"}"><b>[{place}]</b> '
        f'<span dir="auto">{markup(shortened(item.quote or item.text, QUOTE))}</span>'
        f"<small>{provenance.line((handle(item),))}"
        f"{'' if item.candidate_id in elsewhere else f'<em>{markup(mark)}</em>'}</small></li>"
        for place, item in enumerate(given.evidence, start=1)
    ]
    return f'<ol class="assay-listed">{"".join(rows)}</ol>'


def notices(said: Sequence[str]) -> str:
    """What was done on the user's behalf, one line each, behind a click; empty for none."""
    if not said:
        return ""
    head = "1 notice" if len(said) == 1 else f"{len(said)} notices"
    rows = "".join(f'<li dir="auto">{markup(text)}</li>' for text in said)
    return f'<details class="assay-notices"><summary>{head} about this run</summary><ul>{rows}</ul></details>'


def _answer_line(line: str, evidence: Sequence[Evidence]) -> str:
    parts = []
    for piece in pieces(line, evidence):
        if piece.cites is None:
            parts.append(markup(piece.text))
        else:
            title = markup(shortened(evidence[piece.cites - 1].quote, 160))
            link = f'<a class="assay-cite" href="#evidence-{piece.cites}" title="{title}">[{piece.cites}]</a>'
            parts.append(link)
    return f'<p dir="auto">{"".join(parts)}</p>'


def _origin(item: Evidence) -> str:
    known_as = handle(item)
    source = item.source if known_as != item.source else None
    turn = f"turn {item.turn}" if item.turn else None
    session = f"session {item.session}" if item.session else None
    speaker = f"said by {item.speaker}" if item.speaker else None
    valid = f"valid {validity(item)}" if validity(item) else None
    below = provenance.line((source, session, turn, speaker, valid))
    level = f'<span class="assay-level assay-{item.level or "none"}">{item.level or item.kind}</span>'
    return f'{level}<strong dir="auto">{markup(shortened(known_as, 90))}</strong><small>{below}</small>'


def _text(item: Evidence) -> str:
    """The text around the quote at once; the whole, when it is longer, behind a click."""
    if item.fact:
        return f'<p class="assay-text" dir="auto"><mark>{markup(item.quote)}</mark></p>' + _described(item)
    start, end = max(0, item.start - AROUND), min(len(item.text), item.end + AROUND)
    near = f'<p class="assay-text" dir="auto">{_marked(item, start, end)}</p>'
    if (start, end) == (0, len(item.text)):
        return near
    spare = max(0, FULL_TEXT - (item.end - item.start)) // 2
    first, last = max(0, item.start - spare), min(len(item.text), item.end + spare)
    whole = f'<p class="assay-text" dir="auto">{_marked(item, first, last)}</p>{_cut_note(item.text, last - first)}'
    return (
        f"{near}<details><summary>The whole text ({len(item.text):,} characters)</summary>{whole}</details>"
    )


def _described(item: Evidence) -> str:
    same = not item.text or item.text == item.quote
    return "" if same else f'<p class="assay-text" dir="auto">{markup(item.text[:FULL_TEXT])}</p>'


def _marked(item: Evidence, first: int, last: int) -> str:
    before, quote, after = (
        item.text[first : item.start],
        item.text[item.start : item.end],
        item.text[item.end : last],
    )
    lead, tail = "…" if first else "", "…" if last < len(item.text) else ""
    mark = f"<mark>{markup(quote)}</mark>" if quote else ""
    return f"{lead}{markup(before)}{mark}{markup(after)}{tail}"


def _cut_note(text: str, shown: int) -> str:
    if shown >= len(text):
        return ""
    return (
        f"<small>{shown:,} of {len(text):,} characters are shown; the Trace's JSON holds all of them.</small>"
    )


def _scores(candidate: Candidate | None) -> str:
    if candidate is None or not candidate.scores:
        return ""
    chips = "".join(
        f"<span><b>{score(value)}</b> {markup(space)}</span>" for space, value in candidate.scores.items()
    )
    return f'<details><summary>Scores by space</summary><div class="assay-scores">{chips}</div></details>'
