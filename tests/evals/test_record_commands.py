"""`assay record` and `assay replay` as processes, killed once, and what a recording refuses."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from core import profile as profiles
from core.errors import RecordingError, UsageError
from evals.recording_files import load, save
from evals.replay import Replayer, replay
from tests.conftest import ROOT
from tests.shipped import part

Assay = Callable[..., "subprocess.CompletedProcess[str]"]
COMMAND = [sys.executable, "-c", "from workbench.cli import main; main()"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("record")


@pytest.fixture(scope="module")
def environment(home: Path) -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "ASSAY_DB": str(home / "assay.db"),
        "ASSAY_EMBEDDER": "wordllama",
    }


@pytest.fixture(scope="module")
def assay(home: Path, environment: dict[str, str]) -> Assay:
    """Runs the command on one database that holds meridian."""

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*COMMAND, *map(str, arguments)], cwd=home, env=environment, capture_output=True, text=True,
            timeout=300, check=False,
        )  # fmt: skip

    assert run("ingest", part(home / "data"), "-d", "meridian").returncode == 0
    return run


@pytest.fixture(scope="module")
def recorded(home: Path, assay: Assay) -> Path:
    done = assay("record", "-d", "meridian", "--recipe", "brain", "--profile", "seed", "--out", "recorded")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "recorded: 61 cases recorded\n"
    return home / "recorded"


def refused(done: subprocess.CompletedProcess[str]) -> str:
    assert (done.returncode, done.stdout) == (2, ""), done
    assert "Traceback" not in done.stderr
    return " ".join(done.stderr.split())


@pytest.mark.parametrize("recipe", ["brain", "graph"])
def test_a_replay_prints_the_table_of_an_evaluation(
    home: Path, assay: Assay, recorded: Path, recipe: str
) -> None:
    options = ["-d", "meridian", "--recipe", recipe, "--profile", "seed"]
    folder = recorded
    if recipe == "graph":
        folder = home / "graph"
        assert assay("record", *options, "--out", folder).returncode == 0
    done = assay("eval", *options, "--out", "fresh", "--format", "json")
    replayed = assay("replay", folder, "--profile", "seed", "--out", "replayed", "--format", "json")
    assert (done.returncode, replayed.returncode) == (0, 0), replayed.stderr
    fresh, again = json.loads(done.stdout), json.loads(replayed.stdout)
    recorded_at = again["manifest"].pop("recorded_at")
    assert recorded_at == load(folder).header.recorded_at
    assert again == fresh
    rows = [(home / name / "rows.jsonl").read_bytes() for name in ("fresh", "replayed")]
    assert rows[0] == rows[1]
    table = assay("replay", folder, "--profile", "seed").stdout
    assert "citation_precision" in table


def test_a_killed_recording_goes_on_where_it_was(
    home: Path, environment: dict[str, str], assay: Assay, recorded: Path
) -> None:
    """Killed when some cases are on disk: the second run asks the others only, and the result is that of one run."""
    out = home / "killed"
    options = ["record", "-d", "meridian", "--recipe", "brain", "--profile", "seed", "--out", str(out)]
    program = f"""
import os, signal
from evals import record_piece
put = record_piece.Draft.put
def put_and_die(self, number, piece):
    put(self, number, piece)
    if number == 20:
        os.kill(os.getpid(), signal.SIGKILL)
record_piece.Draft.put = put_and_die
import sys
sys.argv = ["assay", *{options!r}]
from workbench.cli import main
main()
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=home, env=environment, check=False)
    assert done.returncode == -signal.SIGKILL
    (draft,) = home.glob(".killed.draft-*")
    kept = {file.name: file.stat().st_mtime_ns for file in draft.glob("*.npz")}
    assert len(kept) == 21
    assert not out.exists()
    damaged = draft / "0000003.npz"
    damaged.write_bytes(damaged.read_bytes()[:100])
    assert assay(*options).returncode == 0
    assert not draft.exists()
    first, second = load(recorded), load(out)
    assert second.cases == first.cases
    assert {name: array.tobytes() for name, array in second.arrays.items()} == {
        name: array.tobytes() for name, array in first.arrays.items()
    }


