"""``kill -9`` at random moments of a job: checks what is left, lets the job go on, compares with an undisturbed run."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conftest import ROOT
from tests.faults import inputs, kept
from tests.faults.jobs import DB, OUT
from tests.faults.zygote import ACKNOWLEDGED, STDERR

LATE = 4
"""So many times as many kills may come too late as are asked for; then the job is too short to be killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Killed:
    """A job of the product under a name. ``prepare`` fills a folder, ``check(folder, acknowledged, whole)`` asserts on
    what a kill left, ``state(folder)`` is what two runs to the end must have in common."""

    name: str
    job: str
    prepare: Callable[[Path], None]
    check: Callable[[Path, Sequence[Any], Any], None]
    state: Callable[[Path], Any]


KILLED = (
    Killed(name="import", job="import", prepare=inputs.for_import, check=kept.imported,
           state=lambda f: kept.rows_of(f / DB)),
    Killed(name="remember", job="remember", prepare=inputs.for_remember, check=kept.remembered,
           state=lambda f: kept.rows_of(f / DB)),
    Killed(name="record", job="record", prepare=inputs.for_questions, check=kept.recorded,
           state=lambda f: kept.recording_of(f / OUT)),
    Killed(name="record over an older one", job="record", prepare=inputs.with_older_recording, check=kept.recorded,
           state=lambda f: kept.recording_of(f / OUT)),
    Killed(name="eval", job="eval", prepare=inputs.for_questions, check=kept.evaluated,
           state=lambda f: kept.run_of(f / OUT)),
    Killed(name="eval over an older one", job="eval", prepare=inputs.with_older_run, check=kept.evaluated,
           state=lambda f: kept.run_of(f / OUT)),
    Killed(name="label", job="label", prepare=inputs.nothing, check=kept.labelled,
           state=lambda f: kept.rows_of(f / DB)),
)  # fmt: skip


Moment = dict[str, float]
"""``{"after": seconds}``, or ``{"before": n}``: the n-th file operation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The exit code (negative: the signal), the seconds from the job's beginning, and its file operations."""

    status: int
    seconds: float
    operations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """``kills`` that hit the job at work, of which ``again`` hit its second run too; ``acknowledged`` before a kill."""

    name: str
    kills: int
    again: int
    acknowledged: int


class Zygote:
    """The forking process, see ``tests.faults.zygote``."""

    def __init__(self) -> None:
        environment = {
            **os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false",
        }  # fmt: skip
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.zygote"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, env=environment, cwd=ROOT,
        )  # fmt: skip
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "ready\n"

    def run(self, job: str, folder: Path, moment: Moment | None = None) -> Ended:
        """What came of a job that is killed at a moment, or not."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        request = {"job": job, "folder": str(folder), "after": None, "before": None} | (moment or {})
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return Ended(**json.loads(self._process.stdout.readline()))

    def finish(self, job: str, folder: Path) -> Ended:
        """Runs a job to its end."""
        ended = self.run(job, folder)
        assert ended.status == 0, (folder / STDERR).read_text()[-3000:]
        return ended

    def close(self) -> None:
        """Ends it."""
        self._process.communicate(timeout=30)


@contextmanager
def zygote() -> Iterator[Zygote]:
    """One for the block."""
    process = Zygote()
    try:
        yield process
    finally:
        process.close()


def killed(process: Zygote, what: Killed, folder: Path, *, moments: int, seed: int) -> Tally:
    """Kills the job at so many moments of its work, drawn evenly over the time of an undisturbed run and, every other
    time, over its file operations; every third time the run that goes on is killed as well.

    AssertionError: something acknowledged was lost, something half-written could be read, or the end is not that of an
    undisturbed run.
    """
    prepared = folder / "prepared"
    prepared.mkdir(parents=True)
    what.prepare(prepared)
    ended, whole = _undisturbed(process, what, prepared, folder)
    chance = random.Random(seed)
    hits = again = late = acknowledged = 0
    while hits < moments:
        work = _copy(prepared, folder / "work")
        moment = _drawn(chance, ended, by_operation=bool(hits % 2))
        if not _hit(process, what, work, moment):
            late += 1
            assert late <= LATE * moments, (
                f"{what.name} ends in {ended.seconds:.2f} s, before it can be killed"
            )
            continue
        hits += 1
        acknowledged += _checked(what, work, whole)
        if hits % 3 == 0 and _hit(process, what, work, _drawn(chance, ended, by_operation=bool(hits % 2))):
            again += 1
            _checked(what, work, whole)
        process.finish(what.job, work)
        assert what.state(work) == whole, f"{what.name}: killed at {moment}, it ended otherwise"
        _nothing_left(work)
    return Tally(name=what.name, kills=hits, again=again, acknowledged=acknowledged)


def _drawn(chance: random.Random, ended: Ended, *, by_operation: bool) -> Moment:
    if by_operation and ended.operations:
        return {"before": chance.randint(1, ended.operations)}
    return {"after": chance.uniform(0, ended.seconds)}


def _undisturbed(process: Zygote, what: Killed, prepared: Path, folder: Path) -> tuple[Ended, Any]:
    """How two runs ended and their state; they agree, else nothing could be told from a difference."""
    first, second = _copy(prepared, folder / "first"), _copy(prepared, folder / "second")
    process.finish(what.job, first)
    ended = process.finish(what.job, second)
    assert what.state(first) == what.state(second)
    return ended, what.state(first)


def _hit(process: Zygote, what: Killed, work: Path, moment: Moment) -> bool:
    """Whether the kill came before the end."""
    ended = process.run(what.job, work, moment)
    if ended.status == -signal.SIGKILL:
        return True
    assert ended.status == 0, (work / STDERR).read_text()[-3000:]
    return False


def _checked(what: Killed, work: Path, whole: Any) -> int:
    said = work / ACKNOWLEDGED
    acknowledged = [json.loads(line) for line in said.read_text().splitlines()] if said.exists() else []
    what.check(work, acknowledged, whole)
    return len(acknowledged)


def _nothing_left(work: Path) -> None:
    """No draft of a killed run stays behind once its work is done."""
    left = [file.name for file in (*work.glob(".*"), *work.glob(f"{OUT}/.*"))]
    assert not left, left


def _copy(source: Path, target: Path) -> Path:
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)
    return target
