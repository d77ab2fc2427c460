"""What is exported reads back equal, and reads well in the tools it is for."""

from __future__ import annotations

import csv
import json
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.ingest.folder import read_paths
from core.ingest.ingestor import ingest
from core.ingest.items import ArtifactItem, CaseItem, NodeItem, Problem
from core.store import Store
from evals.cases import Case, Gold
from evals.contents import Contents, contents
from evals.export import cases_csv, ragas_samples, rows_csv, trec_name, trec_qrels, trec_run
from evals.formats import loader
from evals.formats.trec_run import read_run

MERIDIAN = Path(__file__).parents[2] / "datasets" / "meridian"
FULL = Case(
    case_id="c 1", question='who, "then"\nleft?', answers=("Ann", "Bob"),
    gold=(Gold(source="a b", relevance=2), Gold(source="log", turn="t1"), Gold(source="z", relevance=0)),
    citations=(Gold(source="log", turn="t1", start=0, end=3, quote="Ann"), Gold(source="a b", quote="left")),
    alternatives=((0,), (1,)), hides=("x",), as_of="2020", known_at="2021", split="dev",
    tags={"kind": "odd, one", "n": "1"}, stale_answers=("Eve",),
)  # fmt: skip
BARE = Case(case_id="c2", question="why?", answerable=None)
NOT = Case(case_id="c3", question="how?", answerable=False, why_unanswerable="absent", answers=("[sic]",))


@pytest.fixture
def meridian(tmp_path: Path) -> Contents:
    with Store.open(tmp_path / "m.db") as store:
        ingest(store, "meridian", read_paths([MERIDIAN]))
        return contents(store, store.dataset("meridian"))


def read(name: str, folder: Path, lines: Any, file: str) -> list[Any]:
    (folder / file).write_text("".join(lines), encoding="utf-8", newline="")
    items = [item for _, _, item in loader(name)(folder / file)]
    assert [item for item in items if isinstance(item, Problem)] == []
    return items


def cases_of(items: list[Any]) -> list[Case]:
    return [Case.from_body(item.body) for item in items if isinstance(item, CaseItem)]


def test_csv_reads_back_equal(tmp_path: Path, meridian: Contents) -> None:
    for cases in ([FULL, BARE, NOT], list(meridian.cases)):
        assert cases_of(read("csv", tmp_path, cases_csv(cases), "q.csv")) == cases


@given(
    question=st.text(min_size=1).filter(
        lambda text: text.strip() and "\x00" not in text and text.isprintable()
    ),
    answers=st.lists(st.sampled_from(['"', ",", "a\r\nb", "=1+1", "[]", "é", "true"]), max_size=3),
    answerable=st.sampled_from([True, False, None]),
)
def test_csv_reads_back_whatever_is_in_a_cell(
    tmp_path_factory: pytest.TempPathFactory, question: str, answers: list[str], answerable: bool | None
) -> None:
    case = Case(case_id="c", question=question, answers=tuple(answers), answerable=answerable)
    folder = tmp_path_factory.mktemp("csv")
    assert cases_of(read("csv", folder, cases_csv([case]), "q.csv")) == [case]


def test_ragas_reads_back_equal_with_its_evidence(tmp_path: Path, meridian: Contents) -> None:
    items = read("ragas", tmp_path, ragas_samples([meridian]), "r.jsonl")
    assert cases_of(items) == list(meridian.cases)
    stored = {
        (item.source, getattr(item, "turn", None)): item.text
        for item in items
        if not isinstance(item, CaseItem)
    }
    assert stored
    assert all(meridian.texts[key] == [text] for key, text in stored.items())
    assert {type(item) for item in items} == {ArtifactItem, NodeItem, CaseItem}


