"""Cutting long texts into chunks at paragraph and sentence borders, and summing each up without a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from core.errors import UsageError
from core.ingest.items import ArtifactItem, Item, Problem
from core.text import sentences, stems

CHUNK_SIZE = 1200
"""Characters a chunk may have."""
MAX_SUMMARY = 300


def spans(text: str, size: int = CHUNK_SIZE, overlap: int = 0) -> list[tuple[int, int]]:
    """Spans ``(start, end)`` of the chunks: whole sentences, as many as fit into ``size`` characters.

    Every visible character lies in a chunk, with ``overlap`` 0 in exactly one; a longer sentence is cut at blanks.
    With an ``overlap`` a chunk begins with the last sentences of the one before, as many as fit into so many characters.
    ``[]`` for a blank text.
    """
    pieces = [piece for start, end in sentences(text) for piece in _pieces(text, start, end, size)]
    chunks: list[tuple[int, int]] = []
    first = 0
    while first < len(pieces):
        last = first
        while last + 1 < len(pieces) and pieces[last + 1][1] - pieces[first][0] <= size:
            last += 1
        chunks.append((pieces[first][0], pieces[last][1]))
        following = last + 1
        while following < len(pieces) and _repeats(pieces, following - 1, first, last, size, overlap):
            following -= 1
        first = following
    return chunks


def _repeats(
    pieces: list[tuple[int, int]], candidate: int, first: int, last: int, size: int, overlap: int
) -> bool:
    """Whether the next chunk may begin with ``candidate``, so that it still gets on by a piece."""
    start = pieces[candidate][0]
    return candidate > first and pieces[last][1] - start <= overlap and pieces[last + 1][1] - start <= size


def rechunked(
    items: Iterable[tuple[str, Item | Problem]], size: int, overlap: int
) -> Iterator[tuple[str, Item | Problem]]:
    """The same items, with texts to be cut into chunks of that size and overlap; where these are the usual ones, as each
    text says itself.

    Raises:
        UsageError: the overlap leaves no room for anything new.
    """
    if not 0 <= overlap < size:
        raise UsageError(f"the overlap must be below the size of a chunk ({size}), got {overlap}")
    cut = None if (size, overlap) == (CHUNK_SIZE, 0) else (size, overlap)
    for where, item in items:
        yield where, replace(item, chunking=cut) if cut and isinstance(item, ArtifactItem) else item


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
