"""The sentences that say most of what some texts say, for notes that no model writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import log

from core.text import sentences, stems

SAID = 0.3
"""What is left of a stem's weight once a chosen sentence has it."""
Sentence = tuple[int, int, int]
"""Which text, and where in it the sentence starts and ends."""


class Rarity:
    """How much a stem tells among many texts: ``ln(1 + n / (1 + texts that have it))``, at least ln 1.5."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._found: Counter[str] = Counter()
        self._count = 0
        for text in texts:
            self._found.update(set(stems(text)))
            self._count += 1

    def of(self, stem: str) -> float:
        """Weight of a stem; greatest for one that no text has."""
        return log(1 + max(self._count, 1) / (1 + self._found[stem]))


def central(texts: Sequence[str], count: int, rarity: Rarity) -> list[Sentence]:
    """The ``count`` sentences of all ``texts`` together that say most, best first; fewer where there are fewer.

    Most: the largest sum over distinct stems of frequency in ``texts`` times rarity; ties: the earliest. What was said
    weighs less the next time, and no text is taken from again while another was taken from less often.

    Source: Radev et al., Centroid-based summarization of multiple documents, 2004, §2-3 (centroid value; redundancy
    penalty, here on stems). On three LoCoMo conversations the five notes nearest to a question were made from 0.27 of
    its evidence; 0.13 with SumBasic's mean, which prefers small talk.
    """
    found = {
        (place, start, end): frozenset(stems(text[start:end]))
        for place, text in enumerate(texts)
        for start, end in sentences(text)
    }
    frequency = Counter(stem for text in texts for stem in stems(text))
    weights = {stem: times * rarity.of(stem) for stem, times in frequency.items()}
    chosen: list[Sentence] = []
    while len(chosen) < min(count, len(found)):
        best = max(
            _least_used(found, chosen), key=lambda one: sum(weights[stem] for stem in sorted(found[one]))
        )
        chosen.append(best)
        weights |= {stem: weights[stem] * SAID for stem in found[best]}
    return chosen


def _least_used(found: Iterable[Sentence], chosen: Sequence[Sentence]) -> list[Sentence]:
    """The sentences left of the texts that were taken from least often."""
    used = Counter(place for place, _, _ in chosen)
    rest = [one for one in found if one not in chosen]
    fewest = min(used[place] for place, _, _ in rest)
    return [one for one in rest if used[one[0]] == fewest]