def test_what_is_not_recorded_is_refused(assay: Assay, recorded: Path, tmp_path: Path) -> None:
    seed = profiles.load("seed", "brain")
    recording = load(recorded)
    with pytest.raises(RecordingError, match=r"of recipe brain, profile 'seed' of memory; run: assay record"):
        recording.check(profiles.load("seed", "memory"))
    with pytest.raises(
        RecordingError, match=r"fusion\.method = rrf is another method than the recorded blend"
    ):
        replay(recording, [seed.with_values({"fusion.method": "rrf"})])
    tuned = tmp_path / "tuned.toml"
    tuned.write_text(
        'name = "tuned"\nbase = "seed"\nabout = "x"\n[brain.floor]\n'
        'min_score = { value = 0.38, space = "tfidf+cosine/minilm-l6-int8" }\n'
    )
    said = refused(assay("replay", recorded, "--profile", tuned))
    assert "tfidf+cosine/minilm-l6-int8" in said
    assert "tfidf+cosine/wordllama" in said
    assert "assay record --dataset meridian --recipe brain" in said


def test_what_was_recorded_narrow_is_not_served_wide(assay: Assay, home: Path) -> None:
    options = ("-d", "meridian", "--recipe", "brain", "--profile", "seed", "--limit", "4")
    assert assay("record", *options, "--width", "recall.dense_k=20", "--out", "narrow").returncode == 0
    recording = load(home / "narrow")
    seed = profiles.load("seed", "brain")
    assert replay(recording, [seed.with_values({"recall.dense_k": 20})]).abstained.shape == (1, 4)
    with pytest.raises(
        RecordingError, match=r"recall\.dense_k = 50 is beyond the 20 that were recorded; run: .*=50"
    ):
        replay(recording, [seed])
    assert "no width 'x'" in refused(assay("record", *options, "--width", "x=1", "--out", "other"))
    assert "NAME=NUMBER" in refused(assay("record", *options, "--width", "x", "--out", "other"))


def test_damage_other_versions_and_other_folders_are_told(recorded: Path, tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="is no recording: it has no header"):
        load(tmp_path)
    recording = load(recorded)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("keep")
    with pytest.raises(UsageError, match="exists and is no recording"):
        save(recording, tmp_path / "mine")
    for name, content, message in (
        ("cosine.npy", lambda old: old[:-40], r"cosine\.npy is damaged"),
        ("cases.jsonl", lambda old: old[: len(old) // 2], r"cases\.jsonl is damaged"),
        ("header.json", lambda old: old[:200], "no recording that can be read"),
        ("header.json", lambda old: old.replace(b'"format": 1', b'"format": 2'), "format 2, .* reads 1; update assay"),
        ("header.json", lambda old: b"[]", "no recording that can be read"),
    ):  # fmt: skip
        folder = tmp_path / "copy"
        save(recording, folder)
        file = folder / name
        file.write_bytes(content(file.read_bytes()))
        with pytest.raises(RecordingError, match=message):
            load(folder)
    folder = tmp_path / "copy"
    save(recording, folder)
    (folder / "tfidf.npy").unlink()
    with pytest.raises(RecordingError, match="record again"):
        load(folder)


def test_a_saved_recording_replays_as_the_one_in_memory(recorded: Path, tmp_path: Path) -> None:
    first = load(recorded)
    save(first, tmp_path / "again")
    second = load(tmp_path / "again")
    assert isinstance(second.arrays["cosine"], np.memmap)
    seed = profiles.load("seed", "brain")
    one, other = (replay(each, [seed]) for each in (first, second))
    assert one.rows(0) == other.rows(0)
    assert Replayer(first).decision(3, seed) == Replayer(second).decision(3, seed)
