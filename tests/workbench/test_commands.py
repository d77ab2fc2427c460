"""The commands as people run them: results on stdout, and every misuse one line on stderr with exit code 2."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from core.ingest.ingestor import ingest
from core.ingest.items import ArtifactItem, FactItem, NodeItem
from core.profile import shipped
from core.store import Store

ROOT = Path(__file__).parents[2]
ASSAY = "from workbench.cli import main; main()"
MEM = "from core.cli import main; main()"
WORDS = ("--embedder", "wordllama", "--profile", "bm25")
"""A small model, and a profile that names no other one."""


def environment() -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("ASSAY_")}
    return {**kept, "PYTHONPATH": str(ROOT)}


def shell(folder: Path, *arguments: str, code: str = ASSAY) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=folder, env=environment(), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working folder with a database, a damaged one, and a folder of files that cannot be read."""
    made = tmp_path_factory.mktemp("work")
    items = [
        ArtifactItem(source="memo", text="The canal office opens at nine. Ada keeps the key."),
        FactItem(subject="Ada", relation="keeps", object="the key", artifact="memo"),
        NodeItem(level="L1", text="Ada keeps the key of the canal office.", source="notes", name="key"),
    ]
    with Store.open(made / ".assay" / "assay.db") as store:
        ingest(store, "notes", [("x", item) for item in items])
    (made / "damaged.db").write_bytes(b"SQLite format 3\x00" + b"\xff" * 8_000)
    (made / "text.db").write_text("no database\n" * 100)
    (made / "unreadable").mkdir()
    (made / "unreadable" / "a.md").write_bytes(b"\xff\xfe")
    (made / "unreadable" / "b.txt").write_bytes(b"")
    (made / "bad.toml").write_text("[brain.floor]\nmin_score = 0.4\n")
    (made / "bad.jsonl").write_text('{"kind": "node"}\n{"kind": "link", "child": "a", "parent": "b"}\n')
    (made / "nodb").mkdir()
    return made


MISUSE: dict[str, tuple[str, Sequence[str], str]] = {
    "unknown dataset": (ASSAY, ["ask", "why?", "--dataset", "gone"], "no dataset 'gone': there are notes"),
    "unknown pattern": (ASSAY, ["ask", "why?", "--dataset", "gone/*"], "no dataset 'gone/*': there are notes"),
    "another user": (ASSAY, ["ask", "why?", "-d", "notes", "--user", "ruth"], "no dataset 'notes': there are none yet"),
    "empty question": (ASSAY, ["ask", "", "--dataset", "notes"], "the question is empty"),
    "blank question": (MEM, ["query", " \n ", "--project", "notes"], "the question is empty"),
    "damaged database": (ASSAY, ["ask", "why?", "--db", "damaged.db"], "damaged.db: is damaged or no Assay database"),
    "text as database": (MEM, ["projects", "--db", "text.db"], "text.db: is damaged or no Assay database"),
    "folder as database": (ASSAY, ["datasets", "--db", "nodb"], "nodb: cannot be opened"),
    "no database": (ASSAY, ["datasets", "--db", "gone.db"], "no database at gone.db"),
    "unknown profile": (ASSAY, ["ask", "why?", "-d", "notes", "--profile", "gone"], "no profile 'gone': shipped are "),
    "malformed profile": (ASSAY, ["ask", "why?", "-d", "notes", "-p", "./bad.toml"], "must name its score space"),
    "profile that is none": (ASSAY, ["profiles", "memory", "-p", "./bad.jsonl"], "not valid TOML"),
    "unknown recipe": (ASSAY, ["ask", "why?", "--recipe", "soup"], "'--recipe'"),
    "recipe of profiles": (ASSAY, ["profiles", "soup"], "'soup'"),
    "unknown level": (ASSAY, ["ask", "why?", "-d", "notes", "--levels", "L1,L7"], "no level L7; there are L0, L1, L2"),
    "no level": (MEM, ["query", "why?", "--project", "notes", "--levels", ","], "no level (none given)"),
    "unknown embedder": (ASSAY, ["ask", "why?", "-d", "notes", "--embedder", "gpt"], "no embedder 'gpt'; there are"),
    "other embedder": (ASSAY, ["ask", "who keeps the key?", "-d", "notes", "--embedder", "wordllama"],
                       "was set in score space "),
    "no such moment": (ASSAY, ["ask", "why?", "-d", "notes", "-r", "graph", "--as-of", "soon"], "as_of: not a date"),
    "unreadable folder": (ASSAY, ["ingest", "unreadable", "-d", "new"], "from the input: unreadable/a.md"),
    "missing path": (ASSAY, ["ingest", "gone.md", "-d", "new"], "gone.md: no such file or folder"),
    "nothing to read": (ASSAY, ["ingest", "nodb", "-d", "new"], "nodb: no file to read"),
    "strict": (ASSAY, ["ingest", "bad.jsonl", "-d", "new", "--strict"], "2 problems and --strict: "),
    "dataset without name": (ASSAY, ["ingest", "bad.jsonl", "-d", ""], "a dataset's name is 1 to 200"),
    "unknown format": (ASSAY, ["import", "tsv", ".", "-d", "new"], "no format 'tsv'; there are 2wiki, beir"),
    "import of nothing": (ASSAY, ["import", "scifact", "gone", "-d", "new"], "gone"),
    "no dataset given": (ASSAY, ["ingest", "bad.jsonl"], "'--dataset'"),
    "no question": (MEM, ["query"], "question"),
    "unknown option": (MEM, ["query", "why?", "--depth", "3"], "--depth"),
    "unknown command": (ASSAY, ["brew"], "'brew'"),
    "too many hits": (MEM, ["query", "why?", "--k", "101"], "'--k'"),
    "no number": (MEM, ["query", "why?", "--k", "many"], "'--k'"),
    "no project": (MEM, ["query", "why?"], "give --project NAME. Projects: notes"),
}  # fmt: skip


