"""Every curve of a recording under a profile, and around it, as tables: pure, and nothing is searched again.

``curves_of_recording`` makes all of them; ``RecordingCurves`` makes one at a time, for a page or a notebook::

    curves = RecordingCurves(load(folder), profiles.load("default", "brain"), split="test")
    table = curves.sensitivity(["balanced_correct", "false_answer_rate"])
    drawn.sensitivity(table, ["balanced_correct", "false_answer_rate"])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.errors import RecordingError, UsageError
from core.profile import Profile
from core.progress import Progress, quiet
from core.thresholds import BY_NAME, Threshold
from evals.curves import of_profiles, of_run
from evals.curves.ranges import POINTS, ranges, served, values
from evals.recording import Recording
from evals.replay import Replayer, replay
from evals.scoring import Row, scored
from evals.tuning.objective import parse_objective
from evals.tuning.space import MAIN_CUT

OBJECTIVE = "balanced_correct"
FIGURES = (OBJECTIVE, "answered_answerable", "false_answer_rate", "ndcg@10", "citation_f1")
"""What sensitivity shows unless said otherwise."""
BATCH = 128
CUTS: Mapping[str, int] = {"brain": 201, "memory": 201, "graph": 21}
"""Values of the cut unless said otherwise."""
COLUMNS = ("threshold", "value", "current", "kind", "n", "answered")
"""Of ``RecordingCurves.cuts``."""
GATE = "gate.min_probability"
Flags = NDArray[np.bool_]


class RecordingCurves:
    """The curves of one recording under one profile, of the cases of one split (None: all)."""

    def __init__(
        self, recording: Recording, profile: Profile, *, split: str | None = None, progress: Progress = quiet
    ) -> None:
        """``progress`` is told of every case that was replayed under a profile.

        Raises:
            RecordingError: the profile asks for what was not recorded. UsageError: no case is of that split.
        """
        recording.check(profile)
        self.recording, self.profile, self.split = recording, profile, split
        self.chosen = _of_split(recording, split)
        self._progress = progress
        self._known: dict[str, dict[str, float]] = {}

    @property
    def cut(self) -> str:
        """The threshold on what the recipe's confidence is measured in: of a learned gate its probability."""
        return GATE if self.profile.learned_gate else MAIN_CUT[self.profile.recipe]

    @property
    def space(self) -> str:
        """The score space of the confidence; "" where nothing was found."""
        return next((str(row["confidence_space"]) for row in self.rows if row.get("confidence_space")), "")

    @cached_property
    def rows(self) -> list[Row]:
        """The scored cases under the profile, as a run's rows."""
        if self.profile.learned_gate is not None:
            return self._traced(self.profile)
        self._progress(len(self.recording))
        return replay(self.recording, [self.profile]).among(self.chosen).rows(0)

    def figures(self, changes: Sequence[Mapping[str, float]]) -> dict[str, NDArray[np.float64]]:
        """Each of ``replay_figures.FIGURES`` as (len(changes),) with these values in the profile; what was asked before
        is not replayed again.

        Raises:
            RecordingError: a value was not recorded, or the profile judges by a learned gate.
        """
        return self.evaluate([self._with(one) for one in changes])

    def evaluate(self, profiles: Sequence[Profile]) -> dict[str, NDArray[np.float64]]:
        """The same of whole profiles; see ``of_profiles.Evaluate``."""
        new = {one.fingerprint: one for one in profiles if one.fingerprint not in self._known}
        fresh = list(new.values())
        for begin in range(0, len(fresh), BATCH):
            batch = fresh[begin : begin + BATCH]
            found = replay(self.recording, batch).among(self.chosen).figures()
            for place, one in enumerate(batch):
                self._known[one.fingerprint] = {name: float(column[place]) for name, column in found.items()}
            self._progress(len(batch) * len(self.recording))
        told = [self._known[one.fingerprint] for one in profiles]
        return {name: np.array([one[name] for one in told]) for name in (told[0] if told else ())}

    def sensitivity(self, figures: Sequence[str] = FIGURES, *, points: int | None = None) -> pd.DataFrame:
        """Every threshold of the recipe moved alone over its range, about ``points`` values each: ``threshold``,
        ``value``, ``current`` (the profile's own) and a column a figure; a figure may be a sum, see ``parse_objective``.

        Raises:
            RecordingError: the profile judges by a learned gate. UsageError: no such figure.
        """
        moved = ranges(self.recording, self.profile, points)
        return of_profiles.sensitivity(self._objectives(figures), self.profile, moved, figures)

    def interaction(
        self, first: str, second: str, figure: str = OBJECTIVE, *, points: int | None = None
    ) -> pd.DataFrame:
        """The figure (cells) for values of the first threshold (rows) with values of the second (columns); NaN where the
        recording is not wide enough for both. Raises what ``sensitivity`` does, and UsageError for no such threshold."""
        rows, columns = (self._values(name, points) for name in (first, second))
        return of_profiles.interaction(
            self._objectives([figure]), self.profile, (first, rows), (second, columns), figure,
            serves=lambda changes: served(self.recording, self.profile, changes),
        )  # fmt: skip

    def cuts(self, threshold: str | None = None, *, points: int | None = None) -> pd.DataFrame:
        """What each value of a cut (``cut`` unless named) really answers, everything else as in the profile:
        ``threshold``, ``value``, ``current``, ``kind`` (``answerable``, ``all unanswerable``, and each kind of these),
        ``n`` cases of the kind and ``answered``, the share of them in [0, 1] that is answered."""
        name = threshold or self.cut
        count = CUTS[self.profile.recipe] if points is None else points
        places = self._values(name, count)
        abstained = self._by_gate(places) if self.profile.learned_gate and name == GATE else None
        if abstained is None:
            profiles = [self._with({name: value}) for value in places]
            abstained = replay(self.recording, profiles).among(self.chosen).abstained
            self._progress(len(profiles) * len(self.recording))
        return _by_kind(name, places, self.profile.number(name), self.rows, abstained)

    def risk_coverage(self) -> pd.DataFrame:
        """``cut``, ``coverage`` and ``risk`` by confidence; see ``of_run.risk_coverage``."""
        return of_run.risk_coverage(self.rows)

    def roc(self) -> pd.DataFrame:
        """``cut``, ``answered_answerable`` and ``answered_unanswerable`` by confidence; see ``of_run.answered``."""
        return of_run.answered(self.rows)

    def distributions(self) -> pd.DataFrame:
        """``case_id``, ``kind``, ``confidence``, ``abstained``, ``correct``; see ``of_run.confidences``."""
        return of_run.confidences(self.rows)

    def _with(self, changes: Mapping[str, float]) -> Profile:
        return self.profile.with_values(
            {name: of_profiles.typed(name, value) for name, value in changes.items()}
        )

    def _values(self, name: str, points: int | None) -> list[float]:
        knob = BY_NAME.get(name)
        if not isinstance(knob, Threshold) or self.profile.recipe not in knob.recipes:
            known = ", ".join(ranges(self.recording, self.profile, 2))
            raise UsageError(f"no threshold {name!r} in recipe {self.profile.recipe}; there are {known}")
        return values(self.recording, self.profile, knob, points or POINTS[self.profile.recipe])

    def _objectives(self, figures: Sequence[str]) -> of_profiles.Evaluate:
        """Figures and sums of figures by what they are called."""
        wanted = [parse_objective(text) for text in figures]

        def evaluate(profiles: Sequence[Profile]) -> dict[str, NDArray[np.float64]]:
            found = self.evaluate(profiles)
            sums = [one.of(found) for one in wanted]
            return {
                name: -values if one.minimised else values
                for name, one, values in zip(figures, wanted, sums, strict=True)
            }

        return evaluate

    def _by_gate(self, places: Sequence[float]) -> Flags:
        """(cuts, cases) what falls at each cut on the learned probability: what falls anyhow, or has less of it."""
        rows = self._traced(self._with({GATE: 0.0}))
        anyhow = np.array([row["abstained"] for row in rows], dtype=bool)
        said = np.array([np.inf if row["confidence"] is None else row["confidence"] for row in rows])
        return anyhow | (said < np.asarray(places)[:, None])

    def _traced(self, profile: Profile) -> list[Row]:
        """The rows by whole Traces, one case at a time: a learned gate reads texts."""
        replayer, rows = Replayer(self.recording), []
        for number in np.flatnonzero(self.chosen).tolist():
            case = self.recording.cases[number]
            rows.append(scored(case.case, case.dataset, replayer.trace(number, profile)))
            self._progress(1)
        return rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Curves:
    """All curves as tables, see the methods of ``RecordingCurves``. ``sensitivity`` is None and ``interactions`` are
    none where the profile judges by a learned gate."""

    sensitivity: pd.DataFrame | None
    interactions: Mapping[tuple[str, str], pd.DataFrame]
    cuts: pd.DataFrame
    risk_coverage: pd.DataFrame
    roc: pd.DataFrame
    distributions: pd.DataFrame


