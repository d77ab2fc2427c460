"""Recording: every case asked once, wide, and what no threshold changes kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from core import clock
from core.errors import RecordingError, UsageError
from core.profile import Profile
from core.progress import Progress, quiet
from core.records import DEFAULT_USER
from core.thresholds import BY_NAME, Setting, Threshold, for_recipe
from core.trace import Recipe, Trace
from core.workspace import Workspace
from evals.cases import Case, Variant
from evals.record_graph import GraphRecorder
from evals.record_levelled import LevelledRecorder
from evals.record_piece import Draft, Universe
from evals.recording import FORMAT, Header, RecordedCase, Recording
from evals.replay import Replayer
from evals.runs import LabelledCase, failure, hidden_sources

WIDTHS: Mapping[str, int] = {"recall.lexical_k": 1000, "recall.dense_k": 1000, "rerank.depth": 50}
"""How wide is recorded unless said otherwise; the reranker is the one that costs."""
Recorder = LevelledRecorder | GraphRecorder


def record(
    workspace: Workspace,
    cases: Sequence[LabelledCase],
    *,
    recipe: Recipe,
    profile: Profile,
    variant: Variant = "near-miss",
    levels: tuple[str, ...] | None = None,
    drop_same_id: bool = False,
    widths: Mapping[str, int] | None = None,
    broken: Sequence[Mapping[str, str]] = (),
    user_id: str = DEFAULT_USER,
    progress: Progress = quiet,
    out: Path | None = None,
) -> Recording:
    """Asks every case once under the profile's methods and keeps candidates with all their scores.

    ``widths`` widens or narrows what is kept (``{"rerank.depth": 200}``); a case that fails is kept as a failure.
    ``broken`` are cases that could not even be read. With ``out`` every case that was recorded is kept beside that folder
    until the recording is there (``recording_files.save`` is the caller's): a later call with the same arguments goes on
    where an earlier one was stopped.

    Raises:
        UsageError: an unknown width. RecordingError: not one case could be recorded, or a dataset changed meanwhile.
    """
    wide = _widths(recipe, profile, widths or {})
    asker = _Asker.of(workspace, recipe, profile, wide, levels, user_id)
    hidden = [hidden_sources(case, variant, drop_same_id=drop_same_id) for _, case in cases]
    draft = _draft(out, asker, cases, hidden, wide) if out else None
    kept: list[RecordedCase] = []
    failures = [dict(one) for one in broken]
    for number, ((dataset, case), hide) in enumerate(zip(cases, hidden, strict=True)):
        try:
            kept.append(asker.recorded(number, dataset, case, hide, draft))
        except Exception as error:  # noqa: BLE001 (one broken case never takes a recording down)
            failures.append(failure(case.case_id, dataset, error))
        progress(1)
    if not kept:
        first = failures[0]["message"] if failures else "there are no cases"
        raise RecordingError(f"none of {len(failures)} cases could be recorded; the first: {first}")
    return _whole(asker, kept, profile, variant=variant, drop_same_id=drop_same_id, failures=failures)


def _whole(
    asker: _Asker,
    kept: Sequence[RecordedCase],
    profile: Profile,
    *,
    variant: Variant,
    drop_same_id: bool,
    failures: Sequence[Mapping[str, str]],
) -> Recording:
    """All pieces laid end to end, with what was recorded of what."""
    workspace, recipe, recorder = asker.workspace, asker.recipe, asker.recorder
    arrays, rows = recorder.finish()
    header = Header(
        recipe=recipe,
        profile=profile.name,
        settings={k.name: profile.values[k.name] for k in for_recipe(recipe) if isinstance(k, Setting)},
        spaces=workspace.spaces(profile),
        embedder=workspace.embedder.model_id,
        datasets=asker.unchanged(),
        user_id=asker.user_id,
        variant=variant,
        levels=asker.levels_asked,
        drop_same_id=drop_same_id,
        widths=recorder.limits(),
        exact=recorder.exact,
        recorded_at=clock.now(),
        assay=version("assay"),
        failures=tuple(failures),
    )
    return Recording(header=header, cases=tuple(kept), arrays=arrays, rows=rows)


@dataclass(slots=True, kw_only=True)
class _Asker:
    """Asks one case after another and hands what came of it to the recorder."""

    workspace: Workspace
    recorder: Recorder
    profile: Profile
    recipe: Recipe
    levels: tuple[str, ...] | None
    user_id: str
    levels_asked: tuple[str, ...] | None = None
    universes: dict[str, Universe] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        workspace: Workspace,
        recipe: Recipe,
        profile: Profile,
        widths: Mapping[str, int],
        levels: tuple[str, ...] | None,
        user_id: str,
    ) -> _Asker:
        """With the recorder of the recipe."""
        recorder: Recorder = GraphRecorder() if recipe == "graph" else LevelledRecorder(widths)
        return cls(
            workspace=workspace,
            recorder=recorder,
            profile=recorder.wide(profile),
            recipe=recipe,
            levels=levels,
            user_id=user_id,
        )

    def recorded(
        self, number: int, dataset: str, case: Case, hide: frozenset[str], draft: Draft | None
    ) -> RecordedCase:
        """The case as it was asked, its piece taken out of the draft where it is there."""
        universe = self.universe(dataset)
        inquiry = self.workspace.inquiry(
            case.question, dataset=dataset, recipe=self.recipe, profile=self.profile, levels=self.levels,
            hide_sources=hide, as_of=case.as_of, known_at=case.known_at, user_id=self.user_id,
        )  # fmt: skip
        self.levels_asked = inquiry.levels
        piece = draft.get(number) if draft else None
        if piece is None:
            piece = self.recorder.piece(inquiry, case)
            if draft:
                draft.put(number, piece)
        self.recorder.add(piece, universe)
        return RecordedCase(
            case=case,
            dataset=dataset,
            datasets=universe.names,
            hide_sources=inquiry.hide_sources,
            content=inquiry.content,
            searched=bool(inquiry.vector.any()),
            as_of=inquiry.as_of,
            known_at=inquiry.known_at,
            idf=piece.idf,
        )

    def universe(self, dataset: str) -> Universe:
        """The datasets of that name or pattern, as they were when first asked."""
        if dataset not in self.universes:
            self.universes[dataset] = Universe.opened(self.workspace, dataset, self.user_id)
        return self.universes[dataset]

    def unchanged(self) -> dict[str, str]:
        """Name → content hash of every dataset that was asked.

        Raises:
            RecordingError: one was written to meanwhile.
        """
        found = {}
        for pattern, universe in self.universes.items():
            if universe.changed():
                raise RecordingError(f"dataset {pattern!r} changed while it was recorded; record it again")
            for one in universe.datasets:
                found[one.name] = self.workspace.store.content_hash(one.dataset_id)
        return dict(sorted(found.items()))


def _draft(
    out: Path,
    asker: _Asker,
    cases: Sequence[LabelledCase],
    hidden: Sequence[frozenset[str]],
    widths: Mapping[str, int],
) -> Draft:
    """The draft of exactly this recording: of this data, these cases, methods and widths."""
    workspace, profile = asker.workspace, asker.profile
    stamp = {
        "format": FORMAT,
        "recipe": asker.recipe,
        "settings": {name: value for name, value in profile.values.items() if isinstance(value, str)},
        "spaces": workspace.spaces(profile),
        "content": {
            dataset: asker.universe(dataset).content for dataset in sorted({name for name, _ in cases})
        },
        "levels": asker.levels,
        "widths": dict(widths),
        "profile": profile.fingerprint,
        "cases": [
            (dataset, case.to_body(), sorted(hide))
            for (dataset, case), hide in zip(cases, hidden, strict=True)
        ],
    }
    return Draft(out, stamp)


def _widths(recipe: Recipe, profile: Profile, asked: Mapping[str, int]) -> dict[str, int]:
    if recipe == "graph":
        if asked:
            raise UsageError(
                "recipe graph is always recorded as wide as its thresholds reach; leave --width out"
            )
        return {}
    wide = {**WIDTHS, "rerank.depth": profile.count("rerank.depth")}
    for name, value in asked.items():
        knob = BY_NAME.get(name)
        if name not in WIDTHS or not isinstance(knob, Threshold):
            raise UsageError(f"no width {name!r}; there are {', '.join(WIDTHS)}")
        if value < 1:
            raise UsageError(f"width {name} must be at least 1, got {value}")
        wide[name] = value
    return wide


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedQuestion:
    """One question with everything it found; kept by an app whose thresholds are moved."""

    recording: Recording
    replayer: Replayer

    def trace(self, profile: Profile) -> Trace:
        """What ``Workspace.ask`` would answer under the profile, times apart; nothing is searched or embedded.

        Raises:
            RecordingError: the profile has other methods or score spaces, or asks for more than was recorded.
        """
        return self.replayer.trace(0, profile)


def record_question(
    workspace: Workspace,
    question: str,
    *,
    dataset: str,
    recipe: Recipe,
    profile: Profile,
    levels: tuple[str, ...] | None = None,
    hide_sources: frozenset[str] = frozenset(),
    as_of: str | None = None,
    known_at: str | None = None,
    widths: Mapping[str, int] | None = None,
    user_id: str = DEFAULT_USER,
) -> RecordedQuestion:
    """Asks one question wide and keeps what it found in memory. ``dataset`` may be a pattern; ``profile`` gives the
    methods, and how deep the reranker reads unless ``widths`` does.

    Raises:
        UsageError, NotFoundError, ScoreSpaceError: see ``Workspace.ask``. RecordingError: the data changed meanwhile.
    """
    wide = _widths(recipe, profile, widths or {})
    asker = _Asker.of(workspace, recipe, profile, wide, levels, user_id)
    case = Case(case_id="question", question=question, answerable=None, as_of=as_of, known_at=known_at)
    recorded = asker.recorded(0, dataset, case, hide_sources, None)
    recording = _whole(asker, [recorded], profile, variant="near-miss", drop_same_id=False, failures=())
    return RecordedQuestion(recording=recording, replayer=Replayer(recording))
