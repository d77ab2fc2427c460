"""`mem query` on the data set that ships, with the model that ships."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from core.cli import hits_json, inferred_project, mem
from core.errors import NotFoundError, UsageError
from core.ingest.bringing import bring_in
from core.ingest.folder import read_paths
from core.ingest.items import NodeItem
from core.options import split_levels
from core.profile import load
from core.records import node_id
from core.store import Store
from core.workspace import Workspace

ROOT = Path(__file__).parents[2]
MERIDIAN = ROOT / "datasets" / "meridian"
QUESTION = "why did requests over 10KB fail?"
LOG: list[dict[str, Any]] = [
    json.loads(line) for line in (MERIDIAN / "log.jsonl").read_text("utf-8").splitlines()
]
DOCUMENTS: list[dict[str, Any]] = [
    json.loads(line) | {"level": "L0"}
    for line in (MERIDIAN / "artifacts.jsonl").read_text("utf-8").splitlines()
]
NAMED = {row["source"]: row for row in DOCUMENTS} | {row["name"]: row for row in LOG if row.get("name")}
"""What a note may be made from, by the name it gives: a document, a turn, another note."""
CASES: list[dict[str, Any]] = [
    json.loads(line) for line in (MERIDIAN / "cases.jsonl").read_text("utf-8").splitlines()
]
Ask = Callable[..., dict[str, Any]]


def key(row: dict[str, Any], project: str = "meridian") -> str:
    return node_id(dataset=project, source=row["source"], turn=row.get("turn"), text=row["text"])


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Meridian, and a project beside it with one note that would answer, too."""
    path = tmp_path_factory.mktemp("mem") / "assay.db"
    other = NodeItem(
        level="L1", text="Requests over 10KB fail because the moon is full.", source="notes", name="moon"
    )
    streams = [("meridian", read_paths(sorted(MERIDIAN.glob("*.jsonl")))), ("other", iter([("x", other)]))]
    brought = bring_in(streams, db=path, user_id="local", embedder="minilm")
    assert brought.problems == []
    return path


@pytest.fixture(scope="module")
def workspace(db: Path) -> Iterator[Workspace]:
    """One for the module, so that the model reads each note once."""
    with Workspace.open(db, embedder="minilm", create=False) as opened:
        yield opened


@pytest.fixture(scope="module")
def ask(workspace: Workspace) -> Ask:
    """What ``mem query --format json --explain`` prints for a question."""

    def run(
        question: str,
        *,
        project: str = "meridian",
        levels: str | None = None,
        k: int | None = None,
        name: str = "default",
    ) -> dict[str, Any]:
        profile = load(name, "memory")
        trace = workspace.ask(
            question,
            dataset=project,
            recipe="memory",
            profile=profile.with_values({"select.k": k}) if k else profile,
            levels=split_levels(levels),
        )
        answer: dict[str, Any] = hits_json(trace, explain=True)
        return answer

    return run


def command(capsys: pytest.CaptureFixture[str], db: Path, *arguments: str) -> str:
    """What the command itself prints."""
    mem([*arguments, "--db", str(db)], standalone_mode=False)
    return capsys.readouterr().out


@pytest.fixture(scope="module")
def store(db: Path) -> Iterator[Store]:
    with Store.open(db, create=False) as opened:
        yield opened


def test_a1_known_answer(ask: Ask) -> None:
    answer = ask(QUESTION)
    assert (answer["question"], answer["projects"], answer["abstained"]) == (QUESTION, ["meridian"], False)
    top = answer["hits"][0]
    assert (top["rank"], top["level"], top["name"]) == (1, "L1", "infra-root-causes")
    assert top["text"] == NAMED["infra-root-causes"]["text"]
    assert top["id"] == key(NAMED["infra-root-causes"])
    assert {entry["id"] for entry in top["provenance"]} == {
        key(NAMED[name]) for name in NAMED["infra-root-causes"]["parents"]
    }
    assert [hit["rank"] for hit in answer["hits"]] == list(range(1, len(answer["hits"]) + 1))
    assert len(ask(QUESTION, k=2)["hits"]) == 2