def curves_of_recording(
    recording: Recording,
    profile: Profile,
    *,
    split: str | None = None,
    objective: str = OBJECTIVE,
    pairs: Sequence[tuple[str, str]] = (),
    points: int | None = None,
    progress: Progress = quiet,
) -> Curves:
    """All curves at once. ``pairs`` of thresholds are set against each other; none named: the two that the objective is
    most sensitive to.

    Raises:
        RecordingError: the profile asks for what was not recorded. UsageError: no such split, figure or threshold.
    """
    curves = RecordingCurves(recording, profile, split=split, progress=progress)
    table, chosen = None, list(pairs)
    if profile.learned_gate is None:
        table = curves.sensitivity(list(dict.fromkeys([objective, *FIGURES])), points=points)
        chosen = chosen or [of_profiles.most_sensitive(table, objective)]
    elif chosen:
        raise RecordingError(
            f"profile {profile.name!r} judges by a learned gate, under which thresholds are not set against each other; "
            "leave the pairs out, or its gate"
        )
    return Curves(
        sensitivity=table,
        interactions={pair: curves.interaction(*pair, objective, points=points) for pair in chosen},
        cuts=curves.cuts(points=points),
        risk_coverage=curves.risk_coverage(),
        roc=curves.roc(),
        distributions=curves.distributions(),
    )


