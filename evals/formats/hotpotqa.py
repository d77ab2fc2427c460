"""HotpotQA: the released JSON arrays, or JSON Lines of the same records (``hotpot.json``).

Supporting facts are gold at the level of sentences. Fields of models' output are dropped and said.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from evals.formats import Row
from evals.formats.hops import Hops
from evals.formats.records import files_of

FILES = (
    "hotpot.json",
    "hotpot_train_v1.1.json",
    "hotpot_dev_distractor_v1.json",
    "hotpot_test_fullwiki_v1.json",
)


def load(path: Path) -> Iterator[Row]:
    """Record by record: its passages, then its question."""
    hops = Hops()
    for file in files_of(path, FILES, "HotpotQA"):
        yield from (("", where, item) for where, item in hops.rows(file))
