"""HotpotQA, 2WikiMultihopQA, MuSiQue, StrategyQA: passages once, sentences as stretches, triples as facts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.ingest.items import ArtifactItem, FactItem
from evals.cases import Gold

Load = Callable[[str, Path], Any]
Lines = Callable[[str, list[Any]], Path]
CONTEXT = [["T", ["One. ", " ", " Three."]], ["U", ["Four."]]]


def record(**changes: Any) -> dict[str, Any]:
    return {
        "_id": "h1", "question": "who", "answer": "Ann", "supporting_facts": [["T", 2], ["U", 0]], "context": CONTEXT,
    } | changes  # fmt: skip


def test_sentences_are_stretches_of_the_passage_and_blank_ones_count(load: Load, lines: Lines) -> None:
    loaded = load("hotpotqa", lines("hotpot_dev_distractor_v1.json", [record(level="easy")]))
    first, second = loaded.of(ArtifactItem)
    assert (first.text, first.title, first.whole, second.text) == ("One. Three.", "T", True, "Four.")
    (case,) = loaded.cases
    assert case.gold == (Gold(source=first.source), Gold(source=second.source))
    assert case.citations == (
        Gold(source=first.source, start=5, end=11, quote="Three."),
        Gold(source=second.source, start=0, end=5, quote="Four."),
    )
    assert (case.answers, case.split, case.tags) == (("Ann",), "dev", {"level": "easy"})
    assert loaded.problems == []


def test_an_array_and_columns_read_alike(load: Load, tmp_path: Path, lines: Lines) -> None:
    columns = record(
        context={"title": ["T", "U"], "sentences": [parts for _, parts in CONTEXT]},
        supporting_facts={"title": ["T", "U"], "sent_id": [2, 0]},
    )
    array = tmp_path / "hotpot_train_v1.1.json"
    array.write_text(json.dumps([record()], indent=2), encoding="utf-8")
    as_array = load("hotpotqa", array)
    as_columns = load("hotpotqa", lines("hotpot_train.jsonl", [columns]))
    assert as_array.items == as_columns.items
    assert as_array.problems == as_columns.problems == []


def test_passages_are_shared_and_told_apart_by_content(load: Load, lines: Lines) -> None:
    other = record(_id="h2", context=[["T", ["Else."]], ["U", ["Four."]]], supporting_facts=[["T", 0]])
    loaded = load("hotpotqa", lines("hotpot.json", [record(), other]))
    assert [item.text for item in loaded.of(ArtifactItem)] == ["One. Three.", "Four.", "Else."]
    assert loaded.cases[1].gold[0].source not in {gold.source for gold in loaded.cases[0].gold}


@pytest.mark.parametrize(
    ("changes", "what", "citations"),
    [
        ({"supporting_facts": [["T", 0], ["V", 0]]}, "the supporting passage 'V' is not in its context", 1),
        ({"supporting_facts": [["T", 0], ["T", 9]]}, "the passage 'T' has no sentence 9", 1),
        ({"supporting_facts": [["T", 0], ["T", 1]]}, "the passage 'T' has no sentence 1", 1),
        ({"context": [*CONTEXT, CONTEXT[0]]}, "the passage 'T' stands twice in its context", 2),
        ({"context": []}, "no context, so nothing can be found or cited for it", 0),
        ({"context": [*CONTEXT, ["T", ["Other."]]]}, "two passages of one title 'T'", None),
    ],
)
def test_what_is_wrong_with_the_evidence_is_said(
    load: Load, lines: Lines, changes: dict[str, Any], what: str, citations: int | None
) -> None:
    file = lines("hotpot.json", [record(**changes)])
    loaded = load("hotpotqa", file)
    (problem,) = loaded.problems
    assert (problem.where, what in problem.what) == (f"{file}:1", True), problem
    assert [len(case.citations) for case in loaded.cases] == ([] if citations is None else [citations])


def test_hidden_answers_are_neither_answerable_nor_not(load: Load, lines: Lines) -> None:
    row = record()
    del row["answer"], row["supporting_facts"]
    (case,) = load("hotpotqa", lines("hotpot_test_fullwiki_v1.json", [row])).cases
    assert (case.answerable, case.answers, case.gold, case.split) == (None, (), (), "test")


def test_triples_are_facts_of_the_passage_they_were_inferred_from(load: Load, lines: Lines) -> None:
    triples = [["T", "director", "Ann"], ["Ann", "place of birth", "Utrecht"], ["T", "director", "Ann"]]
    file = lines("wikihop.json", [record(evidences=triples)])
    loaded = load("2wiki", file)
    source = loaded.of(ArtifactItem)[0].source
    assert loaded.of(FactItem) == [
        FactItem(subject="T", relation="director", object="Ann", artifact=source),
        FactItem(subject="Ann", relation="place of birth", object="Utrecht"),
    ]
    (problem,) = loaded.problems
    assert (
        str(problem) == f"{file}:1: the triple ('T', 'director', 'Ann') stood at {file}:1 already (kept once)"
    )


def test_an_unanswerable_variant_is_a_dataset_of_its_own(load: Load, lines: Lines) -> None:
    def row(answerable: bool) -> dict[str, Any]:
        texts = ["One.", "Two."] if answerable else ["Two.", "Three."]
        return {
            "id": "2hop__1_2", "question": "who", "answer": "Ann", "answer_aliases": ["Anne", "Ann"],
            "answerable": answerable,
            "paragraphs": [{"idx": n, "title": "T", "paragraph_text": text, "is_supporting": text != "Three."}
                           for n, text in enumerate(texts)],
        }  # fmt: skip

    loaded = load("musique", lines("musique_full_v1.0_dev.jsonl", [row(False), row(True)]))
    assert loaded.suffixes == ["", "/unanswerable"]
    sound, removed = loaded.cases
    assert (sound.answerable, sound.answers, len(sound.gold), sound.tags) == (
        True,
        ("Ann", "Anne"),
        2,
        {"hops": "2"},
    )
    assert (removed.answerable, removed.answers, removed.why_unanswerable) == (
        False, (), "supporting-paragraph-removed",
    )  # fmt: skip
    assert [item.text for item in loaded.of(ArtifactItem)] == ["One.", "Two.", "Two.", "Three."]


def test_the_public_sets(load: Load, public_data: Path) -> None:
    folder = public_data / "multihop_migres"
    hotpot, wiki, musique, strategy = (
        load(name, folder) for name in ("hotpotqa", "2wiki", "musique", "strategyqa")
    )
    assert [len(one.cases) for one in (hotpot, wiki, musique, strategy)] == [200, 200, 200, 229]
    assert Counter(problem.what.split("'")[1] for problem in hotpot.problems) == {"reranked_ret_res": 1}
    assert "200 records carry 'reranked_ret_res'" in hotpot.problems[0].what
    assert all(case.citations for case in hotpot.cases)
    assert len(wiki.said("no context")) == 36
    assert sum(not case.gold for case in wiki.cases) == 36
    assert len(wiki.of(FactItem)) + len(wiki.said("the triple")) == 522
    assert (
        len(wiki.said("records carry 'top_rank_questions'"))
        == len(wiki.said("records carry 'final_res'"))
        == 1
    )
    assert len(wiki.problems) == 36 + 2 + 4 + 6
    assert musique.problems == strategy.problems == []
    assert Counter(case.tags["hops"] for case in musique.cases) == {"2": 145, "3": 32, "4": 23}
    assert [len(case.gold) for case in musique.cases] == [int(case.tags["hops"]) for case in musique.cases]
    assert Counter(case.answers for case in strategy.cases) == {("yes",): 107, ("no",): 122}
    for one in (hotpot, wiki):
        texts = {item.source: item.text for item in one.of(ArtifactItem)}
        for case in one.cases:
            assert all(texts[gold.source][gold.start : gold.end] == gold.quote for gold in case.citations)
