"""``kill -9`` loses nothing that was acknowledged and leaves nothing half-written: a slice of the long form in
``tests/benchmarks/test_bench_faults.py``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.faults.kills import KILLED, Killed, Zygote, killed, zygote

MOMENTS = 2


@pytest.fixture(scope="module")
def process() -> Iterable[Zygote]:
    with zygote() as made:
        yield made


@pytest.mark.parametrize("what", KILLED, ids=lambda what: what.name)
def test_a_killed_job_and_its_rerun_end_where_one_run_would(
    what: Killed, process: Zygote, tmp_path: Path
) -> None:
    tally = killed(process, what, tmp_path, moments=MOMENTS, seed=20)
    assert tally.kills == MOMENTS
