"""Every loader on inputs that are broken in every place: a problem that says where, never a traceback, never a guess."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from core.errors import DataError
from core.ingest.ingestor import ingest
from core.ingest.items import ArtifactItem, CaseItem, NodeItem, Problem
from core.store import Store
from evals.cases import Case
from evals.formats import FORMATS, Row, loader

Files = dict[str, list[Any]]
"""File name → its JSON Lines; a file that ends in ``.json`` holds the first one only, one in ``.tsv`` plain lines."""

GOOD: dict[str, Files] = {
    "beir": {
        "corpus.jsonl": [{"_id": "d1", "title": "T", "text": "One."}, {"_id": "d2", "title": "U", "text": "Two."}],
        "queries.jsonl": [{"_id": "q1", "text": "why one"}, {"_id": "q2", "text": "why two"}],
        "qrels/test.tsv": ["query-id\tcorpus-id\tscore", "q1\td1\t1", "q2\td2\t1"],
    },
    "scifact": {
        "corpus.jsonl": [
            {"doc_id": 1, "title": "T", "abstract": ["One.", "Two."]},
            {"doc_id": 2, "title": "U", "abstract": ["Three."]},
        ],
        "claims_dev.jsonl": [
            {"id": 7, "claim": "one", "evidence": {"1": [{"sentences": [0], "label": "SUPPORT"}]}, "cited_doc_ids": [1]},
            {"id": 8, "claim": "three", "evidence": {}, "cited_doc_ids": [2]},
        ],
        "qrels/dev.tsv": ["query-id\tcorpus-id\tscore", "7\t1\t1", "8\t2\t1"],
    },
    "clapnq": {
        "dev_answerable.jsonl": [
            {"id": str(number), "input": f"question {number}",
             "passages": [{"title": "T", "text": f"One . Two {number} ."}],
             "output": [{"answer": "two", "selected_sentences": ["One ."]}]}
            for number in (1, 2)
        ],
        "dev_unanswerable.jsonl": [
            {"id": str(number), "input": f"question {number}", "passages": [{"title": "T", "text": f"Other {number} ."}],
             "output": [{"answer": "", "selected_sentences": []}]}
            for number in (3, 4)
        ],
    },
    "locomo": {
        "locomo10.json": [
            [
                {
                    "sample_id": name,
                    "conversation": {
                        "speaker_a": "Ann", "session_1_date_time": "1:56 pm on 8 May, 2023",
                        "session_1": [
                            {"speaker": "Ann", "dia_id": "D1:1", "text": "Hi.", "img_url": ["u"],
                             "blip_caption": "a kite"},
                            {"speaker": "Bob", "dia_id": "D1:2", "text": "Look!"},
                        ],
                    },
                    "observation": {"session_1_observation": {"Bob": [["Bob looks.", "D1:2"]]}},
                    "session_summary": {"session_1_summary": "They met."},
                    "qa": [{"question": "Who looks?", "answer": "Ann", "evidence": ["D1:1"], "category": 4}],
                }
                for name in ("conv-1", "conv-2")
            ]
        ]
    },
}  # fmt: skip
"""Two sound records of each kind."""
UNTOUCHED = {
    "beir": {"q2", "d2"},
    "scifact": {"8", "2"},
    "clapnq": {"2", "4"},
    "locomo": {"conv-2/q0", "D1:1", "D1:2"},
}
"""What stays whole when the first record of a kind is broken."""
BAD: tuple[Any, ...] = (
    None,
    True,
    -1,
    1.5,
    10**30,
    "",
    " ",
    "\ud800",
    "x",
    [],
    {},
    [[]],
    [None],
    {"x": [None]},
)
GUESSED = {"None", "True", "False", "[]", "{}", "[[]]", "[None]", "{'x': [None]}", "1.5"}


def write(folder: Path, files: Files) -> Path:
    for name, rows in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = [row if name.endswith(".tsv") else json.dumps(row) for row in rows]
        file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value inside."""
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield (*path, key)
        yield from places(value[key], (*path, key))


