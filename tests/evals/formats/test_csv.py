"""Questions as CSV: RFC 4180 to the letter, every fault by its line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.errors import DataError
from evals.cases import Gold

Load = Callable[[str, Path], Any]
Lines = Callable[[str, list[Any]], Path]


def test_columns_are_the_fields_of_a_case(load: Load, lines: Lines) -> None:
    rows = [
        "case_id,question,answer,answerable,source,quote,split,as_of,tag:kind",
        'c1,"who, then, said ""no""?","Ann\nLee",,d1,Ann came.,dev,2023-05-01,easy',
        "",
        ",who left?,,false,,,,,",
        ",who sang?,,UNKNOWN,,,,,",
    ]
    file = lines("questions.csv", rows)
    said, left, sang = load("csv", file).cases
    assert (said.case_id, said.question, said.answers) == ("c1", 'who, then, said "no"?', ("Ann\nLee",))
    assert (said.gold, said.citations) == ((Gold(source="d1"),), (Gold(source="d1", quote="Ann came."),))
    assert (said.split, said.as_of, said.tags, said.answerable) == (
        "dev",
        "2023-05-01",
        {"kind": "easy"},
        True,
    )
    assert (left.case_id, left.answerable, left.tags) == ("q5", False, {})
    assert (sang.case_id, sang.answerable) == ("q6", None)


def test_lists_are_json(load: Load, lines: Lines) -> None:
    rows = [
        "question,answers,citations,alternatives,hides",
        'who?,"[""Ann"", ""Bob""]","[{""source"": ""d"", ""start"": 0, ""end"": 3}, {""source"": ""e""}]",'
        '"[[0], [1]]","[""x""]"',
    ]
    (case,) = load("csv", lines("cases.csv", rows)).cases
    assert case.answers == ("Ann", "Bob")
    assert case.citations == (Gold(source="d", start=0, end=3), Gold(source="e"))
    assert (case.alternatives, case.hides) == (((0,), (1,)), ("x",))


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ("c1,why", "2 cells under 4 columns"),
        ("c1,,,", "no question"),
        ("c1,why,[,", "answers: expected JSON, got '['"),
        ("c1,why,[NaN],", "answers: NaN is not JSON"),
        ("c1,why,[1],", "answers: a text must be a text, got 1"),
        ('c1,why,"{""a"": 1}",', "answers: expected a JSON list of texts"),
        ('c1,why,,"[{""sauce"": ""d""}]"', "case 'c1': gold.0.sauce: Unexpected keyword argument"),
        ('c1,why,,"[{""source"": ""d"", ""relevance"": ""high""}]"', "gold.0.relevance"),
        ('c1,why,"[""\\ud800""]",', "half of a character"),
        ("c0,why,,", "case 'c0' stands here again, first at"),
        ('c1,"why"x,,', "not CSV: ',' expected after '\"'"),
        ("c1,why \x00,,", "question: the cell holds NUL characters"),
    ],
)
def test_a_broken_row_is_said_by_line_and_takes_nothing_else_down(
    load: Load, lines: Lines, row: str, what: str
) -> None:
    file = lines("questions.csv", ["case_id,question,answers,gold", "c0,before,,", row, "c9,after,,"])
    loaded = load("csv", file)
    (problem,) = loaded.problems
    assert (problem.where, what in problem.what) == (f"{file}:3", True), problem
    assert [case.case_id for case in loaded.cases] == ["c0", "c9"]


@pytest.mark.parametrize(
    ("cells", "what"),
    [
        ({"answerable": "perhaps"}, "answerable: expected true, false, unknown, got 'perhaps'"),
        ({"as_of": "yesterday"}, "as_of: not a date or time: 'yesterday'"),
        ({"quote": "q"}, "a quote needs its source"),
        ({"source": "d", "gold": "[]"}, "source and quote say what gold and citations say"),
        ({"alternatives": "[[0]]"}, "are no places among the 0 citations"),
    ],
)
def test_what_does_not_fit_together_is_said(
    load: Load, lines: Lines, cells: dict[str, str], what: str
) -> None:
    file = lines("questions.csv", [",".join(["question", *cells]), ",".join(["why", *cells.values()])])
    (problem,) = load("csv", file).problems
    assert (problem.where, what in problem.what) == (f"{file}:2", True), problem


def test_a_quote_that_is_never_closed_and_bytes_that_are_no_text(load: Load, tmp_path: Path) -> None:
    file = tmp_path / "questions.csv"
    file.write_bytes(b'question\r\nfirst\r\n\xff\xfe\r\nthird\r\n"never closed\r\nfifth\r\n')
    loaded = load("csv", file)
    assert [case.question for case in loaded.cases] == ["first", "third"]
    assert [(problem.where, problem.what) for problem in loaded.problems] == [
        (f"{file}:3", "not UTF-8; save the file as UTF-8"),
        (f"{file}:5", "not CSV: unexpected end of data"),
    ]


def test_the_header_decides(load: Load, lines: Lines, tmp_path: Path) -> None:
    loaded = load("csv", lines("questions.csv", ["question,mood", "why,bad"]))
    assert (loaded.problems[0].what.split(" is none")[0], loaded.problems[0].action) == (
        "column 'mood'",
        "dropped",
    )
    assert len(loaded.cases) == 1
    with pytest.raises(DataError, match=r"other\.csv:1: expected a header with a column 'question', got why"):
        load("csv", lines("other.csv", ["why", "because"]))
    with pytest.raises(DataError, match="'question' stands there twice"):
        load("csv", lines("other.csv", ["question,question"]))
    with pytest.raises(DataError, match="no such file or folder"):
        load("csv", tmp_path / "absent.csv")


def test_a_byte_order_mark_is_none_of_the_header(load: Load, tmp_path: Path) -> None:
    (tmp_path / "questions.csv").write_bytes("\ufeffquestion\r\nwhy\r\n".encode())
    assert [case.question for case in load("csv", tmp_path).cases] == ["why"]
