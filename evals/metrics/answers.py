"""What an answer says against the gold answers: exact match, token F1, ROUGE-L, containment, and whether it is stale.

For text that a model wrote. The deterministic answer is a list of quotes and is judged by its citations.
"""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

_ARTICLE = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


@lru_cache(maxsize=4096)  # every metric of a case asks for the same few texts
def normalized(answer: str) -> str:
    """Lower case, without ASCII punctuation and the articles a, an, the, single blanks.

    Source: normalize_answer of the SQuAD 2.0 evaluation script (Rajpurkar, Jia & Liang, ACL 2018).
    """
    return " ".join(_ARTICLE.sub(" ", answer.lower().translate(_PUNCTUATION)).split())


def exact_match(answer: str, gold: Sequence[str]) -> float:
    """1 if the normalised answer is one of the gold answers, else 0. ``""`` is an abstention, and no gold answer means
    that abstaining is right.

    Source: compute_exact and get_raw_scores of the SQuAD 2.0 evaluation script.
    """
    return float(normalized(answer) in {normalized(one) for one in _answers(gold)})


def token_f1(answer: str, gold: Sequence[str]) -> float:
    """The best F1 of shared tokens, with repeats, over the gold answers, in [0, 1]; an answer without a token is right
    where the gold one has none either. Conventions as ``exact_match``.

    Source: compute_f1 of the SQuAD 2.0 evaluation script.
    """
    said = normalized(answer).split()
    return max(_f1(said, normalized(one).split()) for one in _answers(gold))


def rouge_l(answer: str, gold: Sequence[str]) -> float:
    """The best ROUGE-L F over the gold answers, in [0, 1], Porter-stemmed; NaN without a gold answer. Letters other
    than a-z and digits are no tokens.

    Source: Lin, ROUGE, 2004, sec. 3, with the tokens and the F (β = 1) of the package ``rouge_score``.
    """
    said = _rouge_tokens(answer)
    return max((_lcs_f1(said, _rouge_tokens(one)) for one in gold if normalized(one)), default=math.nan)


def contains_gold(answer: str, gold: Sequence[str]) -> float:
    """1 if the normalised tokens of a gold answer stand in the answer, one after the other, else 0; NaN without a gold
    answer. Whole tokens count: 1 is not in 1999.

    Source: Mallen et al., When Not to Trust Language Models, ACL 2023, by tokens instead of characters.
    """
    wanted = [normalized(one) for one in gold]
    said = f" {normalized(answer)} "
    return float(any(f" {one} " in said for one in wanted if one)) if any(wanted) else math.nan


def stale(answer: str, gold: Sequence[str], stale_answers: Sequence[str]) -> float:
    """1 if the answer holds an answer that was true once and none that is true now, else 0; NaN where no outdated
    answer is known. One that is still right (it is among ``gold``) is not outdated. The mean is the stale-answer rate.

    Source: Zhang & Choi, SituatedQA, EMNLP 2021 (answers of another time), by ``contains_gold``.
    """
    current = {normalized(one) for one in gold}
    outdated = [one for one in stale_answers if normalized(one) not in current]
    if math.isnan(contains_gold(answer, outdated)):
        return math.nan
    return float(contains_gold(answer, outdated) == 1 and contains_gold(answer, gold) != 1)


def _answers(gold: Sequence[str]) -> list[str]:
    return [one for one in gold if normalized(one)] or [""]


def _f1(said: Sequence[str], wanted: Sequence[str]) -> float:
    if not said or not wanted:
        return float(said == wanted)
    shared = (Counter(said) & Counter(wanted)).total()
    return 2 * shared / (len(said) + len(wanted))


def _lcs_f1(said: Sequence[str], wanted: Sequence[str]) -> float:
    from rapidfuzz.distance import LCSseq

    return 2 * LCSseq.similarity(said, wanted) / (len(said) + len(wanted)) if said and wanted else 0.0


@lru_cache(maxsize=4096)
def _rouge_tokens(text: str) -> tuple[str, ...]:
    from rouge_score.tokenize import tokenize  # type: ignore[import-untyped]

    return tuple(tokenize(text, _Stemmer))


class _Stemmer:
    """Porter's, as ``rouge_score`` has it, but no word twice: it is by far the slowest part."""

    @staticmethod
    @lru_cache(maxsize=100_000)
    def stem(word: str) -> str:
        return str(_porter().stem(word))


@cache
def _porter() -> Any:
    from nltk.stem.porter import PorterStemmer  # type: ignore[import-untyped]  # slow to import: late

    return PorterStemmer()