def changed(value: Any, path: tuple[Any, ...], change: Callable[[Any, Any], None]) -> Any:
    whole = copy.deepcopy(value)
    inner = whole
    for key in path[:-1]:
        inner = inner[key]
    change(inner, path[-1])
    return whole


def breakages(name: str) -> Iterator[tuple[str, Files]]:
    """The sound files with one value of the first record of a file replaced by a bad one, or taken out."""
    for file, rows in GOOD[name].items():
        if file.endswith(".tsv"):
            continue
        record = rows[0]
        within = [path for path in places(record) if name != "locomo" or path[0] == 0]
        for path in within:
            for bad in BAD:
                broken = changed(record, path, lambda inner, key, bad=bad: inner.__setitem__(key, bad))
                yield f"{file}{list(path)} = {bad!r}", {**GOOD[name], file: [broken, *rows[1:]]}
            gone = changed(record, path, lambda inner, key: inner.__delitem__(key))
            yield f"{file}{list(path)} taken out", {**GOOD[name], file: [gone, *rows[1:]]}


def texts(rows: list[Row]) -> Iterator[str | None]:
    for _, _, item in rows:
        match item:
            case ArtifactItem() | NodeItem():
                yield from (
                    item.text,
                    item.source,
                    item.title,
                    getattr(item, "turn", None),
                    getattr(item, "speaker", None),
                )
                yield from item.text.partition(": ")[::2]
            case CaseItem():
                case = Case.from_body(item.body)
                yield from (case.case_id, case.question, *case.answers, *case.hides, *case.tags.values())
                yield from (gold.source for gold in (*case.gold, *case.citations))


def names_of(rows: list[Row]) -> set[str]:
    found = set()
    for _, _, item in rows:
        match item:
            case ArtifactItem():
                found.add(item.source)
            case NodeItem(level="L0"):
                found.add(str(item.turn))
            case CaseItem():
                found.add(item.case_id)
    return found


def outcome(name: str, folder: Path) -> tuple[list[Row], str]:
    """What a loader yields, or what it says in refusing all."""
    try:
        return list(loader(name)(folder)), ""
    except DataError as error:
        return [], str(error)


@pytest.mark.parametrize("name", FORMATS)
def test_the_sound_files_are_sound(tmp_path: Path, name: str) -> None:
    rows = list(loader(name)(write(tmp_path, GOOD[name])))
    assert [item for _, _, item in rows if isinstance(item, Problem)] == []
    assert names_of(rows) >= UNTOUCHED[name]


@pytest.mark.parametrize("name", FORMATS)
def test_one_bad_value_is_a_problem_said_by_place_and_takes_nothing_else_down(
    tmp_path: Path, name: str
) -> None:
    """Every value of a record in turn is replaced by every kind of bad one; whatever is still taken can be stored."""
    load, wrong = loader(name), []
    with Store.open(tmp_path / "assay.db") as store:
        for number, (what, files) in enumerate(breakages(name)):
            rows = list(load(write(tmp_path / "in", files)))
            problems = [item for _, _, item in rows if isinstance(item, Problem)]
            report = ingest(
                store, f"d{number}", [(where, item) for suffix, where, item in rows], dry_run=True
            )
            said = {*problems, *report.problems}
            if not all(
                problem.where.startswith(f"{tmp_path}/in/") and ":" in problem.where for problem in said
            ):
                wrong.append(f"{what}: a problem without a place")
            if not names_of(rows) >= UNTOUCHED[name]:
                wrong.append(f"{what}: {UNTOUCHED[name] - names_of(rows)} was lost")
            if guessed := GUESSED.intersection(texts(rows)):
                wrong.append(f"{what}: taken as the text {guessed}")
    assert wrong == []


