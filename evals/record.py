"""Recording: every case asked once, wide, and what no threshold changes kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version

from core import clock
from core.errors import RecordingError, UsageError
from core.profile import Profile
from core.progress import Progress, quiet
from core.recipes.inquiry import Inquiry
from core.records import DEFAULT_USER
from core.thresholds import BY_NAME, Setting, Threshold, for_recipe
from core.trace import Recipe
from core.workspace import Workspace
from evals.cases import Case, Variant
from evals.record_levelled import LevelledRecorder
from evals.recording import Header, RecordedCase, Recording
from evals.runs import LabelledCase, failure, hidden_sources

WIDTHS: Mapping[str, int] = {"recall.lexical_k": 1000, "recall.dense_k": 1000, "rerank.depth": 50}
"""How wide is recorded unless said otherwise; the reranker is the one that costs."""


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
) -> Recording:
    """Asks every case once under the profile's methods and keeps candidates with all their scores.

    ``widths`` widens or narrows what is kept (``{"rerank.depth": 200}``); a case that fails is kept as a failure.
    ``broken`` are cases that could not even be read.

    Raises:
        UsageError: an unknown width. RecordingError: not one case could be recorded.
    """
    wide = _widths(recipe, profile, widths or {})
    recorder = LevelledRecorder(recipe, profile, wide)
    kept: list[RecordedCase] = []
    failures = [dict(one) for one in broken]
    for dataset, case in cases:
        try:
            hide = hidden_sources(case, variant, drop_same_id=drop_same_id)
            inquiry = workspace.inquiry(
                case.question, dataset=dataset, recipe=recipe, profile=recorder.wide(profile), levels=levels,
                hide_sources=hide, as_of=case.as_of, known_at=case.known_at, user_id=user_id,
            )  # fmt: skip
            idf = recorder.add(inquiry, case)
            kept.append(_asked(inquiry, case, dataset, idf))
        except Exception as error:  # noqa: BLE001 (one broken case never takes a recording down)
            failures.append(failure(case.case_id, dataset, error))
        progress(1)
    if not kept:
        first = failures[0]["message"] if failures else "there are no cases"
        raise RecordingError(f"none of {len(failures)} cases could be recorded; the first: {first}")
    arrays, rows = recorder.finish()
    datasets = _unchanged(workspace, kept, user_id)
    header = Header(
        recipe=recipe,
        profile=profile.name,
        settings={k.name: profile.values[k.name] for k in for_recipe(recipe) if isinstance(k, Setting)},
        spaces=workspace.spaces(profile),
        embedder=workspace.embedder.model_id,
        datasets=datasets,
        user_id=user_id,
        variant=variant,
        levels=inquiry.levels,
        drop_same_id=drop_same_id,
        widths=recorder.limits(),
        exact=recorder.exact,
        recorded_at=clock.now(),
        assay=version("assay"),
        failures=tuple(failures),
    )  # fmt: skip
    return Recording(header=header, cases=tuple(kept), arrays=arrays, rows=rows)


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


def _unchanged(workspace: Workspace, kept: Sequence[RecordedCase], user_id: str) -> dict[str, str]:
    """Name → content hash, the same for the first case and now."""
    found = {}
    for name in sorted({case.dataset for case in kept}):
        found[name] = workspace.store.content_hash(workspace.store.dataset(name, user_id).dataset_id)
        if {case.content for case in kept if case.dataset == name} != {found[name]}:
            raise RecordingError(f"dataset {name!r} changed while it was recorded; record it again")
    return found


def _asked(inquiry: Inquiry, case: Case, dataset: str, idf: Mapping[str, float]) -> RecordedCase:
    return RecordedCase(
        case=case,
        dataset=dataset,
        hide_sources=inquiry.hide_sources,
        content=inquiry.content,
        searched=bool(inquiry.vector.any()),
        as_of=inquiry.as_of,
        known_at=inquiry.known_at,
        idf=idf,
    )
