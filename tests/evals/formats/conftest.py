"""What the loaders' tests share: writing files, and reading a format as cases, items and problems."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from core.ingest.items import CaseItem, Item, Problem
from evals.cases import Case
from evals.formats import loader


@dataclass
class Loaded:
    """A format's rows, taken apart; problems by ``action: what``."""

    items: list[Item] = field(default_factory=list)
    cases: list[Case] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    suffixes: list[str] = field(default_factory=list)

    def of(self, kind: type[Any]) -> list[Any]:
        """The items of one kind."""
        return [item for item in self.items if isinstance(item, kind)]

    def said(self, part: str) -> list[Problem]:
        """The problems that say ``part``."""
        return [problem for problem in self.problems if part in problem.what]


@pytest.fixture
def load() -> Callable[[str, Path], Loaded]:
    """``load("hotpotqa", path)``."""

    def read(name: str, path: Path) -> Loaded:
        loaded = Loaded()
        for suffix, where, item in loader(name)(path):
            loaded.suffixes += [] if suffix in loaded.suffixes[-1:] else [suffix]
            if isinstance(item, Problem):
                assert item.where == where
                loaded.problems.append(item)
            else:
                loaded.items.append(item)
                if isinstance(item, CaseItem):
                    loaded.cases.append(Case.from_body(item.body))
        assert len(loaded.suffixes) == len(set(loaded.suffixes)), "the rows of a dataset follow each other"
        return loaded

    return read


@pytest.fixture
def lines(tmp_path: Path) -> Callable[[str, Sequence[Any]], Path]:
    """``lines("a.jsonl", rows)``: objects as JSON Lines, texts as they are."""

    def write(name: str, rows: Sequence[Any]) -> Path:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        text = "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)
        file.write_text(text, encoding="utf-8")
        return file

    return write