def test_ragas_itself_reads_the_export(tmp_path: Path, meridian: Contents) -> None:
    dataset_schema = pytest.importorskip("ragas.dataset_schema")
    file = tmp_path / "r.jsonl"
    file.write_text("".join(ragas_samples([meridian])), encoding="utf-8")
    samples = dataset_schema.EvaluationDataset.from_jsonl(file).samples
    assert [sample.user_input for sample in samples] == [case.question for case in meridian.cases]
    first = meridian.cases[0]
    assert samples[0].reference == first.answers[0]
    assert samples[0].reference_context_ids == [gold.key for gold in first.gold]
    assert samples[0].reference_contexts == [meridian.text_of(gold) for gold in first.gold]


def row(case: Case, *ranking: str, **more: Any) -> dict[str, Any]:
    return {"case_id": case.case_id, "dataset": "meridian", "ranking": list(ranking)} | more


def test_a_run_brings_what_was_retrieved(meridian: Contents) -> None:
    first = meridian.cases[0]
    (line,) = ragas_samples([meridian], [row(first, "eng-log/2025-03-05#t3", "incidents/2025-03-large-requests",
                                             response="Because.")])  # fmt: skip
    sample = json.loads(line)
    assert sample["retrieved_context_ids"] == ["eng-log/2025-03-05#t3", "incidents/2025-03-large-requests"]
    assert sample["retrieved_contexts"][0] == meridian.texts["eng-log/2025-03-05", "t3"][0]
    assert sample["response"] == "Because."
    (silent,) = ragas_samples([meridian], [row(first)])
    assert {"retrieved_contexts", "response"}.isdisjoint(json.loads(silent))


def test_trec_names_have_no_blanks_and_can_be_read_back() -> None:
    for name in ("a b", "100%", "tab\there", "a%20b", "plain#t1", "no\u00a0break"):
        written = trec_name(name)
        assert not any(mark.isspace() for mark in written)
        assert unquote(written) == name


def test_trec_qrels_and_runs_are_lines_of_their_tools(tmp_path: Path) -> None:
    assert list(trec_qrels([FULL, BARE])) == ["c%201 0 a%20b 2\n", "c%201 0 log#t1 1\n", "c%201 0 z 0\n"]
    run = list(trec_run([row(FULL, "log#t1", "q", "a b"), row(FULL, "log#t1", repeat=1)], "assay brain"))
    assert run == [
        "c%201 Q0 log#t1 1 1.000000 assay%20brain\n",
        "c%201 Q0 q 2 0.500000 assay%20brain\n",
        "c%201 Q0 a%20b 3 0.333333 assay%20brain\n",
    ]
    (tmp_path / "run").write_text("".join(run), encoding="utf-8")
    (tmp_path / "qrels").write_text("".join(trec_qrels([FULL])), encoding="utf-8")
    hits, problems = read_run(tmp_path / "run")
    assert ([doc_id for doc_id, _ in hits["c%201"]], problems) == (["log#t1", "q", "a%20b"], [])
    figures = ir_measures.calc_aggregate(
        [ir_measures.RR, ir_measures.R @ 1, ir_measures.P @ 3],
        list(ir_measures.read_trec_qrels(str(tmp_path / "qrels"))),
        list(ir_measures.read_trec_run(str(tmp_path / "run"))),
    )
    assert figures == {ir_measures.RR: 1.0, ir_measures.R @ 1: 0.5, ir_measures.P @ 3: pytest.approx(2 / 3)}


def test_a_long_ranking_keeps_its_order_in_the_scores() -> None:
    scores = [float(line.split()[4]) for line in trec_run([row(FULL, *map(str, range(100)))], "t")]
    assert all(first > second for first, second in pairwise(scores))


def test_a_run_as_csv_keeps_every_column(tmp_path: Path) -> None:
    rows = [row(FULL, "a", ndcg=0.5, reason=None), row(BARE, flag=True)]
    (tmp_path / "r.csv").write_text("".join(rows_csv(rows)), encoding="utf-8", newline="")
    with (tmp_path / "r.csv").open(encoding="utf-8", newline="") as file:
        first, second = csv.DictReader(file)
    assert first == {
        "case_id": "c 1",
        "dataset": "meridian",
        "ranking": '["a"]',
        "ndcg": "0.5",
        "reason": "",
        "flag": "",
    }
    assert second["flag"] == "true"
