"""One question recorded in memory: every threshold moved afterwards gives the Trace a fresh question would."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from core.errors import RecordingError, UsageError
from core.trace import Recipe, Trace
from core.workspace import Workspace
from evals.record import record_question
from tests.evals.replaying import drawn, meridian, seed

QUESTION = "Who approves outbound followups to customers, and since when?"
OPTIONS: dict[Recipe, dict[str, object]] = {
    "graph": {"as_of": "2025-01-01"},
    "memory": {"levels": ("L0", "L1", "L2")},
    "brain": {"hide_sources": frozenset({"policies/outbound-followups"})},
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    workspace, _ = meridian(tmp_path_factory.mktemp("question"))
    yield workspace
    workspace.close()


def plain(trace: Trace) -> Trace:
    return replace(trace, times_ms={}, calls=())


@pytest.mark.parametrize("recipe", OPTIONS)
@pytest.mark.parametrize("dataset", ["meridian", "*"])
def test_a_question_is_replayed_under_other_thresholds(
    workspace: Workspace, recipe: Recipe, dataset: str
) -> None:
    base, rng, options = seed(recipe), np.random.default_rng(1), OPTIONS[recipe]
    widths = {} if recipe == "graph" else {"rerank.depth": 200}
    asked = record_question(
        workspace, QUESTION, dataset=dataset, recipe=recipe, profile=base, widths=widths, **options
    )  # type: ignore[arg-type]
    for profile in [base, *(drawn(base, rng) for _ in range(20))]:
        fresh = workspace.ask(QUESTION, dataset=dataset, recipe=recipe, profile=profile, **options)  # type: ignore[arg-type]
        assert plain(asked.trace(profile)) == plain(fresh)


def test_nothing_is_searched_or_embedded_again(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = record_question(workspace, QUESTION, dataset="meridian", recipe="brain", profile=seed("brain"))

    def never(*args: object, **options: object) -> None:
        raise AssertionError("asked again")

    monkeypatch.setattr(type(workspace.embedder), "embed", never)
    monkeypatch.setattr("core.index.vectors.FaissIndex.search", never)
    monkeypatch.setattr("core.index.tfidf.TfidfIndex.scores", never)
    assert not asked.trace(seed("brain")).answer.abstained
    strict = seed("brain", floor__min_score=0.99, floor__strong_overlap=1.01)
    assert asked.trace(strict).answer.abstained


def test_other_methods_are_refused_and_empty_questions_too(workspace: Workspace) -> None:
    asked = record_question(workspace, QUESTION, dataset="meridian", recipe="brain", profile=seed("brain"))
    with pytest.raises(RecordingError, match="another method"):
        asked.trace(seed("brain", recall__lexical="bm25"))
    with pytest.raises(UsageError, match="empty"):
        record_question(workspace, " ", dataset="meridian", recipe="brain", profile=seed("brain"))
