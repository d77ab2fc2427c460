"""SciFact: sentences as spans, abstention labels and retrieval labels apart, hidden labels left hidden."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from core.errors import DataError
from core.ingest.items import ArtifactItem, CaseItem, Problem
from evals.cases import Case, Gold
from evals.formats.scifact import load

CORPUS = [
    {"doc_id": 1, "title": "T", "abstract": ["One two.", "Three.", "Four five."]},
    {"doc_id": 2, "title": "U", "abstract": ["Other."]},
]
SUPPORTED = {
    "id": 7, "claim": "c", "cited_doc_ids": [1, 2],
    "evidence": {"1": [{"sentences": [1, 2], "label": "SUPPORT"}, {"sentences": [1], "label": "SUPPORT"}]},
}  # fmt: skip


def write(folder: Path, claims: list[object], split: str = "dev", qrels: str | None = None) -> Path:
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in CORPUS), encoding="utf-8")
    (folder / f"claims_{split}.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in claims), encoding="utf-8"
    )
    if qrels is not None:
        (folder / "qrels").mkdir()
        (folder / "qrels" / f"{split}.tsv").write_text(
            f"query-id\tcorpus-id\tscore\n{qrels}", encoding="utf-8"
        )
    return folder


def read(folder: Path) -> tuple[list[Case], dict[str, str]]:
    items = [item for _, _, item in load(folder)]
    cases = [Case.from_body(item.body) for item in items if isinstance(item, CaseItem)]
    told = {item.where.removeprefix(f"{folder}/"): item.what for item in items if isinstance(item, Problem)}
    return cases, told


def test_evidence_sentences_are_spans_of_the_joined_abstract(tmp_path: Path) -> None:
    (case,), problems = read(write(tmp_path, [SUPPORTED]))
    assert problems == {}
    assert case.citations == (
        Gold(source="1", start=9, end=15, quote="Three."),
        Gold(source="1", start=16, end=26, quote="Four five."),
    )
    assert case.gold == (Gold(source="1"), Gold(source="2"))
    assert (case.answerable, case.split, case.tags) == (True, "dev", {"label": "SUPPORT"})
    assert case.hides == ()


def test_no_evidence_is_the_abstention_label_and_not_the_retrieval_label(tmp_path: Path) -> None:
    (case,), _ = read(write(tmp_path, [{"id": 8, "claim": "c", "evidence": {}, "cited_doc_ids": [2]}]))
    assert (case.answerable, case.why_unanswerable) == (False, "no-evidence")
    assert (case.gold, case.hides, case.citations) == ((Gold(source="2"),), ("2",), ())


def test_hidden_labels_are_not_read_as_unanswerable(tmp_path: Path) -> None:
    (case,), _ = read(write(tmp_path, [{"id": 9, "claim": "c", "evidence": {}, "cited_doc_ids": []}], "test"))
    assert (case.answerable, case.why_unanswerable, case.gold, case.hides) == (None, None, (), ())


def test_judgements_decide_over_cited_documents(tmp_path: Path) -> None:
    (case,), problems = read(write(tmp_path, [SUPPORTED], qrels="7\t2\t1\n7\t9\t1\n99\t1\t1\n7\t2\n"))
    assert case.gold == (Gold(source="2"),)
    assert problems == {
        "qrels/dev.tsv:3": "judgement of the unknown document '9'",
        "qrels/dev.tsv:4": "judgement of the unknown claim '99'",
        "qrels/dev.tsv:5": "expected query-id, corpus-id and score, got 2 columns",
    }


@pytest.mark.parametrize(
    ("claim", "what"),
    [
        ({"id": 7}, "claim 7: KeyError: 'claim'"),
        (
            {"id": 7, "claim": "c", "evidence": {"5": [{"sentences": [0], "label": "SUPPORT"}]}},
            "evidence is sentence 0 of document '5', which is not in the corpus",
        ),
        (
            {"id": 7, "claim": "c", "evidence": {"1": [{"sentences": [-1], "label": "SUPPORT"}]}},
            "evidence is sentence -1 of document '1'",
        ),
        ({"id": 7, "claim": "c", "evidence": {"1": [{"sentences": [0]}]}}, "KeyError: 'label'"),
    ],
)
def test_a_malformed_claim_is_left_out_and_said(tmp_path: Path, claim: dict[str, object], what: str) -> None:
    cases, problems = read(write(tmp_path, [claim, SUPPORTED]))
    assert [case.case_id for case in cases] == ["7"]
    assert list(problems) == ["claims_dev.jsonl:1"]
    assert what in problems["claims_dev.jsonl:1"]


def test_what_is_no_scifact_folder_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"absent: no such folder; SciFact holds"):
        next(load(tmp_path / "absent"))
    write(tmp_path, []).joinpath("claims_dev.jsonl").unlink()
    with pytest.raises(DataError, match=r"expected claims_train\.jsonl"):
        next(load(tmp_path))


def test_the_public_set(public_data: Path) -> None:
    texts: dict[str, str] = {}
    cases = []
    for suffix, _, item in load(public_data / "scifact"):
        assert suffix == ""
        assert not isinstance(item, Problem)
        if isinstance(item, ArtifactItem):
            texts[item.source] = item.text
        elif isinstance(item, CaseItem):
            cases.append(Case.from_body(item.body))
    assert len(texts) == 5183
    assert Counter((case.split, case.answerable) for case in cases) == {
        ("train", True): 505, ("train", False): 304, ("dev", True): 188, ("dev", False): 112, ("test", None): 300,
    }  # fmt: skip
    judged = Counter(case.split for case in cases for _ in case.gold)
    assert judged == {"train": 919, "dev": 339}
    assert all(case.gold for case in cases if case.split != "test")
    labels = Counter(case.tags["label"] for case in cases if case.split == "dev")
    assert labels == {"SUPPORT": 124, "CONTRADICT": 64, "NO_EVIDENCE": 112}
    spans = [gold for case in cases for gold in case.citations]
    assert len(spans) > 1000
    assert all(texts[gold.source][gold.start : gold.end] == gold.quote for gold in spans)
