"""Every loader on inputs that are broken in every place: a problem that says where, never a traceback, never a guess."""

from __future__ import annotations

import copy
import gzip
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from core.errors import DataError
from core.ingest.ingestor import ingest
from core.ingest.items import ArtifactItem, CaseItem, EntityItem, FactItem, NodeItem, Problem
from core.store import Store
from evals.cases import Case
from evals.formats import FORMATS, Row, loader

Files = dict[str, list[Any]]
"""File name → its lines: JSON objects, plain lines where the file is neither ``.json`` nor ``.jsonl``."""

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
    "hotpotqa": {
        "hotpot.json": [
            {"_id": name, "question": f"who {name}", "answer": "Ann", "type": "bridge", "level": "hard",
             "supporting_facts": [[f"T {name}", 0], ["U", 1]],
             "context": [[f"T {name}", ["One. ", " Two."]], ["U", ["Three.", "Four."]]]}
            for name in ("h1", "h2")
        ],
    },
    "2wiki": {
        "wikihop.json": [
            {"_id": name, "question": f"who {name}", "answer": "Ann", "type": "comparison",
             "supporting_facts": {"title": [f"T {name}"], "sent_id": [0]},
             "context": {"title": [f"T {name}", "U"], "content": [["One.", "Two."], ["Three."]]},
             "evidences": [[f"T {name}", "director", "Ann"]]}
            for name in ("w1", "w2")
        ],
    },
    "musique": {
        "musique.json": [
            {"id": f"2hop__{name}", "question": f"who {name}", "answer": "Ann", "answer_aliases": ["Anne"],
             "answerable": True,
             "paragraphs": [{"idx": 0, "title": "T", "paragraph_text": f"One {name}.", "is_supporting": True},
                            {"idx": 1, "title": "U", "paragraph_text": "Two.", "is_supporting": False}]}
            for name in ("m1", "m2")
        ],
    },
    "strategyqa": {
        "strategy.json": [
            {"qid": name, "term": "Ann", "question": f"is it {name}", "answer": False, "facts": ["One.", "Two."]}
            for name in ("s1", "s2")
        ],
    },
    "timeqa": {
        "human_annotated_test.json": [
            {"index": f"/wiki/{name}#P1", "type": "P1", "link": f"/wiki/{name}",
             "paras": [name, "Ann came .", "Bob left ."],
             "questions": [[f"who came to {name}", [{"para": 1, "from": 0, "end": 3, "answer": "Ann"},
                                                    {"para": 2, "from": 0, "end": 3, "answer": "Bob"}]],
                           [f"who stayed at {name}", [{"para": 0, "from": 0, "end": 0, "answer": ""}]]]}
            for name in ("A", "B")
        ],
    },
    "situatedqa": {
        "raw_temp.dev.jsonl": [
            {"question": f"who rules {name}", "id": number, "timelines": [
                {"cur_answers": ["Ann"], "cur_start": {"year": 2017, "month": 7, "date": 25}, "cur_start_full": "2017",
                 "prev_answers": ["Bob"], "prev_start": {"year": 2012, "month": None, "date": None},
                 "prev_start_full": "2012"}]}
            for number, name in ((7, "a"), (8, "b"))
        ],
        "temp.dev.jsonl": [
            {"question": f"who rules {name}", "id": number, "edited_question": f"who rules {name} as of 2019",
             "date": "2019", "date_type": "sampled_year", "answer": ["Ann"], "any_answer": ["Ann", "Bob"]}
            for number, name in ((7, "a"), (8, "b"))
        ],
        "geo.dev.jsonl": [
            {"question": f"who rules {name}", "id": number, "edited_question": f"who rules {name} in rome",
             "location": "Rome", "answer": ["Ann"], "any_answer": ["Ann", "Bob"]}
            for number, name in ((7, "a"), (8, "b"))
        ],
    },
    "wice": {
        "claim/dev.jsonl": [
            {"label": "supported", "claim": f"Ann came to {name}.", "supporting_sentences": [[1], [0, 1]],
             "evidence": [f"(meta data) TITLE: {name}", "Ann came.", ""],
             "meta": {"id": name, "claim_title": "Ann", "claim_section": "Life.", "claim_context": ""}}
            for name in ("dev1", "dev2")
        ],
    },
    "squad": {
        "dev-v2.0.json": [
            {"version": "v2.0", "data": [
                {"title": title, "paragraphs": [
                    {"context": "Ann came. Bob left.", "qas": [
                        {"id": f"{title}-1", "question": "who came", "is_impossible": False,
                         "answers": [{"text": "Ann", "answer_start": 0}]},
                        {"id": f"{title}-2", "question": "who sang", "is_impossible": True, "answers": [],
                         "plausible_answers": [{"text": "Bob", "answer_start": 10}]}]}]}
                for title in ("One", "Two")]},
        ],
    },
    "longmemeval": {
        "longmemeval_s.json": [
            {"question_id": name, "question_type": "multi-session", "question": "who came", "answer": "Ann",
             "question_date": "2023/05/30 (Tue) 23:40", "haystack_dates": ["2023/05/20 (Sat) 02:21"],
             "haystack_session_ids": [f"answer_{name}"], "answer_session_ids": [f"answer_{name}"],
             "haystack_sessions": [[{"role": "user", "content": f"Ann came to {name}.", "has_answer": True},
                                    {"role": "assistant", "content": "Well."}]]}
            for name in ("l1", "l2_abs")
        ],
    },
    "ragas": {
        "ragas.jsonl": [
            {"user_input": f"who {name}", "reference": "Ann", "reference_contexts": [f"Ann {name}."],
             "reference_context_ids": [name], "retrieved_contexts": [f"Bob {name}."],
             "retrieved_context_ids": [f"{name}x"],
             "assay_case": {"case_id": name, "question": f"who {name}", "gold": [{"source": name}]}}
            for name in ("r1", "r2")
        ],
    },
    "csv": {
        "questions.csv": ["case_id,question,answer,source,quote,tag:kind",
                          "c1,who came,Ann,d1,Ann came.,easy", 'c2,"who, then, left",Bob,d1,Bob left.,hard'],
    },
    "cranfield": {
        "cran.all.1400": [".I 7", ".T", "a wing", ".A", "x", ".B", "y", ".W", "a wing", "flies .",
                          ".I 8", ".T", "a jet", ".A", ".B", ".W", "a jet", "hisses ."],
        "cran.qry": [".I 001", ".W", "what flies", ".I 004", ".W", "what hisses"],
        "cranqrel": ["1 7 2 ", "2 8 3 "],
    },
    "trec": {
        "topics.sgml": ["<top>", "<num> Number: 301", "<title> what flies", "<desc> Description:", "All.", "</top>",
                        "<top>", "<num> Number: 302", "<title> what hisses", "</top>"],
        "qrels.txt": ["301 0 D1 1", "302 0 D2 2"],
        "docs.sgml": ["<DOC>", "<DOCNO> D1 </DOCNO>", "<TITLE>wing</TITLE>", "<TEXT>", "It flies.", "</TEXT>", "</DOC>",
                      "<DOC><DOCNO>D2</DOCNO><TEXT>It &amp; hisses.</TEXT></DOC>"],
        "run.txt": ["301 Q0 D1 1 2.5 me", "301 Q0 D2 2 1.5 me"],
    },
}  # fmt: skip
"""Two sound records of each kind."""
WITHIN: dict[str, tuple[Any, ...]] = {"locomo": (0,), "squad": ("data", 0)}
"""Where the first record is, in a file that is one value."""
UNTOUCHED = {
    "beir": {"q2", "d2"},
    "scifact": {"8", "2"},
    "clapnq": {"2", "4"},
    "locomo": {"conv-2/q0", "D1:1", "D1:2"},
    "hotpotqa": {"h2"},
    "2wiki": {"w2"},
    "musique": {"2hop__m2"},
    "strategyqa": {"s2", "s2#0", "s2#1"},
    "timeqa": {"/wiki/B#P1#0", "/wiki/B#P1#1", "p0", "p1", "p2"},
    "situatedqa": {"8@2019", "8@Rome"},
    "wice": {"dev2"},
    "squad": {"Two-1", "Two-2", "p0"},
    "longmemeval": {"l2_abs", "t0", "t1"},
    "ragas": {"r2", "r2x"},
    "csv": {"c2"},
    "cranfield": {"2", "8"},
    "trec": {"302", "D2"},
}
"""What stays whole when the first record of a kind is broken."""
OPTIONAL = {
    "situatedqa": set(GOOD["situatedqa"]),
    "trec": {"docs.sgml", "run.txt"},
}
"""Files that need not be there."""
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


