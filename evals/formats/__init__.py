"""One loader for each file format: from a path to items and problems, dataset by dataset."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path

from core.errors import UsageError
from core.ingest.items import Item, Problem

Row = tuple[str, str, Item | Problem]
"""What is added to the dataset's name (``""``, ``"/conv-26"``), where it stands, and what it is. The rows of one dataset
follow each other."""
Loader = Callable[[Path], Iterator[Row]]
FORMATS: Mapping[str, str] = {
    "2wiki": "twowiki",
    "beir": "beir",
    "clapnq": "clapnq",
    "cranfield": "cranfield",
    "csv": "csv_file",
    "hotpotqa": "hotpotqa",
    "locomo": "locomo",
    "longmemeval": "longmemeval",
    "musique": "musique",
    "ragas": "ragas",
    "scifact": "scifact",
    "situatedqa": "situatedqa",
    "squad": "squad",
    "strategyqa": "strategyqa",
    "timeqa": "timeqa",
    "trec": "trec",
    "wice": "wice",
}
"""Format → the module of ``evals.formats`` that reads it."""


def loader(name: str) -> Loader:
    """The loader of a format by name.

    Raises:
        UsageError: no such format.
    """
    if name not in FORMATS:
        raise UsageError(f"no format {name!r}; there are {', '.join(FORMATS)}")
    load: Loader = import_module(f"evals.formats.{FORMATS[name]}").load
    return load
