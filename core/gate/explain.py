"""Why a gate said what it said: the groups of features that moved it most, in concrete words."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from core.gate.considered import Considered
from core.gate.features import BY_NAME, Group
from core.gate.findings import READ, Findings
from core.gate.kinds import CALLED

REASONS = 2
"""Reasons that are given."""
NAMED = 3
"""Words that are named in one."""
LEAST = 0.1
"""A group that moved z by less says nothing."""


def explained(
    probability: float,
    cut: float,
    contributions: Mapping[str, float],
    found: Findings,
    considered: Considered,
) -> str:
    """One sentence: the probability, and the strongest reasons for being below (or reaching) the cut."""
    abstained = probability < cut
    said = f"{'abstained' if abstained else 'answered'}: P = {probability:.2f}, gate.min_probability asks for {cut:.2f}"
    reasons = [missing_everywhere(found, considered)] if abstained else []
    for group in ordered(contributions, downward=abstained):
        reasons.append(_AGAINST[group](found) if abstained else _FOR[group](found))
    kept = list(dict.fromkeys(filter(None, reasons)))[:REASONS]
    return f"{said}; {'; '.join(kept)}" if kept else said


def ordered(contributions: Mapping[str, float], *, downward: bool) -> list[Group]:
    """Groups of features by how far they moved z down (or up), those that moved it less than ``LEAST`` left out."""
    moved: dict[Group, float] = {}
    for name, value in contributions.items():
        group = BY_NAME[name].group
        moved[group] = moved.get(group, 0.0) + (-value if downward else value)
    strong = [group for group, by in moved.items() if by >= LEAST]
    return sorted(strong, key=lambda group: -moved[group])


def missing_everywhere(found: Findings, considered: Considered) -> str:
    """What the question names and no candidate holds, in any form; empty where there is no such word."""
    names = [one for one in found.absent if one in found.asked.names]
    missing = [word for word in map(found.asked.written.__getitem__, names) if not _stands(word, considered)]
    verb = "appear" if len(missing) > 1 else "appears"
    return f"the question's {_quoted(missing)} {verb} in no candidate" if missing else ""


def _stands(word: str, considered: Considered) -> bool:
    pattern = re.compile(rf"(?<!\w){re.escape(word)}", re.IGNORECASE)
    texts = (*considered.texts, *considered.titles, *filter(None, considered.speakers))
    return any(pattern.search(text) for text in texts)


def _quoted(words: list[str]) -> str:
    listed = [f"'{word}'" for word in words[:NAMED]]
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"


def _coverage(found: Findings) -> str:
    written = found.asked.written
    if found.absent:
        absent = _quoted([written[one] for one in found.absent])
        return f"none of the closest {READ} candidates holds the question's {absent}"
    if found.lacking:
        return (
            f"the closest candidate lacks the question's {_quoted([written[one] for one in found.lacking])}"
        )
    return f"its best sentence holds {found.sentence:.0%} of the question's weight"


def _speaker(found: Findings) -> str:
    bound = found.binding
    if bound is None:
        return ""
    persons = " and ".join(bound.persons)
    if bound.mixed[1] > bound.mixed[0]:
        return f"the nearest evidence is said by {bound.instead}, the question asks about {persons}"
    return f"what {persons} said is hardly nearer the question than what {bound.instead} said"


def _speaks(found: Findings) -> str:
    bound = found.binding
    return (
        f"the nearest evidence is said by {' and '.join(bound.persons)}" if bound and bound.share > 0 else ""
    )


def _kind(found: Findings) -> str:
    called = CALLED.get(found.asked.kind)
    return f"the question asks {found.asked.kind}, its best sentence holds no {called[2:]}" if called else ""


def _best(found: Findings) -> str:
    return f"the closest candidate's evidence score is {found.score[0]:.2f}" if len(found.score) else ""


def _apart(found: Findings) -> str:
    if len(found.score) < 2:
        return ""
    return f"the best score is {found.score[0] - found.score[1]:.2f} above the second"


_AGAINST: Mapping[Group, Callable[[Findings], str]] = {
    "nearness": _best,
    "gap": _apart,
    "agreement": lambda found: "words and vectors find different candidates" if not found.agree else "",
    "coverage": _coverage,
    "kind": lambda found: "" if found.holds_kind else _kind(found),
    "negation": lambda found: (
        "just one of the question and its best sentence is negated" if found.contradicts else ""
    ),
    "speaker": _speaker,
    "question": lambda found: "few questions worded like it could be answered where the gate was trained",
}
_FOR: Mapping[Group, Callable[[Findings], str]] = {
    "nearness": _best,
    "gap": _apart,
    "agreement": lambda found: "words and vectors find the same candidate" if found.agree else "",
    "coverage": lambda found: f"the closest candidate holds {found.text:.0%} of the question's weight",
    "kind": lambda found: "",
    "negation": lambda found: "",
    "speaker": _speaks,
    "question": lambda found: "",
}
