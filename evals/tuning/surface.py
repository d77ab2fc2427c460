"""The whole surface of a search: every setting that was tried, with every figure."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import UsageError
from evals.run_files import written
from evals.tuning.additive import Sums
from evals.tuning.objective import Constraint, Objective
from evals.tuning.space import Axis, Point

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
SUFFIXES = (".csv", ".jsonl", ".parquet")
_TIE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Surface:
    """P distinct settings, the profile one started from first, with ``figures`` (P,) of the cases searched on, and the
    ``sums`` of those that decide and have sums. The first ``proposed`` are the search's own, the rest around the best."""

    axes: tuple[Axis, ...]
    objectives: tuple[Objective, ...]
    constraints: tuple[Constraint, ...]
    points: tuple[Point, ...]
    proposed: int
    figures: Mapping[str, Floats]
    sums: Mapping[str, Sums]

    @property
    def scores(self) -> Floats:
        """(P, objectives), higher is better."""
        return np.stack([objective.of(self.figures) for objective in self.objectives], axis=1)

    @property
    def excess(self) -> Floats:
        """(P, constraints) by how much each is broken."""
        found = [constraint.excess(self.figures) for constraint in self.constraints]
        return np.stack(found, axis=1) if found else np.zeros((len(self.points), 0))

    @property
    def feasible(self) -> Flags:
        """(P,) whether every constraint is met and every objective has a value."""
        met = self.excess.max(axis=1, initial=0.0) <= 0
        return np.asarray(met & ~np.isnan(self.scores).any(axis=1))

    @property
    def constant(self) -> bool:
        """Whether there is nothing to choose by: no setting changes an objective, nor which constraints are met."""
        scores, met = self.scores, self.feasible
        if met.any() and not met.all():
            return False
        known = scores[~np.isnan(scores).any(axis=1)]
        return not len(known) or bool((np.ptp(known, axis=0) < _TIE).all())

    def best(self) -> int | None:
        """The place of the setting that is chosen; None where none is feasible. See ``chosen``."""
        return chosen(self.axes, self.points, self.scores, self.feasible)


def front(scores: Floats, feasible: Flags) -> NDArray[np.intp]:
    """Places of the feasible settings that none beats in one objective without losing in another, best first in the
    first objective. Source: Deb et al., NSGA-II, IEEE Transactions on Evolutionary Computation 2002, sec. III-A."""
    places = np.flatnonzero(feasible)
    order = places[np.lexsort((*(-scores[places].T[::-1]),))]
    kept: list[int] = []
    for place in order.tolist():
        beaten = any(
            (scores[one] >= scores[place]).all() and (scores[one] > scores[place]).any() for one in kept
        )
        if not beaten:
            kept.append(place)
    return np.array(kept, dtype=np.intp)


def chosen(axes: Sequence[Axis], points: Sequence[Point], scores: Floats, feasible: Flags) -> int | None:
    """The feasible setting with the best objective; of two objectives, the one of the front with the highest sum of both,
    each scaled to [0, 1] over the front. Of ties the first setting (where one started), else the one nearest their
    middle, which is farthest from where the figure falls."""
    if not feasible.any():
        return None
    on_front = front(scores, feasible) if scores.shape[1] > 1 else np.flatnonzero(feasible)
    values = scores[on_front]
    width = np.ptp(values, axis=0)
    scaled = ((values - values.min(axis=0)) / np.where(width > 0, width, 1)).sum(axis=1)
    tied = on_front[scaled >= scaled.max() - _TIE]
    if 0 in tied:
        return 0
    shares = np.array([[axis.share(points[place][axis.name]) for axis in axes] for place in tied.tolist()])
    return int(tied[np.argmin(((shares - shares.mean(axis=0)) ** 2).sum(axis=1))])


def write(surface: Surface, path: Path) -> None:
    """Every setting and figure as CSV, JSON lines or Parquet, by the file's ending; no value is empty (null).

    Raises:
        UsageError: another ending, or the file cannot be written.
    """
    check_suffix(path)
    rows = list(_rows(surface))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"{path.parent}: cannot be made: {error.strerror}; choose another --surface"
        ) from error
    if path.suffix == ".parquet":
        _write_parquet(rows, path)
        return
    with written(path) as file:
        if path.suffix == ".jsonl":
            file.writelines(json.dumps(row, allow_nan=False) + "\n" for row in rows)
            return
        table = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def check_suffix(path: Path) -> None:
    """Raises:
    UsageError: no file a surface is written as.
    """
    if path.suffix not in SUFFIXES:
        raise UsageError(f"--surface {path}: the file must end in {', '.join(SUFFIXES)}")


def _rows(surface: Surface) -> Sequence[dict[str, Any]]:
    scores, feasible = surface.scores, surface.feasible
    return [
        {
            **point,
            "feasible": bool(feasible[place]),
            **{
                f"objective{number or ''}": _number(scores[place, number])
                for number in range(scores.shape[1])
            },
            **{name: _number(values[place]) for name, values in surface.figures.items()},
        }
        for place, point in enumerate(surface.points)
    ]


def _write_parquet(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    import pandas as pd

    draft = path.with_name(f".{path.name}.draft")
    try:
        pd.DataFrame(rows).to_parquet(draft, index=False)
        draft.replace(path)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error}; choose another --surface") from error
    finally:
        draft.unlink(missing_ok=True)


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
