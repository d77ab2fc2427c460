"""The best-matching sentence of a text: what a citation quotes."""

from __future__ import annotations

from collections.abc import Callable, Collection

from core.text import sentences, stems

TITLE_SHARE = 0.001
"""Weight of a stem that the title has too: it only breaks ties."""
MAX_QUOTE = 300
"""Characters a quote may have; the whole text is one step away."""


def best_sentence(
    text: str, question_stems: Collection[str], idf: Callable[[str], float], title: str = ""
) -> tuple[int, int]:
    """Span of the sentence that shares the most idf-weighted distinct stems with the question; ties: the earliest.

    Stems of the title hardly count: the whole text is about them, so they do not tell its sentences apart (on CLAPnq
    the gold sentence of the gold passage is found for 0.747 of the questions, 0.707 with them).

    Cut to ``MAX_QUOTE`` characters around the first shared word where longer. ``(0, 0)`` for a blank text.
    """
    best, best_weight = (0, 0), -1.0
    known = set(stems(title))
    for start, end in sentences(text):
        shared = set(stems(text[start:end])).intersection(question_stems)
        weight = sum(idf(stem) * (TITLE_SHARE if stem in known else 1.0) for stem in shared)
        if weight > best_weight:
            best, best_weight = (start, end), weight
    return _cut(text, *best, question_stems)


def _cut(text: str, start: int, end: int, question_stems: Collection[str]) -> tuple[int, int]:
    if end - start <= MAX_QUOTE:
        return start, end
    first = start
    for position in range(start, end):
        if text[position - 1 : position].isspace() or position == start:
            word = text[position : position + 60].split(maxsplit=1)
            if word and set(stems(word[0])).intersection(question_stems):
                first = max(start, position - MAX_QUOTE // 3)
                break
    first = min(first, end - MAX_QUOTE)
    return _at_words(text, first, first + MAX_QUOTE, start, end)


def _at_words(text: str, first: int, last: int, start: int, end: int) -> tuple[int, int]:
    """Narrowed so that no word is cut, unless it is one word longer than the quote."""
    while start < first < last and not text[first - 1].isspace():
        first += 1
    trimmed = last
    while first < trimmed < end and not text[trimmed].isspace():
        trimmed -= 1
    return (first, trimmed) if trimmed > first else (last - MAX_QUOTE, last)
