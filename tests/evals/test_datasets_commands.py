"""`assay datasets` and `assay export` as processes: what they print, how they end, and what they leave alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MERIDIAN = ROOT / "datasets" / "meridian"
MANIFEST = json.loads((MERIDIAN / "manifest.json").read_text(encoding="utf-8"))
Assay = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("datasets")


@pytest.fixture(scope="module")
def assay(home: Path) -> Assay:
    """Runs the command on one database that holds meridian."""

    def run(*arguments: object, db: str = "assay.db") -> subprocess.CompletedProcess[str]:
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "ASSAY_DB": str(home / db),
            "ASSAY_EMBEDDER": "wordllama",
        }
        command = [sys.executable, "-c", "from workbench.cli import main; main()", *map(str, arguments)]
        return subprocess.run(
            command, cwd=home, env=environment, capture_output=True, text=True, timeout=600, check=False
        )

    assert run("ingest", MERIDIAN, "-d", "meridian", "--no-embed").returncode == 0
    return run


def refused(done: subprocess.CompletedProcess[str]) -> str:
    assert (done.returncode, done.stdout) == (2, ""), done
    assert "Traceback" not in done.stderr
    return done.stderr


def test_bare_and_list_say_the_same(assay: Assay) -> None:
    bare, listed = assay("datasets"), assay("datasets", "list")
    assert bare.returncode == listed.returncode == 0
    assert bare.stdout == listed.stdout
    assert bare.stdout.startswith(f"meridian: {MANIFEST['counts']['artifact']} artifacts")
    as_json = assay("datasets", "--format", "json")
    assert json.loads(as_json.stdout) == json.loads(assay("datasets", "list", "--format", "json").stdout)


def test_show(assay: Assay) -> None:
    labels = [json.loads(line) for line in (MERIDIAN / "cases.jsonl").read_text("utf-8").splitlines()]
    splits = MANIFEST["counts"]["case"]
    text = assay("datasets", "show", "meridian").stdout
    for split, counts in splits.items():
        listed = ", ".join(f"{count} {label}" for label, count in counts.items())
        assert f"  split {split}: {sum(counts.values())} cases, {listed}" in text
    direct = sum(case["tags"]["kind"] == "direct" for case in labels)
    assert f"  tag kind: direct ({direct}), " in text
    missing = sum(case["tags"]["kind"] == "near-miss" for case in labels)
    assert f"  unanswerable because: near-miss ({missing}), " in text  # by kind, not by sentence
    (body,) = json.loads(assay("datasets", "show", "meridian", "--format", "json").stdout)
    assert body["splits"] == {
        split: {"cases": sum(counts.values()), **counts} for split, counts in splits.items()
    }
    assert body["can_be_hidden"] == sum("hides" in case for case in labels)
    assert body["evidence"]["with_citations"] == sum(counts["answerable"] for counts in splits.values())
    assert "no dataset 'gone'" in refused(assay("datasets", "show", "gone"))


def test_validate_ends_with_0_1_or_2(assay: Assay, home: Path) -> None:
    for what in ("meridian", MERIDIAN):
        done = assay("datasets", "validate", what)
        assert (done.returncode, done.stdout) == (0, f"{what}: sound\n")
    file = home / "odd.jsonl"
    case = {"kind": "case", "case_id": "c", "question": "why?", "gold": [{"source": "gone"}]}
    file.write_text(json.dumps(case) + "\n", encoding="utf-8")
    found = assay("datasets", "validate", "odd.jsonl")
    assert found.returncode == 1
    assert found.stdout.splitlines() == [
        "dangling-evidence: 1 (gold evidence that names no stored source, turn or fact)",
        "  odd.jsonl:1: case 'c': there is no source 'gone'",
        "single-class: 1 (splits with answerable or unanswerable cases only)",
        "  split (none): all 1 cases of split (none) are answerable: abstention cannot be judged",
        "odd.jsonl: 2 findings",
    ]
    body = json.loads(assay("datasets", "validate", "odd.jsonl", "--format", "json").stdout)
    assert (body["sound"], body["counts"]) == (False, {"dangling-evidence": 1, "single-class": 1})
    assert body["findings"][0]["where"] == "odd.jsonl:1"
    assert "no dataset 'gone'" in refused(assay("datasets", "validate", "gone"))
    assert "no such file or folder" in refused(assay("datasets", "validate", "./gone"))
    assert "no format 'bier'" in refused(assay("datasets", "validate", "odd.jsonl", "--as", "bier"))
    file.write_text("not json\n", encoding="utf-8")
    assert "nothing could be read: odd.jsonl:1: not JSON" in refused(
        assay("datasets", "validate", "odd.jsonl")
    )


def test_validating_a_path_makes_no_database(assay: Assay, home: Path) -> None:
    assert assay("datasets", "validate", MERIDIAN, db="none.db").returncode == 0
    assert not (home / "none.db").exists()


def test_a_public_format_is_validated_as_itself(assay: Assay, shared_cases: Path) -> None:
    done = assay("datasets", "validate", shared_cases / "beir_dirty", "--as", "beir", "--format", "json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["counts"] == {"input": 11, "single-class": 1}


def test_export_and_import_again(assay: Assay, home: Path) -> None:
    questions = sum(sum(split.values()) for split in MANIFEST["counts"]["case"].values())
    for name in ("csv", "ragas"):
        out = home / f"m.{name}"
        done = assay("export", "meridian", "--to", name, "--out", out)
        assert (done.returncode, done.stdout) == (0, f"wrote {questions} lines to {out}\n"), done.stderr
        again = assay("import", name, out, "-d", f"from-{name}", "--no-embed", "--strict", db=f"{name}.db")
        assert again.returncode == 0, again.stderr
        twice = assay(
            "export", f"from-{name}", "--to", "csv", "--out", home / f"{name}.again.csv", db=f"{name}.db"
        )
        assert twice.returncode == 0
        assert (home / f"{name}.again.csv").read_bytes() == (home / "m.csv").read_bytes()


def test_a_run_is_exported(assay: Assay, home: Path) -> None:
    done = assay("eval", "-d", "meridian", "-p", "seed", "--limit", 3, "-o", "run")
    assert done.returncode == 0, done.stderr
    rows = [
        json.loads(line) for line in (home / "run" / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert assay("export", "run", "--to", "trec", "--out", "r.trec").returncode == 0
    first = (home / "r.trec").read_text(encoding="utf-8").splitlines()[0].split()
    assert first == [rows[0]["case_id"], "Q0", rows[0]["ranking"][0], "1", "1.000000", "assay-brain-seed"]
    assert assay("export", "run", "--to", "ragas", "--out", "r.jsonl").returncode == 0
    samples = [json.loads(line) for line in (home / "r.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [sample["retrieved_context_ids"] for sample in samples] == [row["ranking"] for row in rows]
    assert assay("export", "run", "--to", "csv", "--out", "r.csv").stdout == "wrote 3 lines to r.csv\n"


def test_what_cannot_be_exported_is_refused_in_one_line(assay: Assay, home: Path) -> None:
    assert "no dataset 'gone'" in refused(assay("export", "gone", "--to", "csv", "--out", "x.csv"))
    assert "no/x.csv: cannot be written" in refused(
        assay("export", "meridian", "--to", "csv", "--out", "no/x.csv")
    )
    (home / "torn").mkdir()
    (home / "torn" / "rows.jsonl").write_text('{"case_id": "c"}\n', encoding="utf-8")
    said = refused(assay("export", "torn", "--to", "trec", "--out", "x.trec"))
    assert "rows.jsonl:1: expected case_id, dataset and ranking" in said
    (home / "torn" / "rows.jsonl").write_text(
        '{"case_id": "c", "dataset": "meridian", "ranking": []}\n', encoding="utf-8"
    )
    assert "1 of its cases are not stored any more, e.g. 'c'" in refused(
        assay("export", "torn", "--to", "ragas", "--out", "x.jsonl")
    )
    assert not list(home.glob("x.*"))


@pytest.mark.parametrize(
    ("name", "folder", "added"),
    [
        ("hotpotqa", "multihop_migres", {"": {"artifact": 1971, "case": 200}}),
        ("2wiki", "multihop_migres", {"": {"artifact": 1294, "case": 200, "fact": 520}}),
        ("musique", "multihop_migres", {"": {"artifact": 3141, "case": 200}}),
        ("strategyqa", "multihop_migres", {"": {"artifact": 594, "case": 229}}),
        ("timeqa", "timeqa_human", {"": {"node": 13335, "case": 989}}),
        (
            "situatedqa",
            "situatedqa",
            {"/temp": {"entity": 1110, "fact": 2234, "case": 6196}, "/geo": {"case": 1904}},
        ),
        ("wice", "wice", {"": {"artifact": 704, "case": 707}}),
        ("cranfield", "cranfield", {"": {"artifact": 1398, "case": 225}}),
        ("clapnq", "clapnq", {"": {"artifact": 597, "case": 600}}),
        ("scifact", "scifact", {"": {"artifact": 5183, "case": 1409}}),
    ],
)
def test_a_public_set_comes_in_by_one_command(
    assay: Assay, public_data: Path, name: str, folder: str, added: dict[str, dict[str, int]]
) -> None:
    done = assay(
        "import", name, public_data / folder, "-d", "x", "--dry-run", "--format", "json", db=f"{name}.db"
    )
    assert done.returncode == 0, done.stderr
    body = json.loads(done.stdout)
    assert {key.removeprefix("x"): row["added"] for key, row in body["datasets"].items()} == added
    assert all(":" in problem["where"] for problem in body["problems"])
