"""``kill -9`` in the middle of bringing data in: a rerun ends with the rows and numbers of an undisturbed run."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
TIMES = {"created_at", "updated_at"}
SCRIPT = """
import sys
from pathlib import Path

import numpy as np

from core.ingest import embed, ingestor
from core.ingest.folder import read_paths
from core.store import Store


class Letters:
    model_id, dim = "letters", 4

    def embed(self, texts, progress=None):
        return np.array([[len(t), t.count("e"), t.count("a"), 1] for t in texts], dtype=np.float32)


embed.BATCH = 20
folder = Path(sys.argv[1])
with Store.open(Path(sys.argv[2])) as store:
    tick = lambda finished: print("tick", flush=True)
    for name in ("one", "two"):
        report = ingestor.ingest(store, name, read_paths([folder]), batch=10, progress=tick)
        assert len(report.problems) == 3, report.problems
        embed.embed_missing(store, Letters(), [store.dataset(name).dataset_id], progress=tick)
"""


def line(kind: str, **fields: object) -> str:
    return json.dumps({"kind": kind, **fields})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Documents, a graph, and nodes whose parents stand before and behind them; three lines are wrong."""
    made = tmp_path_factory.mktemp("input")
    for number in range(12):
        (made / f"doc{number:02}.md").write_text(
            f"# Document {number}\n\n" + f"A sentence of {number} and more. " * 90
        )
    rows = [line("node", level="L1", text=f"note {n}", source="notes", name=f"n{n}",
                 parents=[f"t{n}", f"t{(n * 7) % 100}"]) for n in range(100)]  # fmt: skip
    rows += [
        line("node", level="L0", text=f"turn {n}", source="log", turn=f"t{n}", name=f"t{n}")
        for n in range(100)
    ]
    rows += [line("entity", name=f"person {n}", type="person") for n in range(0, 40, 2)]
    rows += [line("fact", subject=f"person {n % 40}", relation="knows", object=f"person {(n * 11) % 40}",
                  artifact=f"doc{n % 12:02}.md", valid_at=f"20{n % 90 + 10}") for n in range(100)]  # fmt: skip
    rows += [
        line("entity", name=f"person {n}", type="person") for n in range(1, 40, 2)
    ]  # known from facts by now
    rows += [line("case", case_id=f"c{n}", question=f"q{n}?") for n in range(20)]
    rows[40:40] = [
        "{",
        line("link", child="n1", parent="gone"),
        line("node", level="L0", text="x", source="s", name="n0"),
    ]
    (made / "graph.jsonl").write_text("\n".join(rows) + "\n")
    return made


def start(folder: Path, db: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", SCRIPT, str(folder), str(db)]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env, cwd=ROOT)


def finish(folder: Path, db: Path) -> int:
    """Runs to the end; how many ticks that took."""
    process = start(folder, db)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    return output.count("tick")


def kill(folder: Path, db: Path, ticks: int, pause: float) -> None:
    """Runs until so many ticks were heard and ``pause`` seconds went by, then kills."""
    process = start(folder, db)
    assert process.stdout is not None
    for _ in range(ticks):
        assert process.stdout.readline() == "tick\n"
    time.sleep(pause)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL


def rows_of(db: Path) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every table with its numbers, without times, random ids and revisions."""
    tables: dict[str, list[tuple[object, ...]]] = {}
    with closing(sqlite3.connect(db)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            names = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            kept = ", ".join(name for name in names if name not in TIMES | {"uid", "revision"})
            tables[table] = sorted(connection.execute(f"SELECT {kept} FROM {table}"), key=repr)  # noqa: S608
    return tables


def size(db: Path) -> int:
    with closing(sqlite3.connect(db)) as connection:
        count = 0
        for table in ("node", "artifact", "fact", "entity", "labelled_case", "embedding"):
            count += connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608
    return count


def test_a_killed_run_and_a_rerun_end_where_one_run_would(folder: Path, tmp_path: Path) -> None:
    ticks = finish(folder, tmp_path / "whole.db")
    expected, total = rows_of(tmp_path / "whole.db"), size(tmp_path / "whole.db")
    counts = {table: len(rows) for table, rows in expected.items()}
    assert counts["dataset"] == 2
    assert (counts["fact"], counts["entity"], counts["labelled_case"]) == (200, 80, 40)
    assert counts["embedding"] > 200
    assert counts["node_link"] > 300

    chance = random.Random(20)
    for number in range(3):
        db = tmp_path / f"killed{number}.db"
        kill(folder, db, chance.randint(1, ticks * 2 // 3), chance.uniform(0, 0.02))
        if number % 2:  # and the rerun, too
            kill(folder, db, chance.randint(1, ticks // 3), chance.uniform(0, 0.02))
        assert size(db) < total, "the kill came too late"
        finish(folder, db)
        assert rows_of(db) == expected, f"killed run {number}"
