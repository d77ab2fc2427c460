"""The gate's features, one table: each a documented number made of the findings.

The set has a version: a gate trained on another one is refused, since the same name may mean something else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import log1p
from typing import Literal

import numpy as np

from core.gate.binding import Binding
from core.gate.findings import Findings
from core.gate.kinds import CHECKED
from core.index.base import Scores

VERSION = 1
Group = Literal["nearness", "gap", "agreement", "coverage", "kind", "negation", "speaker", "question"]
CROWD = slice(20, 50)
"""Ranks 21 to 50: what the question finds wherever it is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """A number of one question. ``lexical``: it needs TF-IDF scores, which recipe `graph` has not."""

    name: str
    group: Group
    about: str
    value: Callable[[Findings], float]
    lexical: bool = False


def _best(scores: Scores) -> float:
    return float(scores[0]) if len(scores) else 0.0


def _above(scores: Scores, others: slice) -> float:
    """The best less the mean of some of the others (of all of them where these ranks are not there)."""
    if len(scores) < 2:
        return _best(scores)
    beyond = scores[others] if len(scores[others]) else scores[1:]
    return float(scores[0] - beyond.mean())


def _spread(scores: Scores) -> float:
    return float(np.std(scores[:50])) if len(scores) > 1 else 0.0


def _weight_of_first(found: Findings) -> float:
    """Share of the question's weight of its heaviest stem that the best candidate lacks."""
    heaviest = max((found.asked.weights[one] for one in found.lacking), default=0.0)
    return heaviest / found.asked.total if found.asked.total else 0.0


def _names_lacking(found: Findings) -> float:
    names = found.asked.names & set(found.asked.weights)
    return len(names.intersection(found.lacking)) / len(names) if names else 0.0


def _numbers_lacking(found: Findings) -> float:
    numbers = [one for one in found.asked.weights if any(mark.isdigit() for mark in one)]
    return len(set(numbers).intersection(found.lacking)) / len(numbers) if numbers else 0.0


def _lacks(kind: str) -> Callable[[Findings], float]:
    return lambda found: float(found.asked.kind == kind and not found.holds_kind)


def _of(read: Callable[[Binding], float]) -> Callable[[Findings], float]:
    return lambda found: read(found.binding) if found.binding else 0.0


def _less(pair: tuple[float, float]) -> float:
    return pair[0] - pair[1]


