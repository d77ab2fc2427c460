"""Tuning over replay: a planted optimum found, flat and constant surfaces said, sums equal figures, folds by document."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.errors import UsageError
from evals.recording import Recording
from evals.replay_figures import FIGURES
from evals.tuning import additive, command, draws
from evals.tuning.crossval import folds_of, validated
from evals.tuning.explore import SEARCHES, Explorer, Search
from evals.tuning.flatness import Flat
from evals.tuning.objective import one_figure, parse_constraint, parse_objective
from evals.tuning.problem import Problem, clusters_of
from evals.tuning.promise import parse_promise
from evals.tuning.samplers import sampled
from evals.tuning.space import parse_axes
from evals.tuning.surface import chosen, front
from evals.tuning.tuning import Plan, tune
from tests.evals.replaying import seed

BASE = seed("brain", floor__strong_overlap=1.01, floor__min_score=0.0, floor__min_overlap=0.0)


def planted(recording: Recording, *vary: str, objective: str = "balanced_correct", **more: object) -> Problem:
    return Problem(
        recording=recording, base=BASE, axes=parse_axes(vary or ["floor.min_overlap=0:1"], "brain"),
        objectives=(parse_objective(objective),), **more,  # type: ignore[arg-type]
    )  # fmt: skip


def split(recording: Recording, name: str) -> np.ndarray:
    return np.array([case.case.split == name for case in recording.cases])


@pytest.mark.parametrize("search", SEARCHES)
def test_a_planted_optimum_is_found(planted_recording: Recording, search: Search) -> None:
    problem = planted(planted_recording)
    dev, test = split(planted_recording, "dev"), split(planted_recording, "test")
    tuned = tune(problem, Plan(search=search, trials=40, chosen=dev, report=test))
    assert tuned.profile is not None
    assert 0.25 < tuned.profile.number("floor.min_overlap") <= 1
    first = tuned.held_out[0]
    assert (first.name, first.before, first.after) == ("balanced_correct", 0.5, 1.0)
    assert first.difference_interval == (0.5, 0.5)
    assert isinstance(tuned.flat, Flat)
    low, high = tuned.flat.ranges["floor.min_overlap"]
    assert 0.25 <= float(low) < 0.4  # all of what is right, and nothing else
    assert 0.8 < float(high) <= 1
    again = tune(problem, Plan(search=search, trials=40, chosen=dev, report=test))
    assert again.surface is not None
    assert tuned.surface is not None
    assert again.surface.points == tuned.surface.points  # seeded


def test_of_equal_settings_the_middle_is_taken(planted_recording: Recording) -> None:
    plan = Plan(search="grid", trials=41, chosen=np.ones(90, dtype=bool), folds=5)
    tuned = tune(planted(planted_recording), plan)
    assert tuned.profile is not None
    assert tuned.profile.number("floor.min_overlap") == pytest.approx(0.625, abs=0.03)  # of (¼, 1]


def test_a_surface_that_never_changes_is_refused(planted_recording: Recording) -> None:
    problem = planted(planted_recording, "rerank.weight=0:1", "mmr.lambda=0.5:1")
    plan = Plan(trials=16, chosen=split(planted_recording, "dev"), report=split(planted_recording, "test"))
    with pytest.raises(
        UsageError, match=r"no setting changes balanced_correct \(it is 0.500 for all \d\d\).*rerank.weight"
    ):
        tune(problem, plan)


def test_a_threshold_that_never_acts_is_named_and_left_alone(planted_recording: Recording) -> None:
    problem = planted(planted_recording, "floor.min_overlap=0:1", "rerank.weight=0:1")
    tuned = tune(problem, Plan(trials=32, chosen=np.ones(90, dtype=bool), folds=3))
    assert [(one.name, one.acts) for one in tuned.effects] == [
        ("floor.min_overlap", True), ("rerank.weight", False),
    ]  # fmt: skip
    assert tuned.profile is not None
    assert tuned.profile.number("rerank.weight") == BASE.number("rerank.weight")


def test_a_flat_surface_is_said_to_be_flat(shipped_recording: Recording) -> None:
    """On so few cases hardly any setting can be told from the best, and the ranges say so."""
    problem = Problem(
        recording=shipped_recording, base=seed("brain"), axes=parse_axes(["floor.min_overlap=0:0.5"], "brain"),
        objectives=(parse_objective("decision_f1"),),
    )  # fmt: skip
    dev = split(shipped_recording, "dev")
    tuned = tune(problem, Plan(search="grid", trials=50, chosen=dev, report=split(shipped_recording, "test")))
    assert isinstance(tuned.flat, Flat)
    assert tuned.flat.count > 1
    low, high = (float(end) for end in tuned.flat.ranges["floor.min_overlap"])
    assert tuned.profile is not None
    assert low <= tuned.profile.number("floor.min_overlap") <= high
    assert high - low > 0.05


def test_constraints_that_cannot_be_met_give_no_profile(planted_recording: Recording) -> None:
    problem = planted(
        planted_recording, "floor.min_overlap=0:0.2", "select.k=1:3", objective="citation_precision",
        constraints=(parse_constraint("false_answer_rate <= 0.05"),),
    )  # fmt: skip
    tuned = tune(problem, Plan(trials=16, chosen=np.ones(90, dtype=bool), folds=3))
    assert tuned.profile is None
    assert tuned.why_not == "no setting meets false_answer_rate <= 0.05: the closest has 1.000"


def test_constraints_hold_where_they_can(planted_recording: Recording) -> None:
    problem = planted(
        planted_recording, objective="answered_answerable",
        constraints=(parse_constraint("false_answer_rate <= 0"),),
    )  # fmt: skip
    problem = replace(problem, axes=parse_axes(["floor.min_overlap=0:1", "floor.min_score=0:1"], "brain"))
    for search in ("sobol", "tpe"):
        tuned = tune(problem, Plan(search=search, trials=48, chosen=np.ones(90, dtype=bool), folds=3))
        assert tuned.surface is not None
        assert tuned.best is not None
        assert tuned.surface.figures["false_answer_rate"][tuned.best] == 0
        assert tuned.surface.figures["answered_answerable"][tuned.best] == 1


@pytest.mark.parametrize("figure", FIGURES)
def test_figures_from_sums_and_weights_are_the_figures(shipped_recording: Recording, figure: str) -> None:
    problem = Problem(
        recording=shipped_recording, base=seed("brain"), axes=parse_axes([], "brain"), objectives=(one_figure(figure),)
    )  # fmt: skip
    replayed = problem.replayed(sampled("lhs", problem.axes, 12, seed=1))
    clusters = clusters_of(replayed.cases)[1]
    found = draws.under(figure, replayed, np.ones((1, clusters)))[:, 0]
    assert found == pytest.approx(replayed.figures()[figure], nan_ok=True, abs=1e-6)


def test_weights_are_cases_left_out_and_repeated(shipped_recording: Recording) -> None:
    """A document with weight 0 is as if its cases were not there."""
    problem = Problem(
        recording=shipped_recording, base=seed("brain"), axes=parse_axes([], "brain"), objectives=(),
    )  # fmt: skip
    replayed = problem.replayed(sampled("lhs", problem.axes, 8, seed=2))
    codes, clusters = clusters_of(replayed.cases)
    weights = np.random.default_rng(0).integers(0, 2, (3, clusters)).astype(float)
    for figure in additive.ADDITIVE:
        found = draws.under(figure, replayed, weights)
        for row, weight in enumerate(weights):
            some = replayed.among(weight[codes] == 1).figures()[figure]
            assert found[:, row] == pytest.approx(some, nan_ok=True, abs=1e-6), figure


def test_folds_hold_whole_documents_and_both_kinds(shipped_recording: Recording) -> None:
    cases = shipped_recording.cases
    folds = folds_of(cases, 5, seed=0)
    codes, clusters = clusters_of(cases)
    for document in range(clusters):
        assert len(set(folds[codes == document].tolist())) == 1
    sizes = np.bincount(folds)
    assert len(sizes) == 5
    assert sizes.min() >= 6
    for fold in range(5):
        assert len({case.case.answerable for case, of in zip(cases, folds, strict=True) if of == fold}) == 2
    with pytest.raises(UsageError, match="number of documents"):
        folds_of(cases, clusters + 1)


def test_no_fold_is_judged_by_a_choice_that_saw_it(planted_recording: Recording) -> None:
    """The search is handed all other documents and none of the fold's; its choice judges that fold alone."""
    problem = planted(planted_recording)
    folds, everything = folds_of(planted_recording.cases, 3, seed=1), np.ones(90, dtype=bool)
    cuts, seen = (0.1, 0.6, 0.1), []

    def search(among: np.ndarray) -> object:
        explorer = Explorer(problem=problem, chosen=among)
        explorer.add([{"floor.min_overlap": cuts[len(seen)]}])
        seen.append(among)
        return explorer.surface()

    found = validated(problem, folds, everything, search)  # type: ignore[arg-type]
    for fold, among in enumerate(seen):
        assert (among == (folds != fold)).all()
    no = np.array([case.case.answerable is False for case in planted_recording.cases])
    answered = ~found.held_out.abstained[1]
    assert (answered[no] == np.isin(folds[no], [0, 2])).all()
    assert answered[~no].all()