def is_json(file: str) -> bool:
    return file.endswith((".json", ".jsonl"))


def write(folder: Path, files: Files) -> Path:
    for name, rows in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps(row) if is_json(name) else row for row in rows]
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
        if not is_json(file):
            continue
        record = rows[0]
        within = [
            path for path in places(record) if path[: len(WITHIN.get(name, ()))] == WITHIN.get(name, ())
        ]
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
            case EntityItem():
                yield item.name
            case FactItem():
                yield from (item.subject, item.relation, item.object)
            case CaseItem():
                case = Case.from_body(item.body)
                yield from (case.split, *case.stale_answers)
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
            case FactItem():
                found.add(item.subject)
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
    whole = names_of(list(loader(name)(write(tmp_path / "whole", GOOD[name]))))
    assert names_of(rows) < whole or file == "run.txt"  # a run is checked, never stored


@pytest.mark.parametrize("name", FORMATS)
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    for file in GOOD[name]:
        if not file.endswith(".tsv") and file not in OPTIONAL.get(name, ()):
            folder = write(tmp_path / file.replace("/", "-"), GOOD[name])
            (folder / file).unlink()
            with pytest.raises(DataError, match=re.escape(file.split(".")[0])) as raised:
                list(loader(name)(folder))
            assert str(folder) in str(raised.value)


@pytest.mark.parametrize("name", FORMATS)
def test_a_folder_in_place_of_a_file_and_a_path_that_is_none(tmp_path: Path, name: str) -> None:
    folder = write(tmp_path / "in", GOOD[name])
    for file in (folder / one for one in GOOD[name]):
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
