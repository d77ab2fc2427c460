"""Replay against fresh runs: every decision, order, selection and metric, for profiles drawn over their whole ranges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from core.profile import Profile
from core.trace import Recipe, Trace
from core.workspace import Workspace
from evals.record import record
from evals.recording import Recording
from evals.replay import Replayer, decision_of, replay
from evals.runs import LabelledCase, hidden_sources
from evals.scoring import PER_CASE, Row, scored, summarised
from tests.evals.replaying import drawn, meridian, seed

LEVELS = ("L0", "L1", "L2")
ARMS: dict[str, Profile] = {
    "graph": seed("graph", floor__min_cosine=0.2),
    "graph drops": seed("graph", floor__min_cosine=0.1, gate__min_cosine=0.2, graph__future_facts="drop"),
    "brain": seed("brain"),
    "brain convex": seed("brain", recall__lexical="bm25", fusion__method="convex"),
    "brain rrf": seed("brain", recall__lexical="bm25", fusion__method="rrf"),
    "memory": seed("memory"),
    "memory convex": seed("memory", recall__lexical="bm25", fusion__method="convex", recall__lexical_k=50),
    "memory lexical": seed("memory", fusion__method="lexical", rerank__method="none", recall__lexical_k=50),
}
SKIPPED = {name for name in PER_CASE if name not in ("citation_precision", "citation_recall", "citation_f1")}


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Workspace, list[LabelledCase]]]:
    workspace, cases = meridian(tmp_path_factory.mktemp("replay"))
    yield workspace, cases
    workspace.close()


def fresh(workspace: Workspace, labelled: LabelledCase, profile: Profile, recording: Recording) -> Trace:
    dataset, case = labelled
    return workspace.ask(
        case.question,
        dataset=dataset,
        recipe=profile.recipe,
        profile=profile,
        levels=LEVELS if profile.recipe == "memory" else None,
        hide_sources=hidden_sources(case, recording.header.variant, drop_same_id=False),
        as_of=case.as_of,
        known_at=case.known_at,
    )


def recorded(stored: tuple[Workspace, list[LabelledCase]], profile: Profile) -> Recording:
    workspace, cases = stored
    return record(
        workspace,
        cases,
        recipe=profile.recipe,
        profile=profile,
        variant="absent",
        levels=LEVELS if profile.recipe == "memory" else None,
        widths={} if profile.recipe == "graph" else {"rerank.depth": 200},
    )


def plain(trace: Trace) -> Trace:
    """Without its times and the call that embedded the question, which are no two runs' own."""
    return replace(trace, times_ms={}, calls=())


@pytest.mark.parametrize("arm", ARMS)
def test_a_hundred_random_profiles_equal_fresh_runs(
    stored: tuple[Workspace, list[LabelledCase]], arm: str
) -> None:
    workspace, cases = stored
    cases = cases[::4] if arm.startswith("graph") else cases
    base, rng = ARMS[arm], np.random.default_rng(7)
    recording = recorded((workspace, cases), base)
    assert len(recording) == len(cases)
    profiles = [base, *(drawn(base, rng) for _ in range(99))]
    replayer, replayed = Replayer(recording), replay(recording, profiles, workers=2)
    figures = replayed.figures()
    seen: set[tuple[bool, str | None]] = set()
    for number, profile in enumerate(profiles):
        rows = replayed.rows(number)
        chosen = rng.choice(len(cases), size=2, replace=False).tolist() if number else range(0, len(cases), 3)
        for place in chosen:
            trace = fresh(workspace, cases[place], profile, recording)
            again = replayer.trace(place, profile)
            assert decision_of("", again) == decision_of("", trace)
            assert plain(again) == plain(trace)
            row = scored(cases[place][1], cases[place][0], trace)
            assert rows[place] == like(row, rows[place])
            seen.add((trace.answer.abstained, trace.answer.reason))
        if number % 50 == 0:
            summary = summarised(rows, seed=0)
            for name, values in figures.items():
                value = summary[name].value
                assert values[number] == pytest.approx(np.nan if value is None else value, nan_ok=True), name
    assert {(False, None), (True, "below_floor")} <= seen


def like(row: Row, other: Row) -> Row:
    """A scored row's fields that a batch has; what is read off an answer's words is left to its Trace."""
    retrieval = {name for name in other if "@" in name or name in ("mrr", "map")}
    return {
        name: None if name in SKIPPED - retrieval else _float32(value) if name == "confidence" else value
        for name, value in row.items()
        if name in other
    }


def _float32(value: float | None) -> float | None:
    return None if value is None else float(np.float32(value))


def test_recipes_are_all_replayed() -> None:
    recipes: set[Recipe] = {profile.recipe for profile in ARMS.values()}
    assert recipes == set(get_args(Recipe))
