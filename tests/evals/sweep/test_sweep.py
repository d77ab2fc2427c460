"""A sweep over the shipped data by its command: arms recorded once, tuned, judged apart, ranked; stopped and gone on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer

from core.cli import ingest
from core.errors import UsageError
from core.profile import load
from evals.sweep import sweep as sweeping
from evals.sweep_cli import sweep
from tests.shipped import ABOUT, part


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sweep")
    path = folder / "assay.db"
    ingest([part(folder)], dataset="meridian", db=path, embedder="wordllama")
    return path


def board(out: Path) -> dict[str, object]:
    return json.loads((out / "leaderboard.json").read_text(encoding="utf-8"))


def test_methods_are_swept_and_their_thresholds_tuned(
    db: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep(
        "meridian", ["fusion.method=blend,lexical", "rerank.depth=10,20"], tmp_path,
        tune=["floor.min_overlap=0:0.8"], trials=24, db=db, embedder="wordllama",
    )  # fmt: skip
    said = capsys.readouterr().out
    found = board(tmp_path)
    arms = found["arms"]
    assert len(arms) == 4
    assert found["failed"] == []
    values = [arm["value"] for arm in arms]
    assert values == sorted(values, reverse=True)
    assert (arms[0]["group"], arms[0]["difference"]) == (1, None)
    assert all(arm["settings"] > 10 for arm in arms)
    assert len({arm["n"] for arm in arms}) == 1  # all judged on the same half of the documents
    assert 0 < arms[0]["n"] < ABOUT
    assert len(list((tmp_path / "recordings").iterdir())) == 4  # methods, and depths, are recorded apart
    assert all(arm["arm"]["fusion.method"] in said for arm in arms)
    assert "not distinguishable" in said
    for number in range(1, 5):
        profile = load(tmp_path / "arms" / f"{number:03d}.toml", "brain")
        assert profile.spaces["floor.min_score"] == "tfidf+cosine/wordllama-256"


def test_arms_of_thresholds_share_a_recording_and_are_not_recorded_twice(
    db: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    record = sweeping.record
    monkeypatch.setattr(sweeping, "record", lambda *a, **k: made.append(1) or record(*a, **k))
    arguments = {"no_tune": True, "objective": "ndcg@10", "db": db, "embedder": "wordllama"}
    sweep("meridian", ["fusion.neighbour_weight=0,0.3", "mmr.lambda=0.5,1"], tmp_path, **arguments)
    assert len(made) == 1
    sweep("meridian", ["fusion.neighbour_weight=0,0.3", "mmr.lambda=0.5,1,0.7"], tmp_path, **arguments)
    assert len(made) == 1  # what was done is not done again, and the new arms are of the same recording
    assert len(board(tmp_path)["arms"]) == 6
    assert len({arm["n"] for arm in board(tmp_path)["arms"]}) == 1
    capsys.readouterr()


def test_chunks_and_embedders_are_swept(db: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sweep(
        "meridian", ["chunk=300,1200", "overlap=0,100", "embedder=wordllama,tfidf"], tmp_path, no_tune=True,
        objective="recall@10", db=db,
    )  # fmt: skip
    found = board(tmp_path)
    assert len(found["arms"]) == 8, capsys.readouterr().out
    spaces = {arm["arm"]["embedder"]: arm["profile"] for arm in found["arms"]}
    assert "cosine/tfidf-" in spaces["tfidf"]
    assert len({arm["value"] for arm in found["arms"]}) > 2
    capsys.readouterr()


def test_an_arm_whose_thresholds_change_nothing_is_judged_as_it_is(
    db: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep(
        "meridian",
        ["fusion.method=blend"],
        tmp_path,
        tune=["rerank.weight=0:1"],
        trials=8,
        db=db,
        embedder="wordllama",
    )
    (arm,) = board(tmp_path)["arms"]
    assert arm["settings"] == 1
    capsys.readouterr()


def test_a_budget_leaves_arms_for_another_time(
    db: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = {"no_tune": True, "objective": "ndcg@10", "db": db, "embedder": "wordllama"}
    vary = ["fusion.method=blend,rrf,lexical"]
    sweep("meridian", vary, tmp_path, budget="0.000001s", **arguments)
    assert "3 arms are left: the same command with a larger --budget goes on" in capsys.readouterr().out
    sweep("meridian", vary, tmp_path, **arguments)
    assert (len(board(tmp_path)["arms"]), board(tmp_path)["left"]) == (3, 0)
    capsys.readouterr()


def test_an_arm_that_cannot_be_had_takes_none_down(
    db: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = {"no_tune": True, "objective": "ndcg@10", "db": db, "embedder": "wordllama"}
    sweep("meridian", ["fusion.method=blend,borda"], tmp_path / "one", **arguments)
    assert (
        "failed: fusion.method=borda: profile seed: fusion.method must be one of" in capsys.readouterr().out
    )
    with pytest.raises(typer.Exit) as left:
        sweep("meridian", ["fusion.method=borda"], tmp_path / "two", **arguments)
    assert left.value.exit_code == 1
    capsys.readouterr()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"objective": "0.5*mrr+0.5*ndcg@10"}, "arms are ranked by one figure"),
        ({"tune_split": "dev"}, "given together, or neither"),
        ({"tune_split": "dev", "report_split": "dev"}, "what chose cannot judge"),
    ],
)
def test_options_that_cannot_be_taken(
    db: Path, tmp_path: Path, changes: dict[str, str], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        sweep("meridian", ["fusion.method=blend"], tmp_path, db=db, **changes)