@pytest.mark.parametrize(("code", "arguments", "says"), MISUSE.values(), ids=MISUSE)
def test_misuse_is_one_line_and_exit_code_two(
    code: str, arguments: Sequence[str], says: str, folder: Path
) -> None:
    done = shell(folder, *arguments, code=code)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: ")
    assert says in line
    assert "Traceback" not in line


def test_ingest_ask_and_list(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "canal.md").write_text(
        "# The canal\n\nThe canal office opens at nine. Ada keeps its key.\n"
    )
    (tmp_path / "in" / "latin.md").write_bytes(b"caf\xe9")
    where = ("--db", "deep/a.db", "--embedder", "wordllama")
    dry = shell(tmp_path, "ingest", "in", "-d", "canal", *where, "--dry-run")
    assert (dry.returncode, dry.stderr) == (0, "")
    assert dry.stdout.startswith("would add to 1 dataset(s)\n")
    assert not (tmp_path / "deep").exists()
    first = shell(tmp_path, "ingest", "in", "-d", "canal", *where, "--format", "json")
    body = json.loads(first.stdout)
    assert (first.returncode, first.stderr) == (0, "")
    assert body["datasets"]["canal"]["added"] == {"artifact": 1}
    assert [problem["where"] for problem in body["problems"]] == ["in/latin.md"]
    assert body["embedded"] == 1
    asked = shell(tmp_path, "ask", "Who keeps the key of the canal office?", "-d", "canal", *where, "-p", "bm25",
                  "--format", "json")  # fmt: skip
    assert (asked.returncode, asked.stderr) == (0, "")
    trace = json.loads(asked.stdout)
    assert trace["datasets"] == ["canal"]
    assert trace["answer"]["evidence"][0]["source"] == "canal.md"
    listed = shell(tmp_path, "datasets", "--db", "deep/a.db", "--format", "json")
    assert [row["project"] for row in json.loads(listed.stdout)] == ["canal"]
    listed = shell(tmp_path, "datasets", "--db", "deep/a.db")
    assert "canal: 1 artifacts, 1 chunks, 1 nodes, 1 nodes_L0" in listed.stdout


