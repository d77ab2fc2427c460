"""What killed processes leave beside a file or folder: cleared, or put back."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from evals.drafts import draft_of, replace_folder, settle
from tests.conftest import ROOT


@pytest.fixture
def dead() -> int:
    """The number of a process that is no more."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def filled(folder: Path, text: str) -> Path:
    folder.mkdir()
    (folder / "file").write_text(text)
    return folder


def test_drafts_of_the_dead_go_and_others_stay(tmp_path: Path, dead: int) -> None:
    filled(tmp_path / f".run.{dead}", "half")
    (tmp_path / f".rows.jsonl.{dead}").write_text("half")
    kept = [filled(draft_of(tmp_path / "run"), "mine"), filled(tmp_path / ".run.draft-00ff", "pieces")]
    kept += [
        filled(tmp_path / f".runs.{dead}", "of another"),
        filled(tmp_path / f".run.{dead}.note", "no draft"),
    ]
    settle(tmp_path / "run")
    settle(tmp_path / "rows.jsonl")
    assert sorted(tmp_path.iterdir()) == sorted(kept)


def test_what_was_moved_aside_goes_back_only_where_nothing_stands(tmp_path: Path, dead: int) -> None:
    for _ in range(2):
        filled(tmp_path / f".run.{dead}.old", "older")
        settle(tmp_path / "run")
        assert (tmp_path / "run" / "file").read_text() == "older"
        assert [file.name for file in tmp_path.iterdir()] == ["run"]
        (tmp_path / f".run.{dead}.old").mkdir()
        (tmp_path / "run" / "file").write_text("newer")
        settle(tmp_path / "run")
        assert (tmp_path / "run" / "file").read_text() == "newer"
        (tmp_path / "run").rename(tmp_path / "elsewhere")
        (tmp_path / "elsewhere" / "file").unlink()
        (tmp_path / "elsewhere").rmdir()


def test_a_folder_that_cannot_be_replaced_stays(tmp_path: Path) -> None:
    filled(tmp_path / "run", "older")
    with pytest.raises(FileNotFoundError):
        replace_folder(tmp_path / "no draft", tmp_path / "run")
    assert (tmp_path / "run" / "file").read_text() == "older"
    replace_folder(filled(tmp_path / "draft", "newer"), tmp_path / "run")
    assert (tmp_path / "run" / "file").read_text() == "newer"
    assert [file.name for file in tmp_path.iterdir()] == ["run"]


def test_a_log_whose_last_line_was_cut_is_shortened_without_being_written_again(tmp_path: Path) -> None:
    """No file may grow beyond a few bytes in that process, as on a full disk: written anew, the log would be lost."""
    program = f"""
import resource, sys
from pathlib import Path
from core.errors import UsageError
from evals.run_files import LOG, RunLog
out = Path(sys.argv[1])
log = RunLog(out, {{}})
log.add(("main", "c1", 0), {{"row": {{"text": "x" * 2000}}}})
log.close()
with (out / LOG).open("a") as file:
    file.write('{{"key": ["main", "c2')
resource.setrlimit(resource.RLIMIT_FSIZE, (500, {resource.RLIM_INFINITY}))
again = RunLog(out, {{}})
try:
    again.add(("main", "c2", 0), {{"row": {{}}}})
    again.close()
except UsageError as error:
    print(error)
print(list(RunLog(out, {{}}).done))
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    said, kept = done.stdout.splitlines()
    assert "cannot be written" in said, done.stderr
    assert kept == "[('main', 'c1', 0)]"
