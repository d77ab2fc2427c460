"""One question judged by a learned gate."""

from __future__ import annotations

from collections.abc import Callable

from core.gate.considered import Considered
from core.gate.explain import explained
from core.gate.features import values
from core.gate.findings import find
from core.gate.model import LearnedGate
from core.trace import Judgement


def judge(
    gate: LearnedGate, cut: float, question: str, considered: Considered, idf: Callable[[str], float]
) -> Judgement | None:
    """The probability that the evidence suffices, against ``cut``; None where nothing was found to judge.

    ``idf`` weighs a stem in the corpus asked. Deterministic: equal candidates give equal numbers.
    """
    if not len(considered):
        return None
    found = find(question, considered, idf)
    read = values(found)
    contributions = gate.contributions(read)
    probability = gate.probability(read)
    return Judgement(
        probability=probability,
        space=gate.space,
        cut=cut,
        values={name: read[name] for name in gate.names},
        contributions=contributions,
        said=explained(probability, cut, contributions, found, considered),
    )