def test_shared_sums_choose_what_a_search_of_the_fold_would(shipped_recording: Recording) -> None:
    problem = Problem(
        recording=shipped_recording, base=seed("brain"), axes=parse_axes([], "brain"),
        objectives=(parse_objective("balanced_correct"),),
    )  # fmt: skip
    everything = np.ones(len(shipped_recording), dtype=bool)
    tuned = tune(problem, Plan(trials=32, chosen=everything, folds=4))
    folds = folds_of(shipped_recording.cases, 4)
    for fold, point in enumerate(tuned.fold_points):
        among = folds != fold
        alone = Explorer(problem=problem, chosen=among).run("sobol", 32)
        best = alone.best()
        assert best is not None
        assert point is not None
        found = problem.replayed([point]).among(among).figures()["balanced_correct"][0]
        assert found == pytest.approx(alone.scores[best, 0])


def test_the_front_and_what_is_taken_of_it() -> None:
    scores = np.array([[1.0, 0.0], [0.0, 1.0], [0.7, 0.8], [0.6, 0.8], [0.9, 0.9], [np.nan, 2.0]])
    feasible = np.array([True, True, True, True, False, False])
    assert front(scores, feasible).tolist() == [0, 2, 1]
    axes = parse_axes(["floor=0:1"], "brain")
    points = [{"floor.min_score": place / 10} for place in range(6)]
    assert chosen(axes, points, scores, feasible) == 2
    assert chosen(axes, points, scores, np.zeros(6, dtype=bool)) is None


