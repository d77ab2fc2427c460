"""Curves of recordings: equal to what profiles decide when replayed one at a time, and known where the cut is planted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from core.errors import RecordingError, UsageError
from core.gate.model import LearnedGate, Weighed
from core.profile import Profile
from core.thresholds import BY_NAME, Threshold, for_recipe
from evals.curves.of_profiles import effects, most_sensitive
from evals.curves.of_recording import GATE, RecordingCurves, curves_of_recording
from evals.curves.ranges import ranges, served, values
from evals.record import record
from evals.recording import Recording
from evals.replay import Replayer, replay
from tests.evals.replaying import meridian, seed

PLANTED = seed("brain", floor__strong_overlap=1.01, floor__min_score=0.0)


def test_where_the_cut_is_planted_the_curves_show_it(planted_recording: Recording) -> None:
    curves = curves_of_recording(planted_recording, PLANTED, split="test", points=11)
    overlap = RecordingCurves(planted_recording, PLANTED, split="test").cuts("floor.min_overlap", points=101)
    shares = overlap.pivot(index="value", columns="kind", values="answered")
    assert (shares.loc[shares.index <= 1, "answerable"] == 1).all()
    assert list(shares["all unanswerable"].unique()) == [1.0, 0.0]  # overlap of ¼: all or none of them
    assert shares["all unanswerable"][shares.index > 0.25].max() == 0
    assert shares["all unanswerable"][shares.index <= 0.25].min() == 1
    assert dict(zip(overlap["kind"], overlap["n"], strict=True)) == {
        "answerable": 30, "all unanswerable": 15, "not stated": 15,
    }  # fmt: skip
    assert curves.sensitivity is not None
    found = effects(curves.sensitivity, "balanced_correct").set_index("threshold")
    assert found.loc["floor.min_overlap", ["lowest", "highest", "current"]].tolist() == [0.5, 1.0, 0.5]
    assert found.loc["recall.lexical_k", "spread"] == 0.0
    (pair,) = curves.interactions
    assert pair == most_sensitive(curves.sensitivity, "balanced_correct")


def test_every_threshold_is_moved_and_each_point_is_a_replay(shipped_recording: Recording) -> None:
    profile = seed("brain")
    curves = RecordingCurves(shipped_recording, profile, split="dev")
    table = curves.sensitivity(["balanced_correct", "answered_answerable-false_answer_rate"], points=5)
    names = [knob.name for knob in for_recipe("brain") if isinstance(knob, Threshold)]
    assert list(table["threshold"].unique()) == names
    assert table.groupby("threshold")["current"].sum().eq(1).all()
    of_dev = np.array([case.case.split == "dev" for case in shipped_recording.cases])
    for row in table.iloc[:: max(1, len(table) // 12)].itertuples():
        knob = BY_NAME[row.threshold]
        value = int(row.value) if isinstance(knob, Threshold) and knob.integer else row.value
        alone = (
            replay(shipped_recording, [profile.with_values({row.threshold: value})]).among(of_dev).figures()
        )
        assert row.balanced_correct == pytest.approx(alone["balanced_correct"][0], nan_ok=True)
        weighed = alone["answered_answerable"][0] - alone["false_answer_rate"][0]
        assert row[-1] == pytest.approx(weighed)


def test_rows_and_cuts_are_the_profiles_own_decisions(shipped_recording: Recording) -> None:
    profile = seed("brain")
    curves, replayer = RecordingCurves(shipped_recording, profile), Replayer(shipped_recording)
    decided = [replayer.decision(place, profile) for place in range(len(shipped_recording))]
    assert [row["abstained"] for row in curves.rows] == [one.abstained for one in decided]
    table = curves.cuts(points=9)
    assert set(table["threshold"]) == {"floor.min_score"}
    assert table.loc[table["current"], "value"].unique().tolist() == [profile.number("floor.min_score")]
    own = table[table["current"]].set_index("kind")["answered"]
    answered = {
        can: np.mean([not row["abstained"] for row in curves.rows if row["answerable"] is can])
        for can in (True, False)
    }
    assert own["answerable"] == answered[True]
    assert own["all unanswerable"] == answered[False]
    kinds = set(table["kind"]) - {"answerable", "all unanswerable"}
    tags = {case.case.tags["kind"] for case in shipped_recording.cases if case.case.answerable is False}
    assert kinds == tags
    assert len(curves.distributions()) == sum(row["confidence"] is not None for row in curves.rows)
    assert curves.space == "tfidf+cosine/bag-64"


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recording]:
    workspace, cases = meridian(tmp_path_factory.mktemp("narrow"))
    widths = {"recall.lexical_k": 20, "recall.dense_k": 60, "rerank.depth": 15}
    yield record(
        workspace, cases[:12], recipe="memory", profile=seed("memory"), levels=("L0", "L1"), widths=widths
    )
    workspace.close()


def test_no_more_is_asked_than_was_recorded(narrow: Recording) -> None:
    profile = seed("memory", rerank__depth=10, recall__dense_k=20, select__k=3, recall__k_factor=4)
    limits = narrow.header.widths
    assert "recall.dense_k" in limits
    moved = ranges(narrow, profile, 9)
    assert moved["recall.dense_k"][-1] == limits["recall.dense_k"]
    assert max(moved["recall.k_factor"]) * profile.count("select.k") <= limits["recall.dense_k"]
    read = narrow.arrays["rerank"][np.isfinite(narrow.arrays["rerank"])]
    cuts = [value for value in moved["gate.min_rerank"] if value != profile.number("gate.min_rerank")]
    assert (cuts[0], cuts[-1]) == (pytest.approx(read.min(), abs=1e-6), pytest.approx(read.max(), abs=1e-6))
    curves = RecordingCurves(narrow, profile)
    map_ = curves.interaction("select.k", "recall.k_factor", points=15)
    for k in map_.index:
        for factor in map_.columns:
            there = served(narrow, profile, {"select.k": k, "recall.k_factor": factor})
            assert np.isnan(map_.loc[k, factor]) == (not there)
    assert map_.isna().any(axis=None)
    assert not map_.isna().all(axis=None)


def test_wide_ranges_are_looked_at_closely_where_they_begin(shipped_recording: Recording) -> None:
    knob = BY_NAME["recall.lexical_k"]
    assert isinstance(knob, Threshold)
    found = values(shipped_recording, seed("brain"), knob, 9)
    assert found == sorted({*np.round(np.expm1(np.linspace(0, np.log1p(1000), 9))), 50})
    mmr = BY_NAME["mmr.lambda"]
    assert isinstance(mmr, Threshold)
    assert values(shipped_recording, seed("brain"), mmr, 3) == [0.0, 0.5, 0.72, 1.0]


def gated(cut: float) -> Profile:
    feature = Weighed(name="best_cosine", mean=0.3, scale=0.1, weight=1.5)
    gate = LearnedGate(recipe="brain", features=(feature,), intercept=0.0, reads={"cosine": "cosine/bag-64"})
    profile = replace(seed("brain"), learned_gate=gate)
    return replace(
        profile.with_values({GATE: cut}), spaces={**profile.spaces, GATE: gate.space}, name="gated"
    )


def test_a_learned_gates_cut_is_what_it_decides_at_each(shipped_recording: Recording) -> None:
    some = shipped_recording
    curves = RecordingCurves(some, gated(0.5))
    assert curves.cut == GATE
    table = curves.cuts(points=5)
    replayer = Replayer(some)
    for cut in (0.25, 0.5, 0.75):
        decided = [replayer.trace(place, gated(cut)).answer.abstained for place in range(len(some))]
        can = [case.case.answerable for case in some.cases]
        share = np.mean([not one for one, answerable in zip(decided, can, strict=True) if answerable])
        told = table[(table["value"] == cut) & (table["kind"] == "answerable")]["answered"]
        assert told.tolist() == [share]
    assert table["answered"].nunique() > 2
    assert curves.space.startswith("probability/")
    every = curves_of_recording(some, gated(0.5), points=5)
    assert (every.sensitivity, every.interactions) == (None, {})
    with pytest.raises(RecordingError, match="learned gate, which reads the candidates' texts"):
        curves.sensitivity(points=3)
    with pytest.raises(RecordingError, match="leave the pairs out, or its gate"):
        curves_of_recording(some, gated(0.5), pairs=[("floor.min_score", "mmr.lambda")])


def test_what_is_not_there_is_refused(shipped_recording: Recording) -> None:
    with pytest.raises(UsageError, match=r"no case of split 'train' was recorded; there are dev, test"):
        RecordingCurves(shipped_recording, seed("brain"), split="train")
    with pytest.raises(RecordingError, match="of recipe brain, profile 'seed' of memory"):
        RecordingCurves(shipped_recording, seed("memory"))
    curves = RecordingCurves(shipped_recording, seed("brain"))
    with pytest.raises(
        UsageError, match=r"no threshold 'gate\.min_best_cosine' in recipe brain; there are recall"
    ):
        curves.interaction("gate.min_best_cosine", "mmr.lambda")
    with pytest.raises(UsageError, match="no figure 'nonsense' is replayed"):
        curves.sensitivity(["nonsense"])


def test_replays_once_what_it_was_asked_before(shipped_recording: Recording) -> None:
    counted: list[int] = []
    curves = RecordingCurves(shipped_recording, seed("brain"), progress=counted.append)
    first = curves.figures([{"mmr.lambda": 0.5}, {"mmr.lambda": 0.72}])
    spent = sum(counted)
    again = curves.figures([{"mmr.lambda": 0.72}, {"mmr.lambda": 0.5}])
    assert (spent, sum(counted)) == (2 * len(shipped_recording), spent)
    np.testing.assert_array_equal(first["mrr"], again["mrr"][::-1])
