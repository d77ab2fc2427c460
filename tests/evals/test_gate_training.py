"""A gate learned from the shipped data, put into a profile, and applied by the pipeline it was learned from."""

import json
from dataclasses import replace

import numpy as np
import pytest

from core import profile as profiles
from core import render
from core.errors import ProfileError, RecordingError, ScoreSpaceError, UsageError
from core.profile import to_toml
from core.trace import Trace
from core.workspace import Workspace
from evals import gate_command
from evals.cases import Case, Gold
from evals.gate_examples import collect, documents, without_gate
from evals.gate_training import fit_gate
from evals.gate_training_report import to_markdown
from evals.record import record
from evals.replay import Replayer, replay
from tests.conftest import BagEmbedder
from tests.evals.replaying import meridian, seed

RECIPES = ("brain", "memory", "graph")


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    workspace, cases = meridian(tmp_path_factory.mktemp("gate"))
    yield workspace, cases
    workspace.close()


@pytest.fixture(scope="module")
def fit(stored):
    workspace, cases = stored
    return fit_gate(workspace, cases, recipe="brain", profile=seed("brain"), repeats=1)


def asked(workspace, case: Case, profile) -> Trace:
    return workspace.ask(
        case.question, dataset="meridian", recipe=profile.recipe, profile=profile, as_of=case.as_of
    )


@pytest.mark.parametrize("recipe", RECIPES)
def test_the_pipeline_judges_by_the_very_numbers_that_were_trained_on(stored, fit, recipe):
    workspace, cases = stored
    some = [one for one in cases if one[1].answerable][:3] + [
        one for one in cases if one[1].answerable is False
    ][:3]
    examples = collect(workspace, some, recipe=recipe, profile=seed(recipe), variants=("near-miss",))
    numbers = [one for one in fit.gate.features if one.name in examples.names]
    gate = replace(fit.gate, recipe=recipe, features=tuple(numbers), reads={"cosine": "cosine/bag-64"})
    profile = replace(seed(recipe), learned_gate=gate)
    by_id = dict(zip((case_id for _, case_id in examples.cases), examples.values.tolist(), strict=True))
    for _, case in some:
        judged = asked(workspace, case, profile).judgement
        row = dict(zip(examples.names, by_id[case.case_id], strict=True))
        assert judged.values == {name: row[name] for name in gate.names}
        assert judged.probability == gate.probability(row)


def test_gold_is_never_seen(stored):
    """Everything but the question (and what a variant hides) may be another, and not one number changes."""
    workspace, cases = stored
    some = cases[::6]
    lies = [
        (dataset, replace(case, gold=(Gold(source="elsewhere"),), citations=(), alternatives=(), answers=("a lie",),
                          stale_answers=(), tags={}, split=None, why_unanswerable=None, answerable=not case.answerable))
        for dataset, case in some
    ]  # fmt: skip
    seen = collect(workspace, some, recipe="brain", profile=seed("brain"), variants=("near-miss",))
    told = collect(workspace, lies, recipe="brain", profile=seed("brain"), variants=("near-miss",))
    assert (seen.values == told.values).all()
    assert (seen.answerable != told.answerable).all()


@pytest.mark.parametrize("above", [True, False])
def test_all_or_nothing_at_the_cut(stored, fit, above):
    workspace, cases = stored
    case = next(case for _, case in cases if case.answerable)
    judged = asked(workspace, case, fit.profile).judgement
    cut = judged.probability + (-1e-9 if above else 1e-9)
    trace = asked(
        workspace, case, without_gate_floors(fit.profile).with_values({"gate.min_probability": cut})
    )
    assert trace.answer.abstained is not above
    assert (trace.answer.confidence, trace.answer.confidence_space) == (judged.probability, fit.gate.space)
    if not above:
        assert trace.answer.explanation.startswith(f"abstained: P = {judged.probability:.2f}")
        drops = [one.dropped for one in trace.candidates if one.dropped and one.dropped.stage == "gate"]
        assert {(one.threshold, one.space) for one in drops} == {("gate.min_probability", fit.gate.space)}
        assert [one.value for one in drops] == pytest.approx([judged.probability] * len(drops))


