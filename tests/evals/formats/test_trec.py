"""TREC: documents, topics and judgements in their layouts; runs checked by line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.errors import DataError
from core.ingest.items import ArtifactItem
from evals.formats.trec_run import read_run

Load = Callable[[str, Path], Any]
DOCS = """<DOC>
<DOCNO> D1 </DOCNO>
<HEADLINE>A wing</HEADLINE>
<TEXT>
It <b>flies</b> &amp; lands.
</TEXT>
</DOC><DOC><DOCNO>D2</DOCNO>
No element of text.
</DOC>
<DOC>
<DOCNO>D3</DOCNO>
<TEXT> </TEXT>
</DOC>
"""
TOPICS = """<top>
<num> Number: 301
<title> what flies

<desc> Description:
Everything that flies.
</top>
<top><num>302</num><title>what hisses</title></top>
"""


def write(folder: Path, **files: str) -> Path:
    for name, text in (
        {"topics": TOPICS, "qrels": "301 0 D1 2\n302 Q0 D2 -1\n", "docs": DOCS} | files
    ).items():
        (folder / name.replace("__", ".")).write_text(text, encoding="utf-8")
    return folder


def test_documents_topics_and_judgements(load: Load, tmp_path: Path) -> None:
    loaded = load("trec", write(tmp_path))
    assert [(item.source, item.title, item.text) for item in loaded.of(ArtifactItem)] == [
        ("D1", "A wing", "It  flies  & lands."), ("D2", "", "No element of text."),
    ]  # fmt: skip
    assert [(case.case_id, case.question) for case in loaded.cases] == [
        ("301", "what flies"),
        ("302", "what hisses"),
    ]
    assert [[(gold.source, gold.relevance) for gold in case.gold] for case in loaded.cases] == [
        [("D1", 2)],
        [("D2", 0)],
    ]
    assert [p.where for p in loaded.problems] == [f"{tmp_path}/docs:10"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("topics__tsv", "301\twhat flies\n302\twhat hisses\n"),
        ("topics__xml", '<topics>\n<topic number="301"><query>what flies</query></topic>\n'
                        '<topic number="302">\n<query>what hisses</query><question>x</question></topic></topics>\n'),
    ],
)  # fmt: skip
def test_other_layouts_of_topics(load: Load, tmp_path: Path, name: str, text: str) -> None:
    write(tmp_path, **{name: text}).joinpath("topics").unlink()
    loaded = load("trec", tmp_path)
    assert [(case.case_id, case.question) for case in loaded.cases] == [
        ("301", "what flies"),
        ("302", "what hisses"),
    ]


def test_broken_lines_are_said_by_place(load: Load, tmp_path: Path) -> None:
    topics = (
        "<top><num>301<title>a</top>\n<top>\n<num>302\n<top><num>303<title>c</top>\nlost\n"
        "<top><num>301<title>d</top>\n<top>\n"
    )
    qrels = "301 0 D1 1\n301 0 D1 2\n301 0 D9 1\n301 0 D3 1\n309 0 D1 1\n301 D1 1\n303 0 D1 1.5\n303 0 D2 1\n"
    loaded = load("trec", write(tmp_path, topics=topics, qrels=qrels, run="301 Q0 D1 1 NaN me\n"))
    said = {problem.where.removeprefix(f"{tmp_path}/"): problem.what for problem in loaded.problems}
    assert said == {
        "docs:10": "document 'D3' is empty: there is nothing to find or cite",
        "topics:2": f"<top> is cut off: another begins at {tmp_path}/topics:4",
        "topics:5": "stands outside of any <top>",
        "topics:6": "topic '301' stands here again; the first is kept",
        "topics:7": "<top> is cut off: the file ends before it does",
        "qrels:2": "'301' and 'D1': judged otherwise before; neither is used",
        "qrels:3": "judgement of the unknown document 'D9'",
        "qrels:4": "judgement of the empty document 'D3'",
        "qrels:5": "judgement of the unknown topic '309'",
        "qrels:6": "expected topic, iteration, docno and relevance, got 3 columns",
        "qrels:7": "score must be a whole number, got '1.5'",
        "topics:1": "topic '301' has no usable judgement; no question is made of it",
        "run:1": "score must be a finite number, got 'NaN'",
    }
    assert [case.case_id for case in loaded.cases] == ["303"]


def test_without_documents_judgements_stand_unchecked(load: Load, tmp_path: Path) -> None:
    write(tmp_path).joinpath("docs").unlink()
    loaded = load("trec", tmp_path)
    assert [gold.source for case in loaded.cases for gold in case.gold] == ["D1", "D2"]
    assert loaded.problems == []


def test_several_judgement_files_are_several_questions(load: Load, tmp_path: Path) -> None:
    write(tmp_path, qrels__dev="301 0 D2 1\n", qrels__test="302 0 D2 1\n").joinpath("qrels").unlink()
    loaded = load("trec", tmp_path)
    assert [(case.case_id, case.split) for case in loaded.cases] == [("301@dev", "dev"), ("302@test", "test")]


def test_what_is_no_folder_of_trec_is_refused(load: Load, tmp_path: Path) -> None:
    write(tmp_path).joinpath("qrels").unlink()
    with pytest.raises(DataError, match=r"expected files topics\* and qrels\*"):
        load("trec", tmp_path)


def test_a_run_is_ordered_by_score_as_trec_eval_does(tmp_path: Path) -> None:
    file = tmp_path / "run"
    file.write_text("q Q0 a 1 1.0 t\nq Q0 c 2 3.0 t\nq Q0 b 3 1.0 t\n", encoding="utf-8")
    assert read_run(file) == ({"q": [("c", 3.0), ("b", 1.0), ("a", 1.0)]}, [])


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("q Q0 a 1 1.0", "expected topic, Q0, docno, rank, score and tag, got 5 columns"),
        ("q Q0 a 1 inf t", "score must be a finite number, got 'inf'"),
        ("q Q0 a 1 high t", "score must be a finite number, got 'high'"),
        ("z Q0 a 1 1.0 t", "a hit of the unknown topic 'z'"),
        ("q Q0 z 1 1.0 t", "topic 'q': the unknown document 'z'"),
        ("q Q0 d 1 1.0 t", "topic 'q': document 'd' stands here again; the first is kept"),
    ],
)
def test_a_broken_hit_is_said_by_line(tmp_path: Path, line: str, what: str) -> None:
    file = tmp_path / "run"
    file.write_text(f"q Q0 d 1 2.0 t\n{line}\n", encoding="utf-8")
    run, (problem,) = read_run(file, {"q"}, {"a", "d"})
    assert (problem.where, problem.what) == (f"{file}:2", what)
    assert run == {"q": [("d", 2.0)]}
