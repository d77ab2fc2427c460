"""BEIR folders: every fault said by its line, what is sound taken."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from core.errors import DataError, UsageError
from core.ingest.ingestor import ingest
from core.ingest.items import ArtifactItem, CaseItem, Problem
from core.store import Store
from evals.cases import Case, Gold
from evals.formats import FORMATS, Row, loader
from evals.formats.beir import load


def split(rows: Iterable[Row], folder: Path) -> tuple[list[ArtifactItem], list[Case], dict[str, str]]:
    """Documents, cases and problems as {file:line: what}."""
    items = [item for _, _, item in rows]
    documents = [item for item in items if isinstance(item, ArtifactItem)]
    cases = [Case.from_body(item.body) for item in items if isinstance(item, CaseItem)]
    problems = [item for item in items if isinstance(item, Problem)]
    told = {problem.where.removeprefix(f"{folder}/"): problem.what for problem in problems}
    assert len(told) == len(problems)
    assert len(documents) + len(cases) + len(problems) == len(items)
    return documents, cases, told


def write(folder: Path, corpus: str, queries: str, qrels: str, name: str = "test") -> Path:
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text(corpus, encoding="utf-8")
    (folder / "queries.jsonl").write_text(queries, encoding="utf-8")
    (folder / "qrels" / f"{name}.tsv").write_text(qrels, encoding="utf-8")
    return folder


def test_dirty_folder_line_by_line(shared_cases: Path) -> None:
    folder = shared_cases / "beir_dirty"
    documents, cases, problems = split(load(folder), folder)
    assert problems == {
        "corpus.jsonl:2": "document 'd2' is empty: there is nothing to find or cite",
        "corpus.jsonl:3": "NaN is not JSON",
        "corpus.jsonl:4": "document 'd1' stands here again with the same text; taken once",
        "corpus.jsonl:6": "not JSON, cut off or malformed: Unterminated string starting at at column 43",
        "queries.jsonl:1": "query 'q1' has no usable judgement; no question is made of it",
        "queries.jsonl:2": "query 'q2' has no text",
        "qrels/test.tsv:3": "'q1' and 'd1': judged again alike; counted once",
        "qrels/test.tsv:4": "'q1' and 'd1': judged otherwise before; neither is used",
        "qrels/test.tsv:5": "judgement of the unknown query 'q2'",
        "qrels/test.tsv:7": "judgement of the unknown query 'q9'",
        "qrels/test.tsv:8": "judgement of the unknown document 'missing'",
    }
    assert [(item.source, item.title) for item in documents] == [("d1", "Valves"), ("4", "Ducts")]
    assert cases == [
        Case(
            case_id="q3", question="when are ducts cleaned", gold=(Gold(source="4"),), split="test",
            tags={"split": "test"},
        )
    ]  # fmt: skip


def test_a_dirty_folder_is_refused_whole_when_strict(shared_cases: Path, tmp_path: Path) -> None:
    rows = [(where, item) for _, where, item in load(shared_cases / "beir_dirty")]
    with Store.open(tmp_path / "assay.db") as store:
        with pytest.raises(DataError, match="11 problems and --strict: nothing was written"):
            ingest(store, "dirty", rows, strict=True)
        assert store.datasets() == []
        assert len(ingest(store, "dirty", rows).problems) == 11


def test_a_query_and_a_document_of_one_id_are_two_things(shared_cases: Path) -> None:
    folder = shared_cases / "beir_same_ids"
    documents, cases, problems = split(load(folder), folder)
    assert problems == {}
    assert [item.source for item in documents] == [str(n) for n in range(10)]
    (case,) = cases
    assert case.case_id == "0"
    assert [gold.key for gold in case.gold] == [str(n) for n in range(10)]


def test_splits_grades_and_gzip(tmp_path: Path) -> None:
    folder = write(
        tmp_path, "", '{"_id": "q", "text": "why"}', "query-id\tcorpus-id\tscore\nq\ta\t2\nq\tb\t-1\n"
    )
    (folder / "corpus.jsonl").unlink()
    with gzip.open(folder / "corpus.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps({"_id": name, "text": name, "title": None}) + "\n" for name in "ab")
    (folder / "qrels" / "train.tsv").write_text("query-id\tcorpus-id\tscore\nq\tb\t1\n", encoding="utf-8")
    _, cases, problems = split(load(folder), folder)
    assert problems == {}
    assert [(case.case_id, case.split, case.gold) for case in cases] == [
        ("q@test", "test", (Gold(source="a", relevance=2), Gold(source="b", relevance=0))),
        ("q@train", "train", (Gold(source="b"),)),
    ]


@pytest.mark.parametrize(
    ("corpus_line", "what"),
    [
        ('{"_id": true, "text": "a"}', "_id must be a name or a whole number, got True"),
        ('{"_id": "", "text": "a"}', "_id must be a name or a whole number, got ''"),
        ('{"text": "a"}', "_id must be a name or a whole number, got None"),
        ('{"_id": "x", "text": 7}', "document 'x': text must be a text, got 7"),
        ('{"_id": "x", "text": "a", "title": 7}', "title must be a text, got 7"),
        (
            '{"_id": "ok", "text": "b"}',
            "document 'ok' stands here again with another text; the first is kept",
        ),
        ("[1]", "expected a JSON object, got list"),
        ('{"_id": "x", "text": "a", "n": -Infinity}', "-Infinity is not JSON"),
    ],
)
def test_bad_documents(tmp_path: Path, corpus_line: str, what: str) -> None:
    corpus = '{"_id": "ok", "text": "a"}\n\n' + corpus_line + "\n"
    folder = write(tmp_path, corpus, '{"_id": "q", "text": "why"}', "q\tok\t1\n")
    documents, cases, problems = split(load(folder), folder)
    assert problems == {"corpus.jsonl:3": what}
    assert ([item.source for item in documents], len(cases)) == (["ok"], 1)


@pytest.mark.parametrize(
    ("qrels_line", "what"),
    [
        ("q\t0\tok\t1", "expected query-id, corpus-id and score, got 4 columns"),
        ("q ok 1", "expected query-id, corpus-id and score, got 1 columns"),
        ("q\tok\tyes", "score must be a whole number, got 'yes'"),
        ("q\tempty\t1", "judgement of the empty document 'empty'"),
    ],
)
def test_bad_judgements(tmp_path: Path, qrels_line: str, what: str) -> None:
    corpus = '{"_id": "ok", "text": "a"}\n{"_id": "empty", "text": " "}\n'
    folder = write(tmp_path, corpus, '{"_id": "q", "text": "why"}', f"q\tok\t1\n{qrels_line}\n")
    _, cases, problems = split(load(folder), folder)
    assert problems.pop("corpus.jsonl:2").startswith("document 'empty' is empty")
    assert problems == {"qrels/test.tsv:2": what}
    assert [gold.key for gold in cases[0].gold] == ["ok"]


def test_bytes_that_are_no_text_and_a_cut_off_archive(tmp_path: Path) -> None:
    folder = write(tmp_path, "", '{"_id": "q", "text": "why"}', "q\tok\t1\n")
    (folder / "corpus.jsonl").write_bytes(
        b'\xef\xbb\xbf{"_id": "ok", "text": "a"}\n{"_id": "\xff", "text": "a"}\n'
    )
    _, cases, problems = split(load(folder), folder)
    assert problems == {"corpus.jsonl:2": "not UTF-8 at byte 10 of the line"}
    assert len(cases) == 1
    (folder / "corpus.jsonl").unlink()
    whole = gzip.compress(b'{"_id": "ok", "text": "a"}\n' * 1000)
    (folder / "corpus.jsonl.gz").write_bytes(whole[: len(whole) - 10])
    told = [item.what for _, _, item in load(folder) if isinstance(item, Problem)]
    assert any("cut off or damaged" in what for what in told)


def test_what_is_no_beir_folder_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"absent: no such folder; a BEIR folder holds corpus\.jsonl"):
        next(load(tmp_path / "absent"))
    (tmp_path / "corpus.jsonl").write_text('{"_id": "a", "text": "b"}\n', encoding="utf-8")
    with pytest.raises(DataError, match=r"expected a file queries\.jsonl or queries\.jsonl\.gz"):
        next(load(tmp_path))


def test_formats_are_found_by_name() -> None:
    assert list(FORMATS) == sorted(FORMATS)
    assert loader("beir") is load
    with pytest.raises(UsageError, match="no format 'bier'; there are 2wiki, beir, clapnq, cranfield"):
        loader("bier")
