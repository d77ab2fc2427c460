"""WiCE: claims on articles, each annotator's sentences an alternative."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.ingest import chunk
from core.ingest.items import ArtifactItem

Load = Callable[[str, Path], Any]
Lines = Callable[[str, list[Any]], Path]
SENTENCES = ["(meta data) TITLE: Ann Lee", "Ann came.", " ", "Bob left.", "Eve stayed."]


def claim(label: str, marked: list[list[Any]], **changes: Any) -> dict[str, Any]:
    meta = {"id": "dev1", "claim_title": "Lee", "claim_section": "", "claim_context": ""}
    return {"label": label, "supporting_sentences": marked, "claim": "Ann came.", "evidence": SENTENCES,
            "meta": meta} | changes  # fmt: skip


def test_each_annotators_sentences_are_an_alternative(load: Load, lines: Lines) -> None:
    loaded = load("wice", lines("dev.jsonl", [claim("supported", [[3, 1], [4], [1, 3]])]))
    (article,) = loaded.of(ArtifactItem)
    assert (article.title, article.text) == (
        "Ann Lee",
        "(meta data) TITLE: Ann Lee Ann came. Bob left. Eve stayed.",
    )
    (case,) = loaded.cases
    assert [gold.quote for gold in case.citations] == ["Ann came.", "Bob left.", "Eve stayed."]
    assert all(article.text[gold.start : gold.end] == gold.quote for gold in case.citations)
    assert case.alternatives == ((0, 1), (2,))
    assert [[gold.quote for gold in one] for one in case.evidence_sets()] == [
        ["Ann came.", "Bob left."],
        ["Eve stayed."],
    ]
    assert (case.answerable, case.split, case.tags["label"]) == (True, "dev", "supported")
    assert [(p.what, p.action) for p in loaded.problems] == [
        ("claim dev1: two annotators marked the same sentences", "kept once")
    ]


def test_what_is_not_supported_hides_its_article(load: Load, lines: Lines) -> None:
    loaded = load("wice", lines("test.jsonl", [claim("not_supported", [[], [3]])]))
    (case,) = loaded.cases
    (article,) = loaded.of(ArtifactItem)
    assert (case.answerable, case.gold, case.citations, case.hides) == (False, (), (), (article.source,))
    assert "not supported, yet an annotator marked sentences" in loaded.problems[0].what


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        (
            {"label": "maybe"},
            "label must be one of supported, partially_supported, not_supported, got 'maybe'",
        ),
        ({"supporting_sentences": [[9]]}, "there is no sentence 9 among 5"),
        ({"supporting_sentences": [[2]]}, "there is no sentence 2 among 5"),
        ({"supporting_sentences": [[True]]}, "there is no sentence True among 5"),
        ({"evidence": ["Ann", 7]}, "a sentence must be a text, got 7"),
    ],
)
def test_a_malformed_claim_is_said(load: Load, lines: Lines, changes: dict[str, Any], what: str) -> None:
    file = lines("dev.jsonl", [claim("supported", [[1]]) | changes])
    loaded = load("wice", file)
    assert loaded.items == []
    (problem,) = loaded.problems
    assert (problem.where, what in problem.what) == (f"{file}:1", True), problem


def test_a_sentence_that_two_chunks_share_is_cut_where_they_are(load: Load, lines: Lines) -> None:
    long = " ".join(f"Word {number} stands here." for number in range(80))
    row = claim("supported", [[0]], evidence=[long])
    loaded = load("wice", lines("dev.jsonl", [row]))
    (article,) = loaded.of(ArtifactItem)
    quotes = [gold.quote for gold in loaded.cases[0].citations]
    assert quotes == [article.text[start:end] for start, end in chunk.spans(article.text)]
    assert len(quotes) == 2
    assert len(loaded.cases[0].evidence_sets()) == 1


def test_the_public_set(load: Load, public_data: Path) -> None:
    loaded = load("wice", public_data / "wice")
    assert Counter((case.split, case.tags["label"]) for case in loaded.cases) == {
        ("dev", "supported"): 115, ("dev", "partially_supported"): 191, ("dev", "not_supported"): 43,
        ("test", "supported"): 111, ("test", "partially_supported"): 215, ("test", "not_supported"): 32,
    }  # fmt: skip
    texts = {item.source: item.text for item in loaded.of(ArtifactItem)}
    assert len(texts) + len(loaded.said("its article stood at")) == 707
    chunks = {source: [text[start:end] for start, end in chunk.spans(text)] for source, text in texts.items()}
    for case in loaded.cases:
        assert bool(case.citations) == bool(case.gold) == case.answerable
        for gold in case.citations:
            assert texts[gold.source][gold.start : gold.end] == gold.quote
            assert any(gold.quote in part for part in chunks[gold.source]), case.case_id
    assert Counter(len(case.alternatives) > 1 for case in loaded.cases)[True] > 400
    assert len(loaded.said("marked the same sentences")) == 13 + 8
    assert len(loaded.said("not supported, yet")) == 13 + 2
