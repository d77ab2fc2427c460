"""Cranfield: queries by position, codes as relevance, -1 left out, the title once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.errors import DataError
from core.ingest.items import ArtifactItem

Load = Callable[[str, Path], Any]
DOCUMENTS = """.I 7
.T
a wing
.A
x
.W
a wing
flies
 well .
.I 8
.T
empty
.W
.I 9
.T
a jet
.W
it hisses .
"""
QUERIES = ".I 001\n.W\nwhat\nflies\n.I 004\n.W\nwhat hisses\n"


def write(folder: Path, judgements: str, documents: str = DOCUMENTS, queries: str = QUERIES) -> Path:
    for name, text in (("cran.all.1400", documents), ("cran.qry", queries), ("cranqrel", judgements)):
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_queries_are_numbered_by_position_and_codes_turned_round(load: Load, tmp_path: Path) -> None:
    loaded = load("cranfield", write(tmp_path, "1 7 1\n1 9 4 \n2 9 3\n2 7 -1\n"))
    assert [(item.source, item.title, item.text) for item in loaded.of(ArtifactItem)] == [
        ("7", "a wing", "flies well ."), ("9", "a jet", "it hisses ."),
    ]  # fmt: skip
    assert [(case.case_id, case.question, case.tags) for case in loaded.cases] == [
        ("1", "what flies", {"smart_id": "001"}), ("2", "what hisses", {"smart_id": "004"}),
    ]  # fmt: skip
    assert [[(gold.source, gold.relevance) for gold in case.gold] for case in loaded.cases] == [
        [("7", 4), ("9", 1)], [("9", 2)],
    ]  # fmt: skip
    assert [str(problem).removeprefix(f"{tmp_path}/") for problem in loaded.problems] == [
        "cran.all.1400:10: document '8' is empty: there is nothing to find or cite (skipped)",
        "cran.all.1400:14: document '9': .W does not begin with the title (kept)",
        "cranqrel:4: query 2, document 7: code -1 is none of the scale's (skipped)",
    ]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("1 8 2", "judgement of the empty document '8'"),
        ("1 99 2", "judgement of the unknown document '99'"),
        ("4 7 2", "judgement of query 4 of 2"),
        ("1 7 6", "code must be 1 to 5 or -1, got '6'"),
        ("1 7 x", "code must be 1 to 5 or -1, got 'x'"),
        ("1 7", "expected query, document and code, got 2 columns"),
    ],
)
def test_a_judgement_of_nothing_is_said_by_line(load: Load, tmp_path: Path, line: str, what: str) -> None:
    loaded = load("cranfield", write(tmp_path, f"1 9 1\n2 9 1\n{line}\n"))
    (problem,) = [one for one in loaded.problems if "cranqrel" in one.where]
    assert (problem.where, problem.what) == (f"{tmp_path}/cranqrel:3", what)
    assert len(loaded.cases) == 2


def test_what_stands_outside_is_said(load: Load, tmp_path: Path) -> None:
    documents = (
        "lost\n" + DOCUMENTS + ".I 7\n.W\nagain\n.I\n.W\nno number\n.I 10\nlost too\n.W\none\n.W\ntwo\n"
    )
    loaded = load("cranfield", write(tmp_path, "1 7 1\n", documents))
    said = {p.where.rpartition(":")[2]: p.what for p in loaded.problems if "cran.all" in p.where}
    assert said["1"] == "stands before the first .I"
    assert said["20"] == "document '7' stands here again; the first is kept"
    assert said["23"] == "a document without a number"
    assert "record '10': stands before its first section" in said.values()
    assert "document '10' has several sections .W; all of them are its text" in said.values()
    assert loaded.of(ArtifactItem)[-1].text == "one two"
    assert "query 2 has no usable judgement" in loaded.problems[-1].what


def test_a_missing_file_is_named(load: Load, tmp_path: Path) -> None:
    write(tmp_path, "").joinpath("cran.qry").unlink()
    with pytest.raises(DataError, match=r"cran\.qry"):
        load("cranfield", tmp_path)


def test_the_public_set(load: Load, public_data: Path) -> None:
    loaded = load("cranfield", public_data / "cranfield")
    assert len(loaded.of(ArtifactItem)) == 1398
    assert len(loaded.cases) == 225
    assert len(loaded.said("code -1")) == 225
    assert [p.what.split("'")[1] for p in loaded.said("is empty: there is nothing")] == ["471", "995"]
    judged = Counter(gold.relevance for case in loaded.cases for gold in case.gold)
    assert judged == {4: 128, 3: 387, 2: 734 - 1, 1: 363}  # one judgement is of the empty document 995
    assert len(loaded.said("does not begin with the title")) == 2
    assert not any(item.text.startswith(item.title) for item in loaded.of(ArtifactItem))
    assert loaded.cases[2].tags["smart_id"] == "004"
    assert {gold.source for gold in loaded.cases[2].gold} == {
        "5",
        "6",
        "90",
        "91",
        "119",
        "144",
        "181",
        "399",
    }
