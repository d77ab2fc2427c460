"""Each example of the page on formats is imported as it stands there, whole, and gives questions with evidence."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from core.errors import DataError
from core.ingest.items import CaseItem, Problem
from evals.cases import Case
from evals.formats import FORMATS, loader

PAGE = (Path(__file__).resolve().parent.parent / "datasets" / "FORMATS.md").read_text(encoding="utf-8")
SECTION = re.compile(r"^## (\S+)\n(.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)
FILE = re.compile(r"^`([^`\n]+)`\n\n```text\n(.*?)\n```", re.DOTALL | re.MULTILINE)
EXAMPLES = {name: dict(FILE.findall(body)) for name, body in SECTION.findall(PAGE)}
SAID = {"cranfield": 0, "ragas": 1}
"""How many things an example has that are dropped and said (ragas: what a model wrote is no label)."""


def test_every_format_has_an_example() -> None:
    assert set(EXAMPLES) == set(FORMATS)


@pytest.mark.parametrize("name", FORMATS)
def test_an_example_is_taken_as_it_stands(name: str, tmp_path: Path) -> None:
    for path, text in EXAMPLES[name].items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text + "\n", encoding="utf-8")
    items = [item for _, _, item in loader(name)(tmp_path)]
    problems = [item for item in items if isinstance(item, Problem)]
    assert len(problems) == SAID.get(name, 0), problems
    cases = [Case.from_body(item.body) for item in items if isinstance(item, CaseItem)]
    assert cases
    assert any(case.gold for case in cases)
    assert len(items) > len(cases) or name == "csv"


def test_a_folder_of_something_else_is_refused_by_each(tmp_path: Path) -> None:
    (tmp_path / "other.bin").write_bytes(b"\x00")
    for name in FORMATS:
        with pytest.raises(DataError):
            list(loader(name)(tmp_path))