def test_a2_provenance_resolves(ask: Ask, store: Store) -> None:
    dataset = [store.dataset("meridian").dataset_id]
    by_id = {key(row): row for row in (*DOCUMENTS, *LOG)}
    seen = 0
    for question in (QUESTION, "Who decided on the telemetry store?", "What do we do before an upgrade?"):
        hits = ask(question)["hits"]
        assert hits
        for hit in hits:
            assert any(entry["level"] == "L0" for entry in hit["provenance"])
            for entry in hit["provenance"]:
                row = by_id[entry["id"]]
                assert (entry["source"], entry["turn"], entry["level"]) == (
                    row["source"],
                    row.get("turn"),
                    row["level"],
                )
                (node,) = store.nodes_by_id(dataset, [entry["id"]])
                assert node.text == row["text"]
                seen += 1
    assert seen > 20


def test_a3_default_excludes_l0(ask: Ask) -> None:
    for question in (
        QUESTION,
        "Status 413 on the ingest route for Skovby Vand, body of 14 KB.",
    ):  # a turn's own words
        levels = {hit["level"] for hit in ask(question)["hits"]}
        assert levels
        assert levels <= {"L1", "L2"}
        recalled = ask(question)["candidates"]
        assert {candidate["level"] for candidate in recalled} <= {"L1", "L2"}


@pytest.mark.parametrize("levels", ["L0", "L1", "L2", "L0,L2", "L0,L1,L2", " L1 , L1"])
def test_a4_levels_flag(levels: str, ask: Ask) -> None:
    wanted = {level.strip() for level in levels.split(",")}
    answer = ask(QUESTION, levels=levels, k=100, name="seed")  # which never abstains from what is there
    assert {candidate["level"] for candidate in answer["candidates"]} == wanted
    assert {hit["level"] for hit in answer["hits"]} <= wanted
    assert answer["hits"]


def test_a5_rerank_reorders(ask: Ask) -> None:
    moved = 0
    for case in CASES[:12]:
        stages = {stage["name"]: stage for stage in ask(case["question"])["stages"]}
        before, after = stages["rerank"]["before"], stages["rerank"]["after"]
        assert stages["rerank"]["space"].startswith("maxsim/")
        assert sorted(after) == sorted(before)
        moved += before != after
    assert moved >= 3


