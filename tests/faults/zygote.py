"""A process that has loaded the product once and forks a child for each job, which is killed at the moment it is told:
after some seconds, or right before a file operation of its own (a file opened to be written, renamed, removed …).

One request a line on stdin, one outcome a line on stdout, both JSON. Starting Python for each of hundreds of kills would
take an hour; a fork takes milliseconds.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.faults.jobs import JOBS

ACKNOWLEDGED, STDERR = "acknowledged.jsonl", "stderr.txt"
OPERATIONS = frozenset({"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate", "shutil.rmtree"})
LONGEST = 300.0
"""Seconds after which a job is said to hang."""


def main() -> None:
    """Serves until stdin ends."""
    print("ready", flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        outcome = _outcome(request["job"], Path(request["folder"]), request["after"], request["before"])
        print(json.dumps(outcome), flush=True)


def _outcome(job: str, folder: Path, after: float | None, before: int | None) -> dict[str, Any]:
    """``status``: the exit code, negative for a signal. ``seconds``: from the job's beginning to the child's end.
    ``operations``: how many there were. ``before`` counts them from 1."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        _child(JOBS[job], folder, write, before)
    os.close(write)
    os.read(read, 1)  # it has begun
    began = time.monotonic()
    ended = _ended(read, LONGEST if after is None else after)
    if not ended:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    operations = int(os.read(read, 20) or 0)
    os.close(read)
    return {
        "status": os.waitstatus_to_exitcode(status),
        "seconds": time.monotonic() - began,
        "operations": operations,
    }


def _ended(pipe: int, seconds: float) -> bool:
    """Waits so long for the child's end, which closes the pipe."""
    return bool(select.select([pipe], [], [], seconds)[0])


def _child(
    job: Callable[[Path, Callable[[Any], None]], None], folder: Path, pipe: int, before: int | None
) -> None:
    kept = os.open(folder / ACKNOWLEDGED, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(os.open(folder / STDERR, os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
    os.dup2(2, 1)

    def acknowledge(what: Any) -> None:
        os.write(kept, (json.dumps(what) + "\n").encode())

    os.write(pipe, b"b")
    operations = _counted(before)
    try:
        job(folder, acknowledge)
    except BaseException:  # noqa: BLE001 (the parent's loop must not go on in the child)
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
    os.write(pipe, str(operations()).encode())
    os._exit(0)


def _counted(before: int | None) -> Callable[[], int]:
    """Counts this process's file operations from now on, and kills it right before the one of that number."""
    count = 0

    def noted(event: str, values: tuple[Any, ...]) -> None:
        nonlocal count
        if event in OPERATIONS or (event == "open" and int(values[2] or 0) & (os.O_WRONLY | os.O_RDWR)):
            count += 1
            if count == before:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(noted)
    return lambda: count


if __name__ == "__main__":
    main()