def without_gate_floors(profile):
    """Nothing but the gate decides."""
    return profile.with_values(
        {"floor.min_overlap": 0.0, "floor.min_score": 0.0, "floor.strong_overlap": 0.0}
    )


def test_a_trace_carries_its_judgement_and_shows_it(stored, fit):
    workspace, cases = stored
    trace = asked(workspace, cases[0][1], fit.profile)
    assert Trace.from_json(trace.to_json()) == trace
    assert trace.judgement.said in trace.stage("gate").note
    shown = render.explanation(trace)
    assert trace.judgement.said in shown
    strongest = max(trace.judgement.contributions, key=lambda name: abs(trace.judgement.contributions[name]))
    assert f"{strongest} = {trace.judgement.values[strongest]:.4g}" in shown


def test_a_zeroed_weight_changes_what_is_said(stored, fit):
    workspace, cases = stored
    heaviest = max(fit.gate.features, key=lambda one: abs(one.weight))
    zeroed = tuple(replace(one, weight=0.0) if one == heaviest else one for one in fit.gate.features)
    light = replace(fit.gate, features=zeroed)
    plain = replace(
        fit.profile, learned_gate=light, spaces={**fit.profile.spaces, "gate.min_probability": light.space}
    )
    before, after = (
        [asked(workspace, case, one).judgement for _, case in cases] for one in (fit.profile, plain)
    )
    assert any(one.contributions[heaviest.name] != 0 for one in before)
    assert all(one.contributions[heaviest.name] == 0 for one in after)
    assert [one.probability for one in before] != [one.probability for one in after]


def test_the_report_says_where_it_came_from(stored, fit):
    _, cases = stored
    report = fit.gate.report
    labelled = [case for _, case in cases if case.answerable is not None]
    absent = sum(bool(case.hides) and not case.answerable for case in labelled)
    assert report["answerable"] == sum(bool(case.answerable) for case in labelled)
    assert report["unanswerable"] == sum(not case.answerable for case in labelled) + absent
    assert (report["embedder"], report["datasets"], report["asked_under"]) == ("bag-64", "meridian", "seed")
    assert report["held_out.all.auroc"] == round(fit.figures["all"]["auroc"].value, 4)
    assert fit.gate.reads == {"cosine": "cosine/bag-64"}
    assert fit.profile.spaces["gate.min_probability"] == fit.gate.space
    table = to_markdown(fit)
    assert f"| AUROC | {fit.figures['all']['auroc'].value:.3f} [" in table


def test_equal_inputs_give_equal_bytes_and_the_file_is_the_gate(stored, fit, tmp_path):
    workspace, cases = stored
    again = fit_gate(workspace, cases, recipe="brain", profile=seed("brain"), repeats=1)
    assert to_toml(again.profile) == to_toml(fit.profile)
    file = tmp_path / "gated.toml"
    file.write_text(to_toml(fit.profile))
    loaded = profiles.load(file, "brain")
    assert loaded.learned_gate == fit.gate
    for _, case in cases[:3]:
        assert asked(workspace, case, loaded).answer == asked(workspace, case, fit.profile).answer


def test_a_number_changed_by_hand_is_refused(fit, tmp_path):
    file = tmp_path / "gated.toml"
    weight = (
        f'"weight": {fit.gate.features[0].weight}'
        if False
        else f"weight = {json.dumps(fit.gate.features[0].weight)}"
    )
    file.write_text(to_toml(fit.profile).replace(weight, "weight = 0.0"))
    with pytest.raises(ProfileError, match="changed after training"):
        profiles.load(file, "brain")


def test_another_embedder_is_refused_with_how_to_tune_again(stored, fit):
    workspace, cases = stored

    class Other(BagEmbedder):
        model_id = "other-64"

    with Workspace.open(workspace.store.database.path, embedder=Other()) as elsewhere:
        told = r"trained in score space 'cosine/bag-64'.*scores in 'cosine/other-64'.*assay tune --gate --dataset NAME"
        with pytest.raises(ScoreSpaceError, match=told):
            asked(elsewhere, cases[0][1], fit.profile)