def together(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Tables of ``cuts`` or of ``distributions`` by the variant they were recorded in, as one: the answerable of the
    first, since no variant changes these, and every kind of unanswerable with its variant in the name."""
    parts = []
    for place, (variant, table) in enumerate(tables.items()):
        can = table["kind"] == of_run.ANSWERABLE
        kind = table["kind"].where(can, table["kind"] + f", {variant}")
        parts.append(table.assign(kind=kind)[~can if place else can | ~can])
    return pd.concat(parts, ignore_index=True)


def _of_split(recording: Recording, split: str | None) -> Flags:
    splits = np.array([case.case.split or "" for case in recording.cases])
    if split is None:
        return np.ones(len(splits), dtype=bool)
    if split not in splits or not split:
        known = ", ".join(sorted(set(splits) - {""})) or "no splits"
        raise UsageError(f"no case of split {split!r} was recorded; there are {known}")
    return np.asarray(splits == split)


def _by_kind(
    name: str, places: Sequence[float], own: float, rows: Sequence[Row], abstained: Flags
) -> pd.DataFrame:
    kinds = np.array([of_run.kind_of(row) if row["answerable"] is not None else "" for row in rows])
    cannot = np.array([row["answerable"] is False for row in rows], dtype=bool)
    parts: list[tuple[str, Flags]] = [(of_run.ANSWERABLE, kinds == of_run.ANSWERABLE)]
    parts.append((of_run.UNANSWERABLE, cannot))
    parts += [(kind, kinds == kind) for kind in sorted(set(kinds[cannot]))]
    tables: list[dict[str, Any]] = [
        {
            "threshold": name, "value": np.asarray(places), "current": np.asarray(places) == own, "kind": kind,
            "n": int(among.sum()), "answered": (~abstained[:, among]).mean(axis=1),
        }
        for kind, among in parts
        if among.any()
    ]  # fmt: skip
    return pd.concat(
        [pd.DataFrame(one) for one in tables] or [pd.DataFrame(columns=COLUMNS)], ignore_index=True
    )