def test_nsga2_gives_a_front_of_two_objectives(planted_recording: Recording) -> None:
    problem = planted(planted_recording, "floor.min_overlap=0:1", "floor.min_score=0:1")
    problem = replace(
        problem, objectives=tuple(map(parse_objective, ("answered_answerable", "false_answer_rate")))
    )
    tuned = tune(problem, Plan(search="nsga2", trials=96, chosen=np.ones(90, dtype=bool), folds=3))
    assert tuned.surface is not None
    assert tuned.best in tuned.front
    assert tuned.surface.scores[tuned.best].tolist() == [1, 0]


def test_a_promise_moves_the_cut_alone(planted_recording: Recording) -> None:
    """Thirty documents without an error promise 0.1 at 0.95 (0.9^30 = 0.042) and no more."""
    problem = replace(planted(planted_recording), base=BASE.with_values({"floor.min_overlap": 0.0}), axes=())
    everything = np.ones(90, dtype=bool)
    kept = tune(problem, Plan(chosen=everything, promise=parse_promise("false_answer_rate <= 0.1"))).promise
    assert kept is not None
    assert (kept.cut, kept.documents, kept.cases) == ("floor.min_score", 30, 30)
    assert kept.value is not None
    assert kept.answered[kept.tested.kept - 1] == 1  # the two kinds' scores are far apart
    assert kept.tested.errors[kept.tested.kept - 1] == 0
    assert kept.tested.errors[kept.tested.kept] > 0
    tuned = tune(problem, Plan(chosen=everything, promise=parse_promise("false_answer_rate <= 0.09")))
    assert tuned.profile is None
    assert tuned.promise is not None
    assert tuned.promise.needed == 32  # log 0.05 / log 0.91


def test_a_promise_counts_a_document_once(shipped_recording: Recording) -> None:
    problem = Problem(recording=shipped_recording, base=BASE, axes=(), objectives=())
    plan = Plan(chosen=np.ones(len(shipped_recording), dtype=bool))
    kept = tune(problem, replace(plan, promise=parse_promise("over_refusal_rate <= 0.5 @ 0.5"))).promise
    assert kept is not None
    answerable = [case for case in shipped_recording.cases if case.case.answerable]
    assert kept.cases == len(answerable)
    assert kept.documents == clusters_of(answerable)[1]


@pytest.mark.parametrize("trials", [0, 100_001])
def test_trials_out_of_range_are_refused(planted_recording: Recording, trials: int) -> None:
    with pytest.raises(UsageError, match="--trials"):
        Explorer(problem=planted(planted_recording), chosen=np.ones(90, dtype=bool)).run("sobol", trials)


def test_ctrl_c_keeps_what_was_tried(
    planted_recording: Recording, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Stopped after the first batch of 256, the surface of those is written and the stop goes on."""

    def stop(finished: int) -> None:
        raise KeyboardInterrupt

    problem = planted(planted_recording, "floor.min_overlap=0:1", "floor.min_score=0:1")
    plan = Plan(search="random", trials=1000, chosen=np.ones(90, dtype=bool), folds=3)
    with pytest.raises(KeyboardInterrupt):
        tune(problem, plan, progress=stop, keep=lambda found: command.keep(found, tmp_path / "cut.csv"))
    assert len(pd.read_csv(tmp_path / "cut.csv")) == 257  # the profile it started from is one of them
    assert "the 257 settings tried so far are in" in capsys.readouterr().err
