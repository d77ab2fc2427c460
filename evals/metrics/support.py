"""Does a text support a sentence? A score from words alone, without a model and without gold evidence.

It counts what the sentence says and the text does not: content terms by rarity, numbers, names. It cannot see that a text
says the opposite, or says the same in other words: an ``Entailment`` model can, and takes its place through ``entailed``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from core.models.base import Entailment
from core.text import stems, words
from evals.metrics.mentions import months, names, numbers

Rarity = Callable[[str], float]
"""How rare a stem is, from 0 (in every text) to 1 (in none): ln((N+1)/(n+1)) / ln(N+1) for n of N texts."""
Supporter = Callable[[str, Sequence[str]], float]
"""A sentence and the texts cited for it to a score in [0, 1]; NaN for a sentence that says nothing to look for."""

SUPPORTED = 0.5
"""From here a sentence counts as supported."""
INTERCEPT = -1.59
COVERAGE, MISSING_MASS, MISSING_NUMBER, MISSING_NAME = 3.48, -0.131, -1.72, -0.562
"""Of a logistic regression on WiCE's dev claims: supported against partially and not supported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """What of a sentence is in the texts.

    ``coverage``: share of its distinct stems, by rarity, in [0, 1]. ``missing_mass``: the rarities of the others, summed.
    ``missing_numbers`` and ``missing_names``: how many of its numbers and names are in none. ``span``: words of the
    longest stretch that stands so in one text, as a share of all its words, in [0, 1]. A date counts by its year, day
    and month.
    """

    coverage: float
    missing_mass: float
    missing_numbers: int
    missing_names: int
    span: float


def everywhere_rare(stemmed: str) -> float:
    """The rarity of every stem where no corpus is known."""
    return 1.0


def features(sentence: str, texts: Sequence[str], rarity: Rarity = everywhere_rare) -> Features | None:
    """None for a sentence of stop words only: there is nothing to look for."""
    wanted = set(stems(sentence))
    if not wanted:
        return None
    said = {found for text in texts for found in (*stems(text), *months(text))}
    mass = {term: rarity(term) for term in wanted}
    missing = sum(mass[term] for term in wanted - said)
    whole = sum(mass.values())
    counted = {number for text in texts for number in numbers(text, ordinals=True)}
    return Features(
        coverage=1 - missing / whole if whole else float(wanted <= said),
        missing_mass=missing,
        missing_numbers=len(numbers(sentence) - counted),
        missing_names=len((names(sentence) & wanted) - said),
        span=max((_shared(words(sentence), words(text)) for text in texts), default=0.0),
    )


def support(sentence: str, texts: Sequence[str], rarity: Rarity = everywhere_rare) -> float:
    """How far the texts together support the sentence, in [0, 1]: 0 without a text, 1 where it stands in one word for
    word, else the logistic of the weighted ``Features``. NaN for a sentence of stop words only.

    Source: none; a logistic regression (Cox, JRSS B 1958) fitted as ``tests/benchmarks/test_bench_support.py`` shows.
    """
    found = features(sentence, texts, rarity)
    if found is None:
        return math.nan
    if not texts or found.span == 1:
        return float(found.span == 1)
    evidence = (
        INTERCEPT
        + COVERAGE * found.coverage
        + MISSING_MASS * found.missing_mass
        + MISSING_NUMBER * found.missing_numbers
        + MISSING_NAME * found.missing_names
    )
    return 1 / (1 + math.exp(-evidence))


def entailed(model: Entailment) -> Supporter:
    """A supporter that asks an entailment model: the best probability over each text alone and all of them in a row.

    Source: Gao et al., ALCE, EMNLP 2023, sec. 3 (the concatenation of what is cited); Laban et al., SummaC, TACL 2022
    (the best single text).
    """

    def judged(sentence: str, texts: Sequence[str]) -> float:
        if not stems(sentence):
            return math.nan
        if not texts:
            return 0.0
        premises = list(dict.fromkeys([*texts, " ".join(texts)]))
        return float(model.probabilities([(premise, sentence) for premise in premises]).max())

    return judged


def _shared(sentence: Sequence[str], text: Sequence[str]) -> float:
    """The longest run of words both have, as a share of the sentence's."""
    found = SequenceMatcher(None, text, sentence, autojunk=False).find_longest_match()
    return found.size / len(sentence)
