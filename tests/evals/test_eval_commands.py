"""`assay import` and `assay eval` as processes: what they print, write and refuse."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
Assay = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def assay(tmp_path: Path) -> Assay:
    """``assay("import", "beir", folder)`` runs the command on a database of this test."""

    def run(*arguments: object, hash_seed: int = 0) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": str(hash_seed),
                       "ASSAY_DB": str(tmp_path / "assay.db"), "ASSAY_EMBEDDER": "wordllama"}  # fmt: skip
        command = [sys.executable, "-c", "from workbench.cli import main; main()", *map(str, arguments)]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False
        )

    return run


def refused(done: subprocess.CompletedProcess[str]) -> str:
    """The one line that says why."""
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    return line


def native(folder: Path, *rows: dict[str, Any]) -> Path:
    file = folder / "in.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def test_a_dirty_folder_strictly_is_refused_and_writes_nothing(
    assay: Assay, shared_cases: Path, tmp_path: Path
) -> None:
    said = refused(assay("import", "beir", shared_cases / "beir_dirty", "--dataset", "dirty", "--strict"))
    assert "11 problems and --strict: nothing was written" in said
    assert "corpus.jsonl:3: NaN is not JSON" in said
    assert list(tmp_path.iterdir()) == []


def test_a_dry_run_says_what_would_be_and_writes_nothing(
    assay: Assay, shared_cases: Path, tmp_path: Path
) -> None:
    done = assay("import", "beir", shared_cases / "beir_dirty", "--dataset", "dirty", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "would add to 1 dataset(s)" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_of_a_dirty_folder_what_is_sound_is_taken_and_the_rest_counted(
    assay: Assay, shared_cases: Path
) -> None:
    folder = shared_cases / "beir_dirty"
    done = assay("import", "beir", folder, "--dataset", "dirty", "--no-embed", "--format", "json")
    body = json.loads(done.stdout)
    assert body["datasets"]["dirty"]["added"] == {"artifact": 2, "case": 1}
    assert [problem["where"].removeprefix(f"{folder}/") for problem in body["problems"]] == [
        "corpus.jsonl:2", "corpus.jsonl:3", "corpus.jsonl:4", "corpus.jsonl:6", "queries.jsonl:2", "qrels/test.tsv:3",
        "qrels/test.tsv:4", "qrels/test.tsv:5", "qrels/test.tsv:7", "qrels/test.tsv:8", "queries.jsonl:1",
    ]  # fmt: skip
    again = assay("import", "beir", folder, "--dataset", "dirty", "--no-embed")
    assert "total: 2 artifacts unchanged, 1 cases unchanged" in again.stdout
    assert again.stdout.count("problem: ") == 11


def test_ids_that_coincide_cost_no_hit(assay: Assay, shared_cases: Path, tmp_path: Path) -> None:
    assert assay("import", "beir", shared_cases / "beir_same_ids", "-d", "same", "--no-embed").returncode == 0
    done = assay("eval", "-d", "same", "-p", "seed", "-o", "out", "--format", "json")
    summary = json.loads(done.stdout)
    assert summary == json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    figures = ("ndcg@10", "map", "recall@10", "precision@10", "mrr")
    assert {name: (summary[name]["value"], summary[name]["n"]) for name in figures} == dict.fromkeys(
        figures, (1.0, 1)
    )
    assert summary["manifest"]["excluded"] == "nothing"
    dropped = assay("eval", "-d", "same", "-p", "seed", "-o", "out", "--format", "json", "--drop-same-id")
    summary = json.loads(dropped.stdout)
    assert summary["manifest"]["excluded"] == "hits whose id equals the question's"
    assert (summary["recall@10"]["value"], summary["precision@10"]["value"]) == (0.9, 0.9)


def test_two_processes_write_the_same_bytes(assay: Assay, shared_cases: Path, tmp_path: Path) -> None:
    """Whatever order sets have in either."""
    datasets = ROOT / "datasets" / "meridian"
    assert assay("ingest", datasets, "-d", "meridian", "--no-embed").returncode == 0
    for seed in (1, 2):
        arguments = (
            "eval",
            "-d",
            "meridian",
            "-r",
            "brain",
            "-p",
            "seed",
            "--limit",
            12,
            "-o",
            tmp_path / str(seed),
        )
        assert assay(*arguments, hash_seed=seed).returncode == 0
    files = ("rows.jsonl", "failures.jsonl", "summary.json", "summary.md")
    for file in files:
        assert (tmp_path / "1" / file).read_bytes() == (tmp_path / "2" / file).read_bytes()
    assert {file.name for file in (tmp_path / "1").iterdir()} == {*files, "timings.jsonl", "spending.json"}
    rows = (tmp_path / "1" / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(rows) == 12
    assert any(json.loads(row)["confidence"] for row in rows)


def test_what_cannot_be_scored_is_said_in_one_line(assay: Assay, tmp_path: Path) -> None:
    passage = {"kind": "artifact", "source": "a", "text": "The red valve closes clockwise."}
    assert assay("ingest", native(tmp_path, passage), "-d", "bare", "--no-embed").returncode == 0
    assert "holds no labelled questions" in refused(assay("eval", "-d", "bare", "-o", "out"))
    assert "no dataset 'gone'" in refused(assay("eval", "-d", "gone", "-o", "out"))
    assert not (tmp_path / "out").exists()


def test_a_labelled_question_of_another_shape_is_said_by_name(assay: Assay, tmp_path: Path) -> None:
    """Core stores a case as it comes; its shape is known, and checked, where it is scored."""
    passage = {"kind": "artifact", "source": "a", "text": "The red valve closes clockwise."}
    case = {
        "kind": "case",
        "case_id": "c1",
        "question": "which way?",
        "gold": [{"source": "a", "sauce": "b"}],
    }
    assert assay("ingest", native(tmp_path, passage, case), "-d", "odd", "--no-embed").returncode == 0
    said = refused(assay("eval", "-d", "odd", "-o", "out"))
    assert "case 'c1': gold.0.sauce: Unexpected keyword argument" in said


def test_one_labelled_question_of_another_shape_does_not_take_the_run_down(
    assay: Assay, tmp_path: Path
) -> None:
    passage = {"kind": "artifact", "source": "a", "text": "The red valve closes clockwise."}
    sound = {
        "kind": "case",
        "case_id": "c1",
        "question": "which way closes the valve?",
        "gold": [{"source": "a"}],
    }
    odd = {"kind": "case", "case_id": "c2", "question": "which way?", "answerable": "perhaps"}
    assert assay("ingest", native(tmp_path, passage, sound, odd), "-d", "odd", "--no-embed").returncode == 0
    done = assay("eval", "-d", "odd", "-o", "out", "-p", "seed", "--format", "json")
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["cases"] == {"scored": 1, "failed": 1}
    assert (summary["recall@10"]["value"], summary["recall@10"]["n"]) == (1.0, 1)
    (failure,) = (tmp_path / "out" / "failures.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(failure)["case_id"] == "c2"
    assert "answerable" in json.loads(failure)["message"]


def test_a_file_in_place_of_the_folder_for_results(assay: Assay, tmp_path: Path) -> None:
    passage = {"kind": "artifact", "source": "a", "text": "The red valve closes clockwise."}
    case = {"kind": "case", "case_id": "c1", "question": "which way?", "gold": [{"source": "a"}]}
    assert assay("ingest", native(tmp_path, passage, case), "-d", "one", "--no-embed").returncode == 0
    (tmp_path / "taken").write_text("mine", encoding="utf-8")
    assert "taken" in refused(assay("eval", "-d", "one", "-p", "seed", "-o", tmp_path / "taken"))
    assert (tmp_path / "taken").read_text(encoding="utf-8") == "mine"
    assert "no split 'dev'" in refused(
        assay("eval", "-d", "one", "-p", "seed", "--split", "dev", "-o", "out")
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("import", "bier", "."), "no format 'bier'; there are 2wiki, beir, clapnq"),
        (("import", "beir", "absent"), "absent: no such folder"),
        (("import", "locomo", "absent"), "absent: cannot be read"),
    ],
)
def test_an_import_that_cannot_begin_is_refused(
    assay: Assay, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    assert said in refused(assay(*arguments, "-d", "x"))


def test_a_case_is_asked_as_of_its_own_times(assay: Assay, tmp_path: Path) -> None:
    """Told in April that Bo moved in March; corrected in May: it was January."""
    fact = {"kind": "fact", "subject": "Bo", "relation": "moved_to"}
    rows = [
        fact | {"object": "Lyon", "valid_at": "2024-03-01", "created_at": "2024-04-01", "expired_at": "2024-05-10"},
        fact | {"object": "Nice", "valid_at": "2024-01-01", "created_at": "2024-05-10"},
        *({"kind": "case", "case_id": name, "question": "Where is Bo?", "answerable": None, **times}
          for name, times in {"now": {}, "before": {"as_of": "2024-02-15", "known_at": "2024-04-15"},
                              "then": {"as_of": "2024-03-15", "known_at": "2024-04-15"}}.items()),
    ]  # fmt: skip
    assert assay("ingest", native(tmp_path, *rows), "-d", "bo", "--no-embed").returncode == 0
    done = assay("eval", "-d", "bo", "-r", "graph", "-p", "seed", "-o", "out")
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "out" / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    cited = {
        row["case_id"]: [key for key in row["citations"] if key.startswith("fact")]
        for row in map(json.loads, lines)
    }
    assert cited == {"now": ["fact:2"], "before": [], "then": ["fact:1"]}
    asked = assay("ask", "Where is Bo?", "-d", "bo", "-r", "graph", "-p", "seed", "--as-of", "2024-03-15", "--known-at",
                  "2024-04-15", "--format", "json")  # fmt: skip
    assert [
        item["fact"]["target"] for item in json.loads(asked.stdout)["answer"]["evidence"] if item["fact"]
    ] == ["Lyon"]
