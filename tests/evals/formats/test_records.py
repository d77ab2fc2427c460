"""JSON Lines and arrays alike: each record by its line, what is whole before a cut is kept."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from core.errors import DataError
from core.ingest.items import Problem
from evals.formats.records import document, files_of, records, split_of

ROWS = [{"a": 1, "b": [1, 2]}, {"a": 2, "b": "x\ny"}]


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("".join(json.dumps(row) + "\n" for row in ROWS), [1, 2]),
        (json.dumps(ROWS, indent=1), [2, 9]),
        ("\n\n[\n" + ",\n\n".join(map(json.dumps, ROWS)) + "]\n", [4, 6]),
    ],
)
def test_each_record_by_its_line(tmp_path: Path, text: str, places: list[int]) -> None:
    file = tmp_path / "in.json"
    file.write_text(text, encoding="utf-8")
    assert list(records(file)) == [(f"{file}:{place}", row) for place, row in zip(places, ROWS, strict=True)]
    packed = tmp_path / "in.json.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    assert [row for _, row in records(packed)] == ROWS


def test_records_on_one_line_are_told_apart(tmp_path: Path) -> None:
    file = tmp_path / "in.json"
    file.write_text(json.dumps(ROWS), encoding="utf-8")
    assert [where for where, _ in records(file)] == [f"{file}:1", f"{file}:1[1]"]


@pytest.mark.parametrize(
    ("text", "sound", "where", "what"),
    [
        ('[{"a": 1},\n{"a": ', 1, 2, "not JSON, cut off or malformed from here on"),
        ('[{"a": 1},\n', 1, 1, "the array is cut off"),
        ('[{"a": 1},\n{"a": NaN},\n{"a": 3}]', 2, 2, "NaN is not JSON"),
        ('[{"a": 1},\n7,\n{"a": 3}]', 2, 2, "expected a JSON object, got int"),
        ('[{"a": 1}\n] x', 1, 2, "more stands behind the end of the array"),
        ("[" * 100_000, 0, 1, "nested too deeply"),
    ],
)
def test_one_broken_record_of_an_array_is_said_by_line(
    tmp_path: Path, text: str, sound: int, where: int, what: str
) -> None:
    file = tmp_path / "in.json"
    file.write_text(text, encoding="utf-8")
    rows = list(records(file))
    (problem,) = [row for _, row in rows if isinstance(row, Problem)]
    assert (problem.where, what in problem.what) == (f"{file}:{where}", True), problem
    assert len(rows) == sound + 1


def test_a_document_that_is_none_is_refused_by_line(tmp_path: Path) -> None:
    file = tmp_path / "in.json"
    for text, what in (
        ('{\n"a": ', "in.json:2: not JSON"),
        ("\n{}{}", "in.json:2: not JSON"),
        ("NaN", "in.json:1: NaN"),
    ):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(DataError, match=what):
            document(file, "an object")


def test_files_and_their_splits(tmp_path: Path) -> None:
    (tmp_path / "dev.json.gz").touch()
    assert files_of(tmp_path, ("train.json", "dev.json"), "X") == [tmp_path / "dev.json.gz"]
    assert files_of(tmp_path / "dev.json.gz", ("other",), "X") == [tmp_path / "dev.json.gz"]
    with pytest.raises(DataError, match=r"expected a file a\.json or b\.json"):
        files_of(tmp_path, ("a.json", "b.json"), "X")
    names = (
        "hotpot_dev_distractor_v1.json",
        "temp.test.jsonl.gz",
        "train-v2.0.json",
        "devices.json",
        "latest.json",
    )
    assert [split_of(Path(name)) for name in names] == ["dev", "test", "train", None, None]
