"""Processes and threads that write at once lose nothing and are never told that the database is locked."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from core.ingest.ingestor import ingest
from core.ingest.items import LinkItem, NodeItem
from core.store import Store

ROOT = Path(__file__).parents[3]
SCRIPT = """
import sys, threading, time
from pathlib import Path

from core.ingest.ingestor import ingest
from core.ingest.items import EntityItem, NodeItem
from core.store import Store

path, who, moment = Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])
failures = []


def write(store, thread):
    try:
        items = [("x", NodeItem(level="L0", text=f"{who} {thread} {n}", source="log", turn=f"{who}-{thread}-{n}"))
                 for n in range(40)]
        items += [("x", EntityItem(name=f"shared {n}", type="thing")) for n in range(10)]
        report = ingest(store, "shared", items, batch=5)
        assert not report.problems and report.added["node"] == 40, report
        ingest(store, f"own {who} {thread}", items[:3], batch=1)
        store.content_hash(store.dataset("shared").dataset_id)
        assert len(list(store.texts("node", [store.dataset("shared").dataset_id]))) >= 40
    except BaseException as error:
        failures.append(f"{who} {thread}: {error!r}")


time.sleep(max(0, moment - time.time()))  # all at once, on a database that does not exist yet
with Store.open(path) as store:
    threads = [threading.Thread(target=write, args=(store, number)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
sys.exit("; ".join(failures) or 0)
"""


def test_processes_with_several_threads_each_write_at_once(tmp_path: Path) -> None:
    db, moment = tmp_path / "new" / "a.db", time.time() + 1.5
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    processes = [
        subprocess.Popen([sys.executable, "-c", SCRIPT, str(db), who, str(moment)], stderr=subprocess.PIPE, text=True,
                         env=env, cwd=ROOT)
        for who in ("ann", "bob", "cy")
    ]  # fmt: skip
    ends = [(process.communicate(timeout=60)[1], process.returncode) for process in processes]
    assert ends == [("", 0)] * 3
    expected = {
        f"{who} {thread} {n}" for who in ("ann", "bob", "cy") for thread in range(3) for n in range(40)
    }
    with Store.open(db) as store:
        shared = store.dataset("shared").dataset_id
        texts = list(store.texts("node", [shared]))
        assert len(texts) == 360
        assert set(texts) == expected
        counts = store.counts(shared)
        assert counts["entities"] == 10
        assert store.columns("node", [shared]).row_ids.tolist() == sorted(
            store.columns("node", [shared]).row_ids.tolist()
        )
        assert len(store.matching("own *")) == 9
        assert {store.counts(found.dataset_id)["nodes"] for found in store.matching("own *")} == {3}
        assert store.database.rows("PRAGMA integrity_check") == [("ok",)]


def at_once(*jobs: Callable[[], object]) -> list[str]:
    """Runs the jobs in threads that start together; what they raised."""
    failures: list[str] = []
    barrier = threading.Barrier(len(jobs))

    def run(job: Callable[[], object]) -> None:
        barrier.wait()
        try:
            job()
        except Exception as error:  # noqa: BLE001 (whatever it is, the test shows it)
            failures.append(repr(error))

    threads = [threading.Thread(target=run, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failures


def test_a_new_database_is_opened_by_many_at_once(tmp_path: Path) -> None:
    for attempt in range(12):
        path = tmp_path / f"{attempt}.db"

        def open_it(path: Path = path) -> None:
            with Store.open(path) as store:
                store.ensure_dataset("main")

        assert at_once(*[open_it] * 6) == []
        with Store.open(path) as store:
            assert [found.dataset_id for found in store.datasets()] == [1]


def test_threads_share_one_store(tmp_path: Path) -> None:
    with Store.open(tmp_path / "a.db") as store:

        def turns(who: str) -> None:
            for n in range(15):
                ingest(
                    store,
                    "main",
                    [("x", NodeItem(level="L0", text=f"{who} {n}", source="log", name=f"{who}{n}"))],
                )

        def vectors() -> None:
            for n in range(15):
                store.embeddings.put("m", [f"h{n}"], np.full((1, 2), n, dtype=np.float32))

        assert at_once(lambda: turns("a"), lambda: turns("b"), vectors, vectors) == []
        dataset = store.dataset("main").dataset_id
        assert store.counts(dataset)["nodes"] == 30
        assert store.dataset("main").revision == 30
        assert store.embeddings.count("m") == 15
        link = ingest(store, "main", [("x", LinkItem(child="a0", parent="b0"))])
        assert len(link.problems) == 1  # both are L0: and the names are there


def test_a_writer_waits_for_another_one(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with Store.open(path) as slow, Store.open(path) as other:
        held = threading.Event()

        def hold() -> None:
            with slow.database.transaction() as connection:
                connection.execute("INSERT INTO embedding VALUES ('slow', 'h', x'00')")
                held.set()
                time.sleep(0.5)

        thread = threading.Thread(target=hold)
        thread.start()
        assert held.wait(10)
        began = time.monotonic()
        assert other.datasets() == []  # readers do not wait
        assert time.monotonic() - began < 0.4
        other.ensure_dataset("main")
        assert time.monotonic() - began > 0.3
        thread.join()
        assert other.embeddings.count("slow") == 1
