"""Anybody's answers: what a file may hold, what of it is believed, and how it is scored."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from core.errors import DataError
from core.ingest.items import NodeItem
from core.workspace import Workspace
from evals.answers import GivenAnswer, read
from evals.cases import Case, Gold
from evals.runs import evaluate
from evals.score import by_file, by_hook

NODES = [
    NodeItem(level="L0", text="The buffer is 10KB. It was set by the upgrade.", source="log", turn="t1"),
    NodeItem(level="L0", text="Lunch is at the canal.", source="log", turn="t2"),
]
CASES = [
    ("main", Case(case_id="a", question="How big is the buffer?", gold=(Gold(source="log", turn="t1"),),
                  citations=(Gold(source="log", turn="t1", quote="The buffer is 10KB."),))),
    ("main", Case(case_id="b", question="Where is lunch?", gold=(Gold(source="log", turn="t2"),))),
    ("main", Case(case_id="c", question="Who is king?", answerable=False)),
]  # fmt: skip


@pytest.fixture
def workspace(make_workspace: Callable[..., Workspace]) -> Workspace:
    return make_workspace(NODES)


def written(tmp_path: Path, *lines: object) -> Path:
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def rows(out: Path) -> dict[str, dict[str, object]]:
    found = [json.loads(text) for text in (out / "rows.jsonl").read_text(encoding="utf-8").splitlines()]
    return {row["case_id"]: row for row in found}


def test_answers_citations_and_refusals_are_scored(workspace: Workspace, tmp_path: Path) -> None:
    path = written(
        tmp_path,
        {"case_id": "a", "answer": "10KB", "citations": [{"source": "log", "turn": "t1", "quote": "The buffer is 10KB."}],
         "ranking": ["log#t2", "log#t1"], "confidence": 0.9},
        {"case_id": "b", "answer": "At home", "citations": ["log#t1", "nowhere"]},
        {"case_id": "c", "answer": "I cannot say.", "abstained": True, "confidence": 0.1},
    )  # fmt: skip
    summary = evaluate(CASES, by_file(workspace, path, CASES), tmp_path / "out", manifest={})
    found = rows(tmp_path / "out")
    assert [found[case]["correct"] for case in "abc"] == [True, False, True]
    assert (found["a"]["mrr"], found["a"]["citation_precision"]) == (0.5, 1.0)
    assert found["b"]["ranking"] == ["log#t1"], "without a ranking the citations are it"
    assert summary.figures["correct"].value == pytest.approx(2 / 3)


def test_a_sentence_beside_the_gold_one_is_not_gold(workspace: Workspace, tmp_path: Path) -> None:
    path = written(tmp_path, {"case_id": "a", "answer": "x",
                              "citations": [{"source": "log", "quote": "It was set by the upgrade."}]})  # fmt: skip
    evaluate(CASES[:1], by_file(workspace, path, CASES), tmp_path / "out", manifest={})
    assert rows(tmp_path / "out")["a"]["correct"] is False


def test_a_case_without_a_line_is_a_failure_and_no_abstention(workspace: Workspace, tmp_path: Path) -> None:
    path = written(tmp_path, {"case_id": "a", "answer": "10KB", "citations": ["log#t1"]})
    summary = evaluate(CASES, by_file(workspace, path, CASES), tmp_path / "out", manifest={})
    assert [failure["case_id"] for failure in summary.failures] == ["b", "c"]
    assert summary.figures["coverage"].value == 1.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '{"case_id": "a", "answer": "x"}\n{"case_id": "a", "answer": "y"}',
            r":2: case 'a' is answered twice",
        ),
        ('{"case_id": "a", "answr": "x"}', r":1: answr: Extra inputs"),
        ('{"case_id": "a", "answer": 7}', r":1: answer: Input should be a valid string"),
        ('{"case_id": "a", "confidence": NaN}', r":1: (confidence|line)"),
        ('{"answer": "x"}', r":1: case_id is missing"),
        ('{"case_id": "a", "abstained": false}', r":1: line: .*there is no answer"),
        ('{"case_id": "a", "ans', r":1: line: Invalid JSON"),
        ("", "holds no answer"),
    ],
)
def test_a_malformed_file_is_refused_by_line(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read(path)


def test_an_answer_to_no_case_is_refused(workspace: Workspace, tmp_path: Path) -> None:
    path = written(tmp_path, {"case_id": "zzz", "answer": "x"})
    with pytest.raises(DataError, match="answers to no case that is scored: 'zzz'"):
        by_file(workspace, path, CASES)


def test_a_function_can_be_scored_and_what_it_raises_is_a_failure(
    workspace: Workspace, tmp_path: Path
) -> None:
    def system(question: str) -> GivenAnswer:
        if "king" in question:
            raise RuntimeError("no kings")
        return GivenAnswer(answer="10KB", citations=["log#t1"])

    summary = evaluate(CASES, by_hook(workspace, system), tmp_path / "out", manifest={})
    assert [failure["message"] for failure in summary.failures] == ["no kings"]
    assert rows(tmp_path / "out")["a"]["correct"] is True
