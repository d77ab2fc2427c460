"""Two runs of the same data: every figure's difference, who won and lost, what moved in the rankings, and by tag."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from core.errors import DataError
from evals.aggregates import Figure, Row, figure_named, figures_of
from evals.case_changes import CaseChange, RankChange, case_changes, rank_changes
from evals.paired import Paired, pair
from evals.row_reading import CaseKey
from evals.run_folder import Run, refuse_other_data
from evals.significance import detectable, holm, mcnemar, permutation_p

HEADLINES = ("ndcg@10", "citation_f1", "correct")
ALPHA = 0.05
Finding = Literal["better", "worse", "higher", "lower", "not distinguishable", "not tested", "not judged"]
_GROUPS: Mapping[str, tuple[bool | None, ...]] = {
    "all cases": (True, False, None),
    "answerable": (True,),
    "unanswerable": (False,),
}
_SETTINGS = ("recipe", "profile", "fingerprint", "embedder", "levels")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One figure in both runs, ``n`` cases that count in either. ``p`` is the permutation test's, ``p_holm`` the same
    adjusted for every test of the comparison, ``detectable`` the smallest true difference so many cases would likely
    show. ``wins`` and ``losses`` are cases where the second run is better, and worse (more, and less, where
    neither is better); ``unpaired`` have the figure in one run only."""

    name: str
    before: float | None
    after: float | None
    difference: float | None
    interval: tuple[float, float] | None
    p: float | None
    p_holm: float | None
    finding: Finding
    n: int
    unpaired: int
    detectable: float | None
    wins: int
    losses: int

    @property
    def sentence(self) -> str:
        """The finding, with how many cases it rests on where there is none."""
        undecided = self.finding == "not distinguishable"
        return f"not distinguishable (n = {self.n})" if undecided else self.finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Abstained:
    """McNemar's table of a group of cases: abstained from in the first run only, in the second only, and exact p."""

    group: str
    n: int
    only_before: int
    only_after: int
    p: float
    p_holm: float

    @property
    def sentence(self) -> str:
        """The finding, with how many cases it rests on where there is none."""
        if self.p_holm > ALPHA:
            return f"not distinguishable (n = {self.n})"
        return "abstains more" if self.only_after > self.only_before else "abstains less"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """All that is to be said of two runs. ``by_case`` and ``by_tag`` are of the figures asked for; ``by_tag`` has a
    tag's value, such as ``kind=direct``, and is not tested. ``rankings`` is None where a side is a baseline file."""

    before: Run
    after: Run
    cases: int
    only_before: Sequence[CaseKey]
    only_after: Sequence[CaseKey]
    settings: Mapping[str, tuple[Any, Any]]
    changes: Sequence[Change]
    abstained: Sequence[Abstained]
    by_case: Mapping[str, Sequence[CaseChange]]
    by_tag: Mapping[str, Sequence[Change]]
    rankings: Sequence[RankChange] | None


def compare_runs(before: Run, after: Run, names: Sequence[str] = HEADLINES, *, seed: int = 0) -> Comparison:
    """The second run against the first, on the cases both scored.

    Raises:
        DataError: runs of different data, or without a case in common. UsageError: an unknown figure.
    """
    refuse_other_data(before, after)
    old, new = before.by_case, after.by_case
    shared = sorted(old.keys() & new.keys())
    if not shared:
        raise DataError(f"{before.source} and {after.source} have no case in common; evaluate the same cases")
    sides = [old[key] for key in shared], [new[key] for key in shared]
    figures = figures_of([*before.rows, *after.rows])
    wanted = [figure_named(name, figures) for name in names]
    changes, abstained = _tested(figures, sides, seed)
    return Comparison(
        before=before,
        after=after,
        cases=len(shared),
        only_before=sorted(old.keys() - new.keys()),
        only_after=sorted(new.keys() - old.keys()),
        settings={
            name: (before.manifest.get(name), after.manifest.get(name))
            for name in _SETTINGS
            if before.manifest.get(name) != after.manifest.get(name)
        },
        changes=changes,
        abstained=abstained,
        by_case={figure.name: case_changes(figure, *sides) for figure in wanted},
        by_tag=_by_tag(wanted, sides, seed),
        rankings=rank_changes(*sides),
    )