@pytest.mark.parametrize(
    ("name", "file"),
    [(name, file) for name, files in GOOD.items() for file in files if not file.endswith(".tsv")],
)
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n",
        b"not json\n",
        b'{"a": NaN}\n',
        b"[" * 100_000,
        b"\xff\xfe\x00",
        b'{"cut',
        b"7\n",
        b'"text"\n',
        b"null",
    ],
    ids=["empty", "blank", "text", "nan", "deep", "bytes", "cut", "number", "string", "null"],
)
def test_a_file_that_is_something_else_is_said(tmp_path: Path, name: str, file: str, content: bytes) -> None:
    write(tmp_path, GOOD[name])
    (tmp_path / file).write_bytes(content)
    rows, refused = outcome(name, tmp_path)
    if refused:
        assert refused.startswith(str(tmp_path / file))
        assert rows == []
        return
    problems = [item for _, _, item in rows if isinstance(item, Problem)]
    if content.strip():
        assert any(problem.where == f"{tmp_path / file}:1" for problem in problems)
    assert names_of(rows) < names_of(list(loader(name)(write(tmp_path / "whole", GOOD[name]))))


@pytest.mark.parametrize("name", FORMATS)
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    for file in GOOD[name]:
        if not file.endswith(".tsv"):
            folder = write(tmp_path / file.replace("/", "-"), GOOD[name])
            (folder / file).unlink()
            with pytest.raises(DataError, match=file.replace(".", r"\.")) as raised:
                list(loader(name)(folder))
            assert str(folder) in str(raised.value)


@pytest.mark.parametrize("name", FORMATS)
def test_a_folder_in_place_of_a_file_and_a_path_that_is_none(tmp_path: Path, name: str) -> None:
    folder = write(tmp_path / "in", GOOD[name])
    file = folder / next(iter(GOOD[name]))
    file.unlink()
    file.mkdir()
    with pytest.raises(DataError, match=str(folder)):
        list(loader(name)(folder))
    with pytest.raises(DataError, match="absent"):
        list(loader(name)(tmp_path / "absent"))


@pytest.mark.parametrize("name", ["beir", "scifact"])
@pytest.mark.parametrize("cut", [0, 5, 15, 40])
def test_a_cut_off_archive_gives_what_is_whole_and_says_the_rest(tmp_path: Path, name: str, cut: int) -> None:
    folder = write(tmp_path, GOOD[name])
    corpus = folder / "corpus.jsonl"
    packed = gzip.compress(corpus.read_bytes())
    corpus.unlink()
    (folder / "corpus.jsonl.gz").write_bytes(packed[:cut])
    problems = [item for _, _, item in loader(name)(folder) if isinstance(item, Problem)]
    if cut:
        assert problems[0].where.startswith(f"{folder}/corpus.jsonl.gz:")
        assert "cut off or damaged" in problems[0].what
    assert problems  # the judgements of documents that are not there
    (folder / "corpus.jsonl.gz").write_bytes(b"plain text\n")
    problems = [item for _, _, item in loader(name)(folder) if isinstance(item, Problem)]
    assert "cut off or damaged" in problems[0].what


@pytest.mark.parametrize("name", ["beir", "scifact"])
@pytest.mark.parametrize(
    "line",
    [
        "",
        "\t\t",
        "a\tb",
        "q1\td1\tone",
        "q1\td1\t1.5",
        "q1\td1\t",
        "\td1\t1",
        "q1\t\t1",
        "7\t1\t\ud800",
        "\x00",
    ],
)
def test_broken_judgements_are_said_by_line(tmp_path: Path, name: str, line: str) -> None:
    files = GOOD[name]
    qrels = next(file for file in files if file.endswith(".tsv"))
    folder = write(tmp_path, files)
    text = "\n".join([*files[qrels], line, ""])
    (folder / qrels).write_bytes(text.encode("utf-8", "surrogatepass"))
    problems = [item for _, _, item in loader(name)(folder) if isinstance(item, Problem)]
    assert [problem.where for problem in problems] == ([f"{folder / qrels}:4"] if line else [])