def test_a6_project_isolation(ask: Ask, db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = {hit["name"] for hit in ask(QUESTION, k=100)["hits"]}
    assert "moon" not in names
    other = ask(QUESTION, project="other")
    assert [hit["name"] for hit in other["hits"]] == ["moon"]
    assert other["projects"] == ["other"]
    both = ask(QUESTION, k=100, project="*")
    assert {"moon", "infra-root-causes"} <= {hit["name"] for hit in both["hits"]}
    with pytest.raises(NotFoundError, match="no dataset 'meridian': there are none yet"):
        command(capsys, db, "query", QUESTION, "--project", "meridian", "--user", "ruth")


def shell(folder: Path, db: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    code = "from core.cli import main; main()"
    env = {key: value for key, value in os.environ.items() if not key.startswith("ASSAY_")}
    return subprocess.run(
        [sys.executable, "-c", code, *arguments, "--db", str(db)],
        cwd=folder, env={**env, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def test_a7_no_project_errors(db: Path, tmp_path: Path) -> None:
    done = shell(tmp_path, db, "query", QUESTION)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"error: no project for {tmp_path}: ")
    assert line.endswith("give --project NAME. Projects: meridian, other")


def test_the_project_is_found_by_file_folder_or_option(db: Path, store: Store, tmp_path: Path) -> None:
    named, deep = tmp_path / "other", tmp_path / "work" / "other"
    for folder in (named, deep):
        folder.mkdir(parents=True)
    (tmp_path / "work" / ".assay.toml").write_text('project = "meridian"\n')
    assert inferred_project(store, named, "local") == "other"  # the folder's own name
    assert inferred_project(store, deep, "local") == "meridian"  # a file above comes first
    (deep / ".assay.toml").write_text('project = "nearest"\n')
    assert inferred_project(store, deep, "local") == "nearest"
    with pytest.raises(UsageError, match=r"no project for .*Projects: none; `assay ingest"):
        inferred_project(store, named, "ruth")
    (deep / ".assay.toml").unlink()
    found = shell(deep, db, "query", QUESTION, "--profile", "bm25")
    assert "infra-root-causes" in found.stdout, found.stderr


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("project = ", "cannot be read: "),
        ("project = '\udce9'", "cannot be read: "),
        ("project = 7", 'project must be a name, got 7; write project = "NAME"'),
        ('project = ""', "project must be a name, got ''"),
        ('name = "x"', "project must be a name, got None"),
    ],
)
def test_a_project_file_that_says_nothing_is_named(
    text: str, says: str, store: Store, tmp_path: Path
) -> None:
    file = tmp_path / ".assay.toml"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(UsageError) as caught:
        inferred_project(store, tmp_path, "local")
    assert str(caught.value).startswith(f"{file}: {says}")


def test_a_project_file_that_names_nothing_stored_is_one_line(db: Path, tmp_path: Path) -> None:
    (tmp_path / ".assay.toml").write_text('project = "gone"')
    done = shell(tmp_path, db, "query", QUESTION)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: no dataset 'gone': there are meridian, other")


def test_a8_l2_two_hop_provenance(ask: Ask) -> None:
    hits = ask("what lessons did we learn about defaults and limits?", levels="L2")["hits"]
    hits += ask("Why are alarms trusted, and when?", levels="L2")["hits"]
    assert {hit["name"] for hit in hits} >= {"large-uploads-lessons", "alarm-quality"}
    for hit in hits:
        notes = NAMED[hit["name"]]["parents"]
        turns = {parent for note in notes for parent in NAMED[note]["parents"]}
        found = {(entry["level"], entry["hops"], entry["id"]) for entry in hit["provenance"]}
        assert found == {("L1", 1, key(NAMED[name])) for name in notes} | {
            ("L0", 2, key(NAMED[name])) for name in turns
        }
        assert len(notes) >= 2
        assert len(turns) >= 2


def test_the_command_prints_hits_with_their_provenance(
    db: Path, ask: Ask, capsys: pytest.CaptureFixture[str]
) -> None:
    question = ("query", QUESTION, "--project", "meridian", "--embedder", "minilm", "--k", "2")
    body = json.loads(command(capsys, db, *question, "--format", "json"))
    assert {"candidates", "stages"} & set(body) == set()
    asked = ask(QUESTION, k=2)
    assert [(hit["id"], round(hit["score"], 4)) for hit in body["hits"]] == [
        (hit["id"], round(hit["score"], 4)) for hit in asked["hits"]
    ]
    lines = command(capsys, db, *question, "--explain").splitlines()
    assert lines[0].startswith("query ")
    assert lines[2].startswith("1. ")
    assert lines[2].split()[2:] == ["L1", key(NAMED["infra-root-causes"])[:10], "infra-root-causes"]
    assert any(line.strip().startswith("← L0 eng-log/2025-03-05 · t2") for line in lines)
    assert any(line.startswith("rerank: ") for line in lines)
    lessons = command(
        capsys, db, "query", "lessons about defaults and limits", *question[2:], "--levels", "L2"
    )
    assert "\n   ← L1 eng-log/notes/staging-gap " in lessons
    assert "\n     ← L0 eng-log/2025-03-12 · t1 " in lessons  # a hop further, further in


def test_explain_prints_the_candidates_with_their_scores_before_reranking(
    db: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("query", QUESTION, "--project", "meridian", "--embedder", "minilm", "--explain")
    text = command(capsys, db, *arguments)
    before, _, after = text.partition("\nrerank: ")
    assert after, text
    root = key(NAMED["infra-root-causes"])[:10]
    (line,) = [line for line in before.partition("\nfuse: ")[2].splitlines() if root in line]
    assert re.search(r"cosine/minilm-l6-int8=0\.\d{4}", line)
    explained = json.loads(command(capsys, db, *arguments, "--format", "json"))
    recalled = next(stage for stage in explained["stages"] if stage["name"] == "recall")
    scored = {one["candidate_id"]: one["scores"] for one in explained["candidates"]}
    assert len(recalled["after"]) > 10
    assert all("cosine/minilm-l6-int8" in scored[one] for one in recalled["after"])


def test_projects_lists_what_they_hold(db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = {row["project"]: row for row in json.loads(command(capsys, db, "projects", "--format", "json"))}
    assert set(rows) == {"meridian", "other"}
    levels = [row["level"] for row in LOG]
    assert rows["meridian"]["nodes_L1"] == levels.count("L1")
    assert rows["meridian"]["nodes_L2"] == levels.count("L2")
    assert rows["meridian"]["cases"] == len(CASES)
    assert "other: 1 nodes, 1 nodes_L1" in command(capsys, db, "projects").splitlines()
