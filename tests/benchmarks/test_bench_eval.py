"""A whole run: 2,000 labelled questions over 100,000 nodes, by the command users type."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from time import perf_counter

import pytest

from tests.benchmarks.conftest import CASES, DATASET, Many

pytestmark = pytest.mark.bench
ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import re, sys
from pathlib import Path
from evals.cli import eval_
eval_(sys.argv[1], Path(sys.argv[4]), profile=sys.argv[3], db=Path(sys.argv[2]))
peak = re.search(r"VmHWM:\\s*(\\d+) kB", Path("/proc/self/status").read_text())  # of this program only
print("PEAK", peak[1])
"""


@pytest.mark.parametrize("profile", ["seed", "default"])
def test_a_run_of_two_thousand_cases_stays_under_two_gigabytes(
    many: Many, profile: str, tmp_path: Path
) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("ASSAY_EMBEDDER", None)
    start = perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, DATASET, many.db, profile, tmp_path], cwd=ROOT, env=environment,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    seconds = perf_counter() - start
    assert done.returncode == 0, done.stderr[-2000:]
    kilobytes = int(done.stdout.rsplit("PEAK", 1)[1])
    print(f"\n{profile}: {CASES:,} cases over 100,000 nodes in {seconds:.0f} s, {kilobytes / 1024:.0f} MB")
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["cases"] == {"scored": CASES, "failed": 0}
    assert summary["recall@10"]["n"] == CASES // 2
    assert kilobytes <= 2 * 1024 * 1024