def of_figure(
    comparison: Comparison, name: str, *, seed: int = 0
) -> tuple[list[CaseChange], dict[str, Change]]:
    """One figure's cases that changed, and its change by tag: what ``compare_runs`` gives of a figure asked for.

    Raises:
        UsageError: an unknown figure.
    """
    old, new = comparison.before.by_case, comparison.after.by_case
    shared = sorted(old.keys() & new.keys())
    sides = [old[key] for key in shared], [new[key] for key in shared]
    figure = figure_named(name, figures_of([*comparison.before.rows, *comparison.after.rows]))
    by_tag = {tag: found[0] for tag, found in _by_tag([figure], sides, seed).items() if found}
    return case_changes(figure, *sides), by_tag


def _tested(
    figures: Mapping[str, Figure], sides: tuple[list[Row], list[Row]], seed: int
) -> tuple[list[Change], list[Abstained]]:
    """Every figure and McNemar's tests, all p-values adjusted together."""
    pairs = [pair(figure, *sides, seed=seed) for figure in figures.values()]
    groups = [(name, *_abstentions(sides, wanted)) for name, wanted in _GROUPS.items()]
    p_values = [permutation_p(paired, seed=seed) for paired in pairs]
    tables = [(name, len(old), *mcnemar(old, new)) for name, old, new in groups if old]
    adjusted = holm([*p_values, *(table[-1] for table in tables)])
    changes = [
        _change(paired, sides, p, p_holm)
        for paired, p, p_holm in zip(pairs, p_values, adjusted, strict=False)
        if paired.n
    ]
    abstained = [
        Abstained(group=name, n=n, only_before=one, only_after=other, p=p, p_holm=p_holm)
        for (name, n, one, other, p), p_holm in zip(tables, adjusted[len(pairs) :], strict=True)
    ]
    return changes, abstained


def _abstentions(
    sides: tuple[list[Row], list[Row]], wanted: tuple[bool | None, ...]
) -> tuple[list[bool], list[bool]]:
    rows = [(old, new) for old, new in zip(*sides, strict=True) if new["answerable"] in wanted]
    return [old["abstained"] for old, _ in rows], [new["abstained"] for _, new in rows]


def _change(paired: Paired, sides: tuple[list[Row], list[Row]], p: float, p_holm: float) -> Change:
    moved = case_changes(paired.figure, *sides)
    rises = sum(change.after > change.before for change in moved)
    falls = len(moved) - rises
    wins, losses = (falls, rises) if paired.figure.better == "down" else (rises, falls)
    return Change(
        name=paired.figure.name,
        before=_known(paired.before),
        after=_known(paired.after),
        difference=_known(paired.difference),
        interval=(0.0, 0.0) if paired.unchanged else paired.interval,
        p=_known(p),
        p_holm=_known(p_holm),
        finding=_finding(paired, p_holm),
        n=paired.n,
        unpaired=len(paired.unpaired),
        detectable=detectable(paired.standard_error),
        wins=wins,
        losses=losses,
    )


def _finding(paired: Paired, p: float) -> Finding:
    if math.isnan(paired.difference):
        return "not judged"
    if math.isnan(p):
        return "not tested"
    if p > ALPHA:
        return "not distinguishable"
    rose = paired.difference > 0
    if paired.figure.better is None:
        return "higher" if rose else "lower"
    return "better" if rose == (paired.figure.better == "up") else "worse"


def _by_tag(
    figures: Sequence[Figure], sides: tuple[list[Row], list[Row]], seed: int
) -> dict[str, list[Change]]:
    """The figures of the cases that share a tag's value; many small groups, so intervals and no tests."""
    places: dict[str, list[int]] = {}
    for place, row in enumerate(sides[1]):
        for name, value in row["tags"].items():
            places.setdefault(f"{name}={value}", []).append(place)
    found = {}
    for label in sorted(places):
        part = [sides[0][place] for place in places[label]], [sides[1][place] for place in places[label]]
        pairs = [paired for figure in figures if (paired := pair(figure, *part, seed=seed)).n]
        found[label] = [_change(paired, part, math.nan, math.nan) for paired in pairs]
    return found


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