FEATURES: tuple[Feature, ...] = (
    Feature(name="best_score", group="nearness", about="best evidence score (0.4·TF-IDF + 0.6·cosine)",
            value=lambda found: _best(found.score)),
    Feature(name="best_cosine", group="nearness", about="best embedding cosine",
            value=lambda found: _best(found.cosine)),
    Feature(name="best_tfidf", group="nearness", about="best TF-IDF cosine", lexical=True,
            value=lambda found: _best(found.tfidf)),
    Feature(name="score_above_second", group="gap", about="best evidence score less the second",
            value=lambda found: _above(found.score, slice(1, 2))),
    Feature(name="score_above_crowd", group="gap", about="best evidence score less the mean of ranks 21 to 50",
            value=lambda found: _above(found.score, CROWD)),
    Feature(name="cosine_above_next", group="gap", about="best cosine less the mean of ranks 2 to 10",
            value=lambda found: _above(found.cosine, slice(1, 10))),
    Feature(name="tfidf_spread", group="gap", about="standard deviation of the best 50 TF-IDF scores", lexical=True,
            value=lambda found: _spread(found.tfidf)),
    Feature(name="channels_agree", group="agreement", about="1 where words and vectors find the same best candidate",
            lexical=True, value=lambda found: float(found.agree)),
    Feature(name="channels_share", group="agreement", about="share of the best 5 by cosine among the best 5 by TF-IDF",
            lexical=True, value=lambda found: found.agree_5),
    Feature(name="text_coverage", group="coverage", about="idf share of the question in the best candidate and its title",
            value=lambda found: found.text),
    Feature(name="sentence_coverage", group="coverage", about="the same in its best sentence with the title",
            value=lambda found: found.sentence),
    Feature(name="window_coverage", group="coverage", about="the same in two sentences that follow each other",
            value=lambda found: found.window),
    Feature(name="title_coverage", group="coverage", about="the same in the title alone",
            value=lambda found: found.title),
    Feature(name="attribute_coverage", group="coverage",
            about="idf share, in the best sentence, of what the question says beyond the title",
            value=lambda found: found.rest),
    Feature(name="near_terms", group="coverage", about="share of the question's neighbouring terms that stand together",
            value=lambda found: found.near),
    Feature(name="title_asked", group="coverage", about="share of the title's terms that the question has",
            value=lambda found: found.titled),
    Feature(name="coverage_above_next", group="coverage",
            about="text_coverage less that of the best of the next three candidates",
            value=lambda found: found.text - found.next_text),
    Feature(name="mentions", group="coverage", about="ln(1 + how often the best candidate says terms of the question)",
            value=lambda found: log1p(found.mentions)),
    Feature(name="text_terms", group="coverage", about="ln(1 + terms of the best candidate), since long texts hold more",
            value=lambda found: log1p(found.terms)),
    Feature(name="terms_lacking", group="coverage", about="terms of the question that the best candidate lacks",
            value=lambda found: float(len(found.lacking))),
    Feature(name="terms_absent", group="coverage", about="terms of the question that none of the best 4 candidates has",
            value=lambda found: float(len(found.absent))),
    Feature(name="rarest_lacking", group="coverage", about="share of weight of the heaviest term that is lacking",
            value=_weight_of_first),
    Feature(name="names_lacking", group="coverage", about="share of the question's names the best candidate lacks",
            value=_names_lacking),
    Feature(name="numbers_lacking", group="coverage", about="share of the question's numbers the best candidate lacks",
            value=_numbers_lacking),
    Feature(name="lacks_kind", group="kind",
            about="1 where the best sentence holds no such thing as is asked for (a name, time, place, number, reason)",
            value=lambda found: float(not found.holds_kind)),
    *(
        Feature(name=f"lacks_{kind.replace(' ', '_')}", group="kind",
                about=f"1 where the question asks {kind} and the best sentence holds no such thing", value=_lacks(kind))
        for kind in CHECKED
    ),
    Feature(name="contradicts", group="negation", about="1 where just one of question and best sentence is negated",
            value=lambda found: float(found.contradicts)),
    Feature(name="terms", group="question", about="distinct terms of the question",
            value=lambda found: float(len(found.asked.weights))),
    Feature(name="no_question_word", group="question", about="1 where the question has no question word",
            value=lambda found: float(found.asked.kind == "none")),
    Feature(name="names_speaker", group="speaker", about="1 where somebody who speaks among the candidates is named",
            value=_of(lambda bound: 1.0)),
    Feature(name="named_told", group="speaker", about="half coverage by a telling sentence, half cosine: the named",
            value=_of(lambda bound: bound.mixed[0])),
    Feature(name="others_told", group="speaker", about="the same: others",
            value=_of(lambda bound: bound.mixed[1])),
    Feature(name="told_by_named", group="speaker", about="coverage in a telling sentence: the named less others",
            value=_of(lambda bound: _less(bound.told))),
    Feature(name="told_steadily", group="speaker", about="the same, means of the best three",
            value=_of(lambda bound: _less(bound.steady))),
    Feature(name="nearer_by_named", group="speaker", about="best cosine: the named less others",
            value=_of(lambda bound: _less(bound.cosine))),
    Feature(name="named_share", group="speaker", about="share of the named among the best five",
            value=_of(lambda bound: bound.share)),
)  # fmt: skip
BY_NAME: Mapping[str, Feature] = {feature.name: feature for feature in FEATURES}


def values(found: Findings) -> dict[str, float]:
    """Every feature of the table, finite, in its order."""
    return {feature.name: feature.value(found) for feature in FEATURES}
