"""Index files on a full disk, and swapped by several processes at once."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def run(program: str, *arguments: str) -> subprocess.Popen:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments], cwd=ROOT, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def test_on_a_full_disk_it_works_in_memory(tmp_path):
    """Files may not grow beyond 2,000 bytes in that process, as on a disk that is full."""
    program = """
import resource, sys
from pathlib import Path
import numpy as np
from core.index.persist import opened
from core.index.vectors import FaissIndex
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
table = np.eye(100, dtype=np.float32)
index = opened(FaissIndex, Path(sys.argv[1]) / "index", "an index", {}, lambda: FaissIndex.build(table), print)
assert index.search(table[7], 1)[0].tolist() == [7]
"""
    process = run(program, str(tmp_path))
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert out.startswith("an index is kept in memory only: ")
    assert list(tmp_path.iterdir()) == []


def test_processes_that_swap_the_same_index_at_once_all_answer(tmp_path):
    program = """
import sys
from pathlib import Path
from core.index.persist import opened
from core.index.tfidf import TfidfIndex
for turn in range(20):
    stamp = {"content": f"{turn % 3}"}
    texts = [f"word{turn % 3} and more", "canal"]
    said = []
    index = opened(TfidfIndex, Path(sys.argv[1]), "an index", stamp, lambda: TfidfIndex.build(texts), said.append)
    assert index.scores(f"word{turn % 3}")[0] > 0, turn
    assert not any("memory only" in text for text in said), said
"""
    processes = [run(program, str(tmp_path / "index")) for _ in range(3)]
    for process in processes:
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
    assert [path.name for path in tmp_path.iterdir()] == ["index"]
