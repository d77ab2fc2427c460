"""Cutting long texts into chunks at paragraph and sentence borders, and summing each up without a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

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
    """The most central sentence of ``text`` in its own words, at most ``MAX_SUMMARY`` characters; "" for a blank text."""
    found = central([text], 1)
    return " ".join(text[found[0][1] : found[0][2]].split())[:MAX_SUMMARY].rstrip() if found else ""


def central(texts: Sequence[str], count: int) -> list[tuple[int, int, int]]:
    """The ``count`` most central sentences of all ``texts`` together, each as ``(text, start, end)``, best first.

    Central: the largest mean probability of its distinct stems; ties: the earliest. After each choice the probabilities
    of its stems are squared, so that the next one says something else, and no text is taken from again while another was
    taken from less often. A sentence of fewer than three stems comes last.
    Source: SumBasic, Nenkova & Vanderwende, The Impact of Frequency on Summarization, 2005.
    """
    spans = [(place, *span) for place, text in enumerate(texts) for span in sentences(text)]
    found = {span: frozenset(stems(texts[span[0]][span[1] : span[2]])) for span in spans}
    frequency = Counter(stem for text in texts for stem in stems(text))
    total = sum(frequency.values())
    probability = {stem: times / total for stem, times in frequency.items()}
    chosen: list[tuple[int, int, int]] = []
    while len(chosen) < count and len(chosen) < len(spans):
        used = Counter(place for place, _, _ in chosen)
        rest = [span for span in spans if span not in chosen]
        fewest = min(used[place] for place, _, _ in rest)
        rest = [span for span in rest if used[span[0]] == fewest]
        best = max(rest, key=lambda span: _weight(found[span], probability))
        chosen.append(best)
        probability |= {stem: probability[stem] ** 2 for stem in found[best]}
    return chosen


def _weight(distinct: frozenset[str], probability: Mapping[str, float]) -> float:
    if len(distinct) < 3:
        return 0.0
    return sum(probability[stem] for stem in sorted(distinct)) / len(distinct)


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
