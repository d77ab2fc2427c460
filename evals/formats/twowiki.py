"""2WikiMultihopQA: the released JSON arrays, or JSON Lines of the same records (``wikihop.json``).

``evidences`` become facts, inferred from the passage of the subject's title where the context has it; supporting facts
are gold at the level of sentences. A record without ``context`` keeps its question and facts, and is said.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from evals.formats import Row
from evals.formats.hops import Hops
from evals.formats.records import files_of

FILES = ("wikihop.json", "train.json", "dev.json", "test.json")


def load(path: Path) -> Iterator[Row]:
    """Record by record: its passages, its triples as facts, then its question."""
    hops = Hops()
    for file in files_of(path, FILES, "2WikiMultihopQA"):
        yield from (("", where, item) for where, item in hops.rows(file))
