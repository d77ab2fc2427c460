"""The table of faults: what was injected how often, and what was lost. A loss fails the test that would print it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.faults.kills import KILLED, Killed, Zygote, killed, zygote

KILLS = 50
Table = list[tuple[str, str, str]]


@pytest.fixture(scope="module")
def process() -> Iterable[Zygote]:
    with zygote() as made:
        yield made


@pytest.fixture(scope="module")
def table() -> Iterable[Table]:
    """Filled by the tests; printed at the end."""
    rows: Table = []
    yield rows
    print("\n\n| fault | injected | acknowledged before, and what was lost |\n|---|---|---|")
    print("\n".join(f"| {fault} | {often} | {lost} |" for fault, often, lost in rows))


@pytest.mark.bench
@pytest.mark.parametrize("what", KILLED, ids=lambda what: what.name)
def test_bench_kills(what: Killed, process: Zygote, tmp_path: Path, table: Table) -> None:
    tally = killed(process, what, tmp_path, moments=KILLS, seed=7)
    often = f"{tally.kills} moments" + (f", and {tally.again} reruns" if tally.again else "")
    table.append(
        (
            f"`kill -9` of {tally.name}",
            often,
            f"{tally.acknowledged} acknowledged; none lost, none half-written",
        )
    )