def test_one_case_is_replayed_with_its_gate_and_many_are_refused(stored, fit):
    workspace, cases = stored
    profile = fit.profile
    recording = record(workspace, cases[:6], recipe="brain", profile=profile)
    for number, (_, case) in enumerate(cases[:6]):
        again, fresh = Replayer(recording).trace(number, profile), asked(workspace, case, profile)
        assert (again.judgement, again.answer.abstained) == (fresh.judgement, fresh.answer.abstained)
    with pytest.raises(RecordingError, match="learned gate, which reads the candidates' texts"):
        replay(recording, [profile])


def test_a_broken_case_is_counted_and_the_rest_goes_on(stored):
    workspace, cases = stored
    broken = replace(cases[0][1], case_id="broken", as_of="the day before yesterday")
    some = [("meridian", broken), *cases[::4]]
    examples = collect(workspace, some, recipe="graph", profile=seed("graph"), variants=("near-miss",))
    assert [one["case_id"] for one in examples.failures] == ["broken"]
    assert len(examples) + examples.without == len(cases[::4])


@pytest.mark.parametrize("coverage", [0, 1.2, float("nan")])
def test_a_coverage_that_is_no_share(stored, coverage):
    workspace, cases = stored
    with pytest.raises(UsageError, match=r"coverage must be in \(0, 1\]"):
        fit_gate(workspace, cases, recipe="brain", profile=seed("brain"), coverage=coverage)


def test_one_class_teaches_nothing(stored):
    workspace, cases = stored
    answerable = [one for one in cases if one[1].answerable][:2]
    with pytest.raises(UsageError, match="here are 2 and 0"):
        fit_gate(workspace, answerable, recipe="brain", profile=seed("brain"))


def test_questions_that_share_any_document_stay_together(stored):
    workspace, _ = stored
    sources = {"a": ["s1", "s2"], "b": ["s3"], "c": ["s2", "s3"], "d": ["s4"], "e": []}
    cases = [
        ("meridian", Case(case_id=name, question="Who approves outbound followups?", answerable=name != "d",
                          gold=tuple(Gold(source=one) for one in listed)))
        for name, listed in sources.items()
    ]  # fmt: skip
    assert documents(cases[4][1]) == ("e",)
    examples = collect(workspace, cases, recipe="brain", profile=seed("brain"), variants=("near-miss",))
    groups = dict(zip((case_id for _, case_id in examples.cases), examples.clusters, strict=True))
    assert groups["a"] == groups["b"] == groups["c"]
    assert len({groups["a"], groups["d"], groups["e"]}) == 3


def test_an_unanswerable_question_is_asked_once_a_variant(stored):
    workspace, cases = stored
    unanswerable = [one for one in cases if one[1].answerable is False and one[1].hides][:3]
    answerable = [one for one in cases if one[1].answerable][:2]
    examples = collect(workspace, [*answerable, *unanswerable], recipe="brain", profile=seed("brain"))
    assert examples.variants == ("near-miss",) * 2 + ("near-miss", "absent") * 3
    assert np.isfinite(examples.values).all()


def test_the_command_writes_a_profile_that_answers(stored, tmp_path, monkeypatch):
    workspace, cases = stored
    monkeypatch.setattr("core.workspace.embedder_named", lambda name: BagEmbedder())
    request = gate_command.GateRequest(
        dataset="meridian", profile="seed", out=tmp_path / "made" / "gated.toml", repeats=1,
        db=workspace.store.database.path,
    )  # fmt: skip
    told = gate_command.run(request)
    assert f"wrote {request.out}" in told
    loaded = profiles.load(request.out, "brain")
    assert loaded.origin["made_by"] == "assay tune --gate"
    assert loaded.learned_gate.report["datasets"] == "meridian"
    assert asked(workspace, cases[0][1], loaded).judgement
    with pytest.raises(UsageError, match=r"ends in \.toml"):
        gate_command.run(replace(request, out=tmp_path / "gated.json"))


def test_without_a_gate_the_whole_questions_floor_is_open():
    plain = without_gate(profiles.load("default", "memory"))
    assert plain.number("gate.min_best_cosine") == -1
    assert plain.learned_gate is None
