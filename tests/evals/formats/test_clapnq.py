"""CLAPnq: equal passages once, sentences as spans, the near miss and what hides it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.errors import DataError
from core.ingest.items import ArtifactItem, CaseItem, Problem
from evals.cases import Case, Gold
from evals.formats.clapnq import load

TEXT = "One thing . Two things . One thing again ."

ONE = [("a", ["Two things ."])]


def record(
    number: int, *outputs: tuple[str, list[str]], title: str = "T", text: str = TEXT
) -> dict[str, object]:
    return {
        "id": str(number), "input": f"question {number}", "passages": [{"title": title, "text": text}],
        "output": [{"answer": answer, "selected_sentences": chosen} for answer, chosen in outputs],
    }  # fmt: skip


def read(
    folder: Path, answerable: list[object], unanswerable: list[object]
) -> tuple[list[object], list[Case]]:
    for name, rows in (("answerable", answerable), ("unanswerable", unanswerable)):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"dev_{name}.jsonl").write_text(text, encoding="utf-8")
    items = [item for _, _, item in load(folder)]
    return items, [Case.from_body(item.body) for item in items if isinstance(item, CaseItem)]


def test_answerable_and_near_miss(tmp_path: Path) -> None:
    asked = record(1, ("a", ["Two things ."]), ("b", ["One thing .", "Two things ."]))
    items, (first, second) = read(tmp_path, [asked], [record(2, ("", []), text="Elsewhere .")])
    passage, other = (item for item in items if isinstance(item, ArtifactItem))
    assert (passage.text, passage.title, passage.whole, passage.as_nodes) == (TEXT, "T", True, True)
    assert passage.source != other.source
    assert first.gold == (Gold(source=passage.source),)
    assert first.citations == (
        Gold(source=passage.source, start=0, end=11, quote="One thing ."),
        Gold(source=passage.source, start=12, end=24, quote="Two things ."),
    )
    assert (first.answerable, first.answers, first.hides) == (True, ("a", "b"), ())
    assert (second.answerable, second.gold, second.citations, second.answers) == (False, (), (), ())
    assert (second.why_unanswerable, second.hides) == ("not-in-passage", (other.source,))
    assert not any(isinstance(item, Problem) for item in items)


def test_equal_passages_are_one_document(tmp_path: Path) -> None:
    items, cases = read(tmp_path, [record(1, *ONE), record(2, *ONE), record(3, *ONE, title="U")], [])
    sources = [item.source for item in items if isinstance(item, ArtifactItem)]
    assert [case.gold[0].source for case in cases] == [sources[0], sources[0], sources[1]]
    assert len(set(sources)) == 2
    (problem,) = (item for item in items if isinstance(item, Problem))
    first = f"{tmp_path}/dev_answerable.jsonl:1"
    assert str(problem) == (
        f"{tmp_path}/dev_answerable.jsonl:2: the passage 'T' stood at {first} already; stored once (kept once)"
    )


@pytest.mark.parametrize(
    ("broken", "what", "asked"),
    [
        (record(1, ("a", ["Nowhere ."])), "the selected sentence 'Nowhere .' is not in its passage", 2),
        (
            record(1, ("a", [])),
            "question 1: answerable, but no sentence was selected; its passage is the evidence",
            2,
        ),
        (record(1, *ONE, (" ", [])), "question 1: answerable, but an annotator wrote no answer text", 2),
        (
            record(1, ("a", [])) | {"passages": []},
            "not a CLAPnq record: ValueError expected one passage, got 0",
            1,
        ),
        (
            record(1, ("a", [])) | {"passages": [{"title": "T", "text": TEXT}] * 2},
            "not a CLAPnq record: ValueError expected one passage, got 2",
            1,
        ),
        ({"id": "1", "input": "q"}, "not a CLAPnq record: KeyError 'passages'", 1),
    ],
)
def test_faults_are_said_by_line(tmp_path: Path, broken: dict[str, object], what: str, asked: int) -> None:
    items, cases = read(tmp_path, [broken, record(2, ("a", ["Elsewhere ."]), text="Elsewhere .")], [])
    (problem,) = (item for item in items if isinstance(item, Problem))
    assert problem.where == f"{tmp_path}/dev_answerable.jsonl:1"
    assert what in problem.what
    assert len(cases) == asked


def test_what_is_no_clapnq_folder_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"absent: no such folder; CLAPnq holds dev_answerable\.jsonl"):
        next(load(tmp_path / "absent"))
    (tmp_path / "dev_answerable.jsonl").write_text(json.dumps(record(1, ("a", []))), encoding="utf-8")
    with pytest.raises(DataError, match=r"expected a file dev_unanswerable\.jsonl"):
        next(load(tmp_path))


def test_the_public_set(public_data: Path) -> None:
    items = [item for _, _, item in load(public_data / "clapnq")]
    texts = {item.source: item.text for item in items if isinstance(item, ArtifactItem)}
    cases = [Case.from_body(item.body) for item in items if isinstance(item, CaseItem)]
    problems = [item for item in items if isinstance(item, Problem)]
    assert (len(texts), len(cases), len({case.case_id for case in cases})) == (597, 600, 600)
    assert sum(bool(case.answerable) for case in cases) == 300
    assert sum("stored once" in problem.what for problem in problems) == 3
    assert sum("no answer text" in problem.what for problem in problems) == 10
    assert sum("no sentence was selected" in problem.what for problem in problems) == 1
    assert len(problems) == 14
    spans = [gold for case in cases for gold in case.citations]
    assert all(texts[gold.source][gold.start : gold.end] == gold.quote for gold in spans)
    assert sum(bool(case.citations) for case in cases) == 299
    assert len(spans) > 700
    for case in cases:
        own = {gold.source for gold in case.gold} | set(case.hides)
        assert len(own) == 1
        assert own <= set(texts)
        assert bool(case.answerable) == bool(case.gold) == bool(case.answers)
        assert bool(case.answerable) != bool(case.hides)