def test_ask_explains_in_text(folder: Path) -> None:
    done = shell(
        folder, "ask", "Who keeps the key?", "-d", "notes", *WORDS, "--recipe", "memory", "--explain"
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "Ada keeps the key of the canal office." in done.stdout
    assert "floor: 1 → 1" in done.stdout
    assert "fell: 0 of 1" in done.stdout


def test_profiles_are_listed_and_printed_as_files(tmp_path: Path) -> None:
    listed = shell(tmp_path, "profiles")
    assert [line.split(":")[0] for line in listed.stdout.splitlines()] == list(shipped())
    (tmp_path / "mine.toml").write_text(shell(tmp_path, "profiles", "graph").stdout)
    again = shell(tmp_path, "profiles", "graph", "-p", "./mine.toml")
    assert again.returncode == 0
    assert again.stdout == (tmp_path / "mine.toml").read_text()


def test_import_brings_in_labelled_questions(public_data: Path, tmp_path: Path) -> None:
    path = str(public_data / "locomo")
    done = shell(tmp_path, "import", "locomo", path, "-d", "talk", "--no-embed", "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    body = json.loads(done.stdout)
    assert len(body["datasets"]) == 10
    assert all(
        name.startswith("talk/") and row["added"]["case"] > 50 for name, row in body["datasets"].items()
    )


@pytest.mark.parametrize("code", [ASSAY, MEM], ids=["assay", "mem"])
@pytest.mark.parametrize("arguments", [["--help"], ["datasets", "--help"], ["projects", "--help"]])
def test_help_is_not_an_error(code: str, arguments: list[str], tmp_path: Path) -> None:
    done = shell(tmp_path, *arguments, code=code)
    known = arguments[0] == "--help" or (arguments[0] == "projects") == (code == MEM)
    assert done.returncode == (0 if known else 2)
    assert ("Usage" in done.stdout) == known


@pytest.mark.parametrize("code", [ASSAY, MEM], ids=["assay", "mem"])
def test_no_command_shows_the_help(code: str, tmp_path: Path) -> None:
    done = shell(tmp_path, code=code)
    assert done.returncode == 2
    assert "Usage" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


HEAVY = ("streamlit", "ragas", "faiss", "onnxruntime", "sklearn", "pandas", "numpy.f2py", "anthropic", "openai", "plotly",
         "scipy", "bm25s", "wordllama")  # fmt: skip


@pytest.mark.parametrize("module", ["workbench.cli", "core.cli"])
@pytest.mark.parametrize("arguments", [["--help"], ["ask", "--help"], ["ingest", "--help"]])
def test_help_loads_nothing_heavy(module: str, arguments: list[str], tmp_path: Path) -> None:
    code = (
        f"import sys, json\nfrom {module} import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        f"print('loaded', [name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = shell(tmp_path, *arguments, code=code)
    assert done.stdout.splitlines()[-1] == "loaded []"


@pytest.mark.parametrize("size", [1, 100_000], ids=["noticed at the end", "noticed while it prints"])
def test_a_reader_that_goes_away_is_no_error(size: int) -> None:
    code = f"""
import typer
from core.command import run
command = typer.Typer()
command.command()(lambda: print("x" * {size}))
run(command)
"""
    process = subprocess.Popen([sys.executable, "-c", code], env=environment(), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)  # fmt: skip
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")


def interrupted(folder: Path, when: Callable[[], bool]) -> tuple[int, str]:
    """Exit code and stderr of an ingest that is interrupted once ``when`` says so."""
    command = [sys.executable, "-c", ASSAY, "ingest", "many.jsonl", "-d", "many", "--no-embed"]
    process = subprocess.Popen(command, cwd=folder, env=environment(), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)  # fmt: skip
    until = time.monotonic() + 30
    while not when() and time.monotonic() < until:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    return process.returncode, errors


def test_an_interrupt_says_what_is_kept(tmp_path: Path) -> None:
    rows = (
        json.dumps({"kind": "node", "level": "L0", "text": f"t {n}", "source": "s"}) for n in range(60_000)
    )
    (tmp_path / "many.jsonl").write_text("\n".join(rows))
    db = tmp_path / ".assay" / "assay.db"

    def begun() -> bool:
        if not db.exists():
            return False
        with Store.open(db) as store:
            return bool(store.datasets()) and store.counts(store.dataset("many").dataset_id)["nodes"] > 0

    code, errors = interrupted(tmp_path, begun)
    assert (code, errors) == (
        130,
        "interrupted; what was acknowledged is kept, run the command again to go on\n",
    )
    with Store.open(db) as store:
        kept = store.counts(store.dataset("many").dataset_id)["nodes"]
    assert 0 < kept < 60_000
    assert kept % 500 == 0


def test_an_empty_variable_is_no_database(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "ASSAY_DB": "", "ASSAY_EMBEDDER": ""}
    program = "import sys; sys.argv[0] = 'assay'; from workbench.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", program, "datasets"], cwd=tmp_path, env=environment,
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("error: no database at .assay/assay.db")


def test_a_full_disk_behind_the_output_is_one_line(folder: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full on this system")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", ASSAY, "datasets"],
            cwd=folder, env=environment(), stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith("error: the output: cannot be read or written: No space left on device; ")


def test_a_terminal_without_unicode_gets_escapes(tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("Gateways verloren die Uhrzeit: später Ärger.", encoding="utf-8")
    shell(tmp_path, "ingest", "note.md", "--dataset", "notes", "--embedder", "wordllama")
    command = [sys.executable, "-c", ASSAY, "ask", "Gateways Uhrzeit", "--dataset", "notes", *WORDS]
    done = subprocess.run(
        command, cwd=tmp_path, env={**environment(), "PYTHONIOENCODING": "ascii"}, capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "sp\\xe4ter \\xc4rger" in done.stdout


def test_an_error_line_holds_no_control_characters(tmp_path: Path) -> None:
    done = shell(tmp_path, "ingest", "no\x1b[31m\u202efile", "--dataset", "x")
    assert done.returncode == 2
    assert done.stderr == "error: no·[31m·file: no such file or folder\n"
