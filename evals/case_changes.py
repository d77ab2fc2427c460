"""What changed for single cases between two runs: their figures and their rankings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evals.aggregates import Figure, Row
from evals.row_reading import CaseKey, key_of


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseChange:
    """What one case adds to a figure in either run."""

    case: CaseKey
    before: float
    after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RankChange:
    """What moved among a case's first ten: key to (rank before, rank after), counted from 1; ranks of what was dropped
    (was there, is not) and of what is new."""

    case: CaseKey
    promoted: Mapping[str, tuple[int, int]]
    demoted: Mapping[str, tuple[int, int]]
    dropped: Mapping[str, int]
    new: Mapping[str, int]


def case_changes(figure: Figure, before: Sequence[Row], after: Sequence[Row]) -> list[CaseChange]:
    """The cases whose figure changed, the worst change first, then by case; a curve has no figure of a case."""
    if figure.curve is not None:
        return []
    sign = -1.0 if figure.better == "down" else 1.0
    changes = [
        CaseChange(case=key_of(new), before=figure.of(old), after=figure.of(new))
        for old, new in zip(before, after, strict=True)
    ]
    moved = [change for change in changes if abs(change.after - change.before) > 0]
    return sorted(moved, key=lambda change: (sign * (change.after - change.before), change.case))


def rank_change(before: Row, after: Row) -> RankChange | None:
    """What moved between two rankings of a case; None where nothing did."""
    old = {key: rank for rank, key in enumerate(before["ranking"], 1)}
    new = {key: rank for rank, key in enumerate(after["ranking"], 1)}
    moved = {key: (old[key], new[key]) for key in new if key in old and old[key] != new[key]}
    change = RankChange(
        case=key_of(after),
        promoted={key: ranks for key, ranks in moved.items() if ranks[1] < ranks[0]},
        demoted={key: ranks for key, ranks in moved.items() if ranks[1] > ranks[0]},
        dropped={key: rank for key, rank in old.items() if key not in new},
        new={key: rank for key, rank in new.items() if key not in old},
    )
    return change if change.promoted or change.demoted or change.dropped or change.new else None


def rank_changes(before: Sequence[Row], after: Sequence[Row]) -> list[RankChange] | None:
    if not all("ranking" in row for row in (*before, *after)):
        return None
    changes = (rank_change(old, new) for old, new in zip(before, after, strict=True))
    return [change for change in changes if change is not None]
