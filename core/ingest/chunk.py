"""Cutting long texts into chunks at paragraph and sentence borders, and summing each up without a model."""

from __future__ import annotations

from collections import Counter

from core.text import sentences, stems

CHUNK_SIZE = 1200
"""Characters a chunk may have."""
MAX_SUMMARY = 300


def spans(text: str, size: int = CHUNK_SIZE) -> list[tuple[int, int]]:
    """Spans ``(start, end)`` of the chunks: whole sentences, as many as fit into ``size`` characters.

    Every visible character lies in exactly one chunk; a longer sentence is cut at blanks. ``[]`` for a blank text.
    """
    pieces = [piece for start, end in sentences(text) for piece in _pieces(text, start, end, size)]
    chunks: list[tuple[int, int]] = []
    for start, end in pieces:
        if chunks and end - chunks[-1][0] <= size:
            chunks[-1] = (chunks[-1][0], end)
        else:
            chunks.append((start, end))
    return chunks


def summary(text: str) -> str:
    """The most central sentence of ``text`` in its own words, at most ``MAX_SUMMARY`` characters; "" for a blank text.

    Central: the largest mean frequency of its distinct stems within the text; ties: the earliest. Source: SumBasic,
    Nenkova & Vanderwende, The Impact of Frequency on Summarization, 2005, without its update step.
    """
    frequency = Counter(stems(text))
    best, best_weight = "", -1.0
    for start, end in sentences(text):
        distinct = set(stems(text[start:end]))
        weight = sum(frequency[stem] for stem in distinct) / len(distinct) if len(distinct) > 2 else 0.0
        if weight > best_weight:
            best, best_weight = text[start:end], weight
    return " ".join(best.split())[:MAX_SUMMARY].rstrip()


def _pieces(text: str, start: int, end: int, size: int) -> list[tuple[int, int]]:
    """A sentence, or its parts of at most ``size`` characters, cut at blanks where there is one."""
    parts = []
    while end - start > size:
        cut = text.rfind(" ", start + size // 2, start + size)
        cut = cut if cut > start else start + size
        parts.append((start, cut))
        start = cut
        while start < end and text[start].isspace():
            start += 1
    return [*parts, (start, end)] if start < end else parts
