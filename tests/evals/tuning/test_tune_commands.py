"""`assay tune` as a process, on the shipped dataset: what it prints, writes and refuses."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from core.profile import load
from tests.shipped import part
from workbench.cli import main

ROOT = Path(__file__).resolve().parents[3]
Assay = Callable[..., "subprocess.CompletedProcess[str]"]
COMMAND = [sys.executable, "-c", "from workbench.cli import main; main()"]


def environment(folder: Path) -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "ASSAY_DB": str(folder / "assay.db"),
        "ASSAY_EMBEDDER": "wordllama",
    }


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tune")
    done = run(folder, "ingest", part(folder / "data"), "--dataset", "meridian")
    assert done.returncode == 0, done.stderr
    return folder


def run(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *map(str, arguments)], cwd=folder, env=environment(folder), capture_output=True, text=True,
        timeout=300, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def tuned(place: Path) -> dict[str, Any]:
    done = run(
        place, "tune", "-d", "meridian", "-r", "brain", "-p", "seed", "--trials", "48", "--search", "lhs",
        "--objective", "0.5*ndcg@10+0.5*citation_f1", "--constraint", "false_answer_rate <= 0.7",
        "--out", "profiles/mine.toml", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    body: dict[str, Any] = json.loads(done.stdout)
    return body


def test_from_a_dataset_to_a_profile(tuned: dict[str, Any], place: Path) -> None:
    assert tuned["about"]["tuned_on"].startswith("dev (32 cases about ")
    assert tuned["about"]["judged_on"].startswith("test (29 cases about ")
    assert tuned["search"]["proposed"] == 49 < tuned["search"]["settings"]
    best, start = (tuned["search"][one]["figures"] for one in ("best", "start"))
    assert best["false_answer_rate"] <= 0.7 < start["false_answer_rate"]
    (first, *_) = tuned["held_out"]
    assert first["figure"] == "0.5*ndcg@10+0.5*citation_f1"
    assert first["difference"] == pytest.approx(first["after"] - first["before"])
    profile = load(place / "profiles" / "mine.toml", "brain")
    assert profile.name == "mine"
    assert dict(profile.values) == tuned["profile"]
    assert profile.origin["dataset"] == "meridian"
    assert profile.origin["n"] == 29
    assert profile.origin["embedder"] == "wordllama-256"
    assert profile.origin["command"].startswith("assay tune --dataset meridian --recipe brain --profile seed")
    assert {"content", "objective", "held_out_interval", "date", "within_noise"} <= set(profile.origin)
    assert profile.spaces["floor.min_score"] == "tfidf+cosine/wordllama-256"
    unread = {"gate.min_rerank", "gate.min_probability"}  # no reranker and no learned gate here
    assert not any(space.endswith("/*") for name, space in profile.spaces.items() if name not in unread)


def test_a_figure_that_is_told_is_the_figure_of_an_evaluation(tuned: dict[str, Any], place: Path) -> None:
    done = run(
        place, "eval", "-d", "meridian", "-r", "brain", "-p", "profiles/mine.toml", "--split", "test", "--out", "run",
        "--format", "json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = {one["figure"]: one["after"] for one in tuned["held_out"]}
    rows = [
        json.loads(line) for line in (place / "run" / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    no = [row for row in rows if row["answerable"] is False]
    assert told["false_answer_rate"] == sum(not row["abstained"] for row in no) / len(no)
    ranked = [row["ndcg@10"] for row in rows if row["ndcg@10"] is not None]
    assert told["ndcg@10"] == pytest.approx(sum(ranked) / len(ranked))


def test_the_whole_surface_is_kept(tuned: dict[str, Any], place: Path) -> None:
    with open(tuned["surface"] if Path(tuned["surface"]).is_absolute() else place / tuned["surface"]) as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == tuned["search"]["settings"]
    assert {"floor.min_score", "mmr.lambda", "feasible", "objective", "false_answer_rate", "aurc"} <= set(
        rows[0]
    )
    feasible = [row for row in rows if row["feasible"] == "True"]
    assert all(float(row["false_answer_rate"]) <= 0.9 for row in feasible)
    best = max(float(row["objective"]) for row in feasible)
    figures = tuned["search"]["best"]["figures"]
    assert best == pytest.approx((figures["ndcg@10"] + figures["citation_f1"]) / 2)


def test_a_tuned_profile_is_refused_under_another_embedder(tuned: dict[str, Any], place: Path) -> None:
    text = (place / "profiles" / "mine.toml").read_text(encoding="utf-8")
    other = place / "profiles" / "other.toml"
    other.write_text(text.replace("/wordllama-256", "/minilm-l6-int8"), encoding="utf-8")
    done = run(place, "ask", "-d", "meridian", "-r", "brain", "-p", other, "who approves followups?")
    said = refused(done)
    assert "'tfidf+cosine/minilm-l6-int8'" in said
    assert "'tfidf+cosine/wordllama-256'" in said
    assert "run `assay tune --dataset meridian --recipe brain --profile seed --out FILE.toml`" in said


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_other_kinds_of_surface(place: Path, suffix: str) -> None:
    file = place / f"all.{suffix}"
    done = run(
        place, "tune", "-d", "meridian", "-r", "memory", "-p", "seed", "--levels", "L0", "--search", "grid", "--vary",
        "floor=0:0.6", "--trials", "9", "--folds", "3", "--surface", file,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    table = pd.read_json(file, lines=True) if suffix == "jsonl" else pd.read_parquet(file)
    tried = set(table["gate.min_best_cosine"].round(3))
    assert tried >= {-1, 0, 0.075, 0.15, 0.225, 0.3, 0.375, 0.45, 0.525, 0.6}
    assert len(table) == len(tried)
    assert "threshold " in done.stdout
    assert "cannot be told from the best" in done.stdout


def test_a_promise_that_needs_more_cases(place: Path) -> None:
    out = place / "profiles" / "promised.toml"
    done = run(
        place,
        "tune",
        "-d",
        "meridian",
        "-p",
        "seed",
        "--promise",
        "false_answer_rate <= 0.05 @ 0.95",
        "--out",
        out,
    )
    assert done.returncode == 3, done.stderr
    assert "Cannot be promised: false_answer_rate <= 0.05 @ 0.95 with n = 18" in done.stdout
    assert not out.exists()


def test_a_promise_that_is_kept(place: Path) -> None:
    out = place / "profiles" / "promised.toml"
    base = place / "closed.toml"
    base.write_text('[brain.floor]\nstrong_overlap = { value = 1.01, space = "overlap" }\n', encoding="utf-8")
    done = run(
        place,
        "tune",
        "-d",
        "meridian",
        "-p",
        base,
        "--promise",
        "false_answer_rate <= 0.6 @ 0.8",
        "--out",
        out,
        "--json",
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["promise"]
    assert found["kept"]
    assert found["p_value"] <= 0.2
    assert found["interval"][0] <= found["errors"] / found["counted"] <= found["interval"][1]
    profile = load(out, "brain")
    assert profile.number("floor.min_score") == found["value"]
    assert profile.origin["promise"] == "false_answer_rate <= 0.6 @ 0.8"


def test_no_setting_meets_the_constraints(place: Path) -> None:
    out = place / "profiles" / "none.toml"
    done = run(
        place, "tune", "-d", "meridian", "-p", "seed", "--trials", "8", "--vary", "select.k=1:5",
        "--constraint", "false_answer_rate<=0.01", "--out", out,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert "no setting meets false_answer_rate <= 0.01: the closest has" in done.stdout
    assert not out.exists()


def refused(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: ")
    return line


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--dataset", "nowhere"], "nowhere"),
        ([], "--dataset is missing"),
        (["--recording", "nowhere"], "is no recording"),
        (["-d", "meridian", "--vary", "floor=2:3"], "numbers in [0, 1]"),
        (["-d", "meridian", "--vary", "x=0:1"], "is no threshold of recipe brain"),
        (["-d", "meridian", "--objective", "joy"], "no figure 'joy'"),
        (["-d", "meridian", *["--objective", "correct"] * 3], "at most two"),
        (["-d", "meridian", "--constraint", "coverage"], "is no condition"),
        (["-d", "meridian", "--promise", "ndcg@10 >= 0.5"], "cannot be promised"),
        (["-d", "meridian", "--promise", "false_answer_rate >= 0.5"], "is promised with <="),
        (["-d", "meridian", "--tune-split", "train"], "the cases have dev, test"),
        (["-d", "meridian", "--tune-split", "dev", "--report-split", "dev"], "cannot judge it"),
        (["-d", "meridian", "--folds", "3", "--report-split", "dev"], "give one of them"),
        (["-d", "meridian", "--folds", "1"], "--folds"),
        (["-d", "meridian", "--folds", "90", "-p", "seed", "--trials", "4"], "number of documents"),
        (["-d", "meridian", "--trials", "0"], "--trials"),
        (["-d", "meridian", "--search", "magic"], "--search"),
        (["-d", "meridian", "--surface", "x.xlsx"], "must end in .csv, .jsonl, .parquet"),
        (["-d", "meridian", "--out", "x.json"], "ends in .toml"),
        (["-d", "meridian", "-p", "nothing"], "no profile 'nothing'"),
        (["-d", "meridian", "-p", "default"], "was set in score space"),
        (["-d", "meridian", "-p", "seed", "--search", "grid", "--trials", "3", "--vary", "select.k=1:9", "--vary",
          "lambda=0:1"], "more than --trials 3"),
        (["-d", "meridian", "-p", "seed", "--vary", "rerank.weight=0:1", "--trials", "4"],
         "without any effect on these cases: rerank.weight"),
        (["-d", "meridian", "-p", "seed", "--promise", "false_answer_rate<=0.1", "--vary", "lambda=0:1", "--folds", "3"],
         "a promise needs cases that chose nothing"),
        (["-d", "meridian", "--gate", "--vary", "floor=0:1"], "has no meaning with --gate"),
    ],
)  # fmt: skip
def test_hostile_arguments_give_one_line(
    place: Path,
    arguments: list[str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(place)
    monkeypatch.setattr(sys, "argv", ["assay", "tune", *arguments])
    for name, value in environment(place).items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as left:
        main()
    printed = capsys.readouterr()
    assert (left.value.code, printed.out) == (2, "")
    (line,) = printed.err.splitlines()
    assert line.startswith("error: ")
    assert said in line


def test_help_has_examples(place: Path) -> None:
    done = run(place, "tune", "--help")
    assert done.returncode == 0
    assert "assay tune --dataset meridian --recipe brain" in done.stdout
