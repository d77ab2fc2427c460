"""ragas' data sets: as its own classes write them, and what a model wrote left out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.ingest.items import ArtifactItem
from evals.cases import Gold

Load = Callable[[str, Path], Any]
Lines = Callable[[str, list[Any]], Path]


def sample(**changes: Any) -> dict[str, Any]:
    return {"user_input": "who came?", "reference": "Ann", "reference_contexts": ["Ann came.", "In May."],
            "retrieved_contexts": ["Bob left.", "Ann came."]} | changes  # fmt: skip


def test_contexts_are_stored_once_and_the_reference_is_gold(load: Load, lines: Lines) -> None:
    loaded = load(
        "ragas", lines("ragas.jsonl", [sample(response="Ann", rubrics={"a": "b"}), sample(user_input="x")])
    )
    assert [item.text for item in loaded.of(ArtifactItem)] == ["Ann came.", "In May.", "Bob left."]
    sources = [item.source for item in loaded.of(ArtifactItem)]
    assert [case.gold for case in loaded.cases] == [tuple(Gold(source=one) for one in sources[:2])] * 2
    assert (loaded.cases[0].answers, loaded.cases[0].answerable) == (("Ann",), True)
    assert sorted(problem.what.split("'")[1] for problem in loaded.problems) == ["response", "rubrics"]


def test_ids_name_the_contexts(load: Load, lines: Lines) -> None:
    row = sample(reference_context_ids=["d1", 2], retrieved_context_ids=["d3", "d1"])
    loaded = load("ragas", lines("ragas.jsonl", [row]))
    assert {item.source: item.text for item in loaded.of(ArtifactItem)} == {
        "d1": "Ann came.", "2": "In May.", "d3": "Bob left.",
    }  # fmt: skip
    assert [gold.source for gold in loaded.cases[0].gold] == ["d1", "2"]


def test_without_a_reference_nobody_knows(load: Load, lines: Lines) -> None:
    (case,) = load("ragas", lines("ragas.jsonl", [{"user_input": "who?"}])).cases
    assert (case.answerable, case.answers, case.gold) == (None, (), ())


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"user_input": [{"type": "human", "content": "hi"}]}, "user_input must be a text"),
        ({"reference": 3}, "reference must be a text, got 3"),
        ({"reference_contexts": "Ann came."}, "reference_contexts must be a list, got str"),
        ({"reference_context_ids": ["d1"]}, "1 reference_context_ids for 2 reference_contexts"),
        ({"assay_case": {"case_id": "c"}}, "case 'c': question: Field required"),
        ({"assay_case": {"case_id": "c", "question": "other"}}, "asks another question than user_input"),
    ],
)
def test_a_malformed_sample_is_said_by_line(load: Load, lines: Lines, changes: Any, what: str) -> None:
    file = lines("ragas.jsonl", [sample(**changes), sample(user_input="sound")])
    loaded = load("ragas", file)
    (problem,) = loaded.problems
    assert (problem.where, what in problem.what) == (f"{file}:1", True), problem
    assert [case.question for case in loaded.cases] == ["sound"]


def test_one_name_two_texts_is_said(load: Load, lines: Lines) -> None:
    rows = [
        sample(reference_context_ids=["a", "b"]),
        sample(user_input="x", reference_context_ids=["b", "c"]),
    ]
    loaded = load("ragas", lines("ragas.jsonl", rows))
    assert [problem.what for problem in loaded.problems] == [
        "the context 'b' came before with another text; the first is kept"
    ]
