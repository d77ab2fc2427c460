"""From labels to a labelled set, and through the commands into an evaluation."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from core.ingest.folder import read_paths
from core.ingest.ingestor import ingest
from core.ingest.items import NodeItem
from core.store import Store
from core.store.labels import JudgedCitation, Label, Verdict
from evals.cases import Case, Gold
from evals.labelled import WHY, labelled_cases, native_lines
from workbench.cli import assay

CASE = Case(case_id="c", question="Why?", gold=(Gold(source="log", turn="t1"),))


def label(verdict: Verdict, labeller: str = "Ada", **changes: object) -> Label:
    return Label(case_id="c", labeller=labeller, verdict=verdict, question="Why?", **changes)  # type: ignore[arg-type]


def only(labels: Sequence[Label], case: Case = CASE) -> Case:
    (made,) = labelled_cases([case], labels).cases
    return made


def test_should_have_abstained_is_unanswerable_and_has_no_evidence() -> None:
    made = only([label("should-abstain")])
    assert (made.answerable, made.gold, made.citations, made.why_unanswerable) == (False, (), (), WHY)


def test_supporting_citations_become_gold_and_refuted_ones_leave_it() -> None:
    cited = (
        JudgedCitation(source="log", turn="t2", supports=True),
        JudgedCitation(source="log", turn="t1", supports=False),
        JudgedCitation(source="log", turn="t3"),
    )
    made = only([label("partly", citations=cited)])
    assert [gold.key for gold in made.gold] == ["log#t2"]
    assert made.answerable is True


def test_a_correct_answer_becomes_a_gold_one_where_there_is_none() -> None:
    assert only([label("correct", answer="The proxy.")]).answers == ("The proxy.",)
    kept = Case(case_id="c", question="Why?", answers=("As was known.",))
    assert only([label("correct", answer="The proxy.")], kept).answers == ("As was known.",)
    assert only([label("wrong", answer="The moon.")]).answers == ()


def test_most_labellers_count_and_a_tie_is_left_out() -> None:
    two = [label("wrong"), label("correct", "Ben")]
    assert labelled_cases([CASE], two).disputed == ["c"]
    assert labelled_cases([CASE], two).cases == []
    assert only([*two, label("wrong", "Cat")]).tags == {"label": "wrong", "labelled_by": "Ada, Ben, Cat"}


def test_citations_are_judged_by_most_too() -> None:
    def said(*supports: bool) -> list[Label]:
        return [
            label("partly", name, citations=(JudgedCitation(source="new", supports=one),))
            for name, one in zip("abc", supports, strict=False)
        ]

    assert [gold.key for gold in only(said(True, True, False)).gold] == ["log#t1", "new"]
    assert [gold.key for gold in only(said(True, False)).gold] == ["log#t1"]


def test_a_question_that_is_no_stored_case_is_one_now() -> None:
    cited = (JudgedCitation(source="log", turn="t1", supports=True),)
    (made,) = labelled_cases([], [label("correct", answer="A.", citations=cited)]).cases
    assert (made.case_id, made.question, made.answerable) == ("c", "Why?", True)
    (unknown,) = labelled_cases([], [label("wrong")]).cases
    assert unknown.answerable is None


def test_unlabelled_cases_are_left_out() -> None:
    assert labelled_cases([CASE], []).cases == []


def test_lines_are_read_back_as_the_same_cases(tmp_path: Path) -> None:
    made = only([label("correct", answer='<script>"\u2028', note="x")])
    path = tmp_path / "cases.jsonl"
    path.write_text("".join(native_lines([made])), encoding="utf-8")
    ((_, item),) = read_paths([path])
    assert Case.from_body(item.body) == made  # type: ignore[union-attr]


@pytest.fixture
def db(tmp_path: Path, turns: list[NodeItem]) -> Path:
    path = tmp_path / "a.db"
    with Store.open(path) as store:
        ingest(store, "main", [(f"test:{n}", item) for n, item in enumerate(turns)])
        dataset_id = store.dataset("main").dataset_id
        cited = (JudgedCitation(source="log", turn="t1", supports=True),)
        question = "Why did requests over 10KB fail?"
        for labeller in ("Ada", "Ben"):
            store.labels.add(
                dataset_id,
                Label(case_id="q1", labeller=labeller, verdict="correct", question=question, citations=cited),
            )
        store.labels.add(
            dataset_id,
            Label(
                case_id="q2",
                labeller="Ada",
                verdict="should-abstain",
                question="Who won at chess?",
                answer="Omar",
            ),
        )
    return path


def run(*words: str) -> str:
    result = CliRunner().invoke(assay, list(words))
    assert result.exit_code == 0, (result.output, result.exception)
    return result.output


def test_label_export_ingest_eval(db: Path, tmp_path: Path) -> None:
    out, scores = tmp_path / "cases.jsonl", tmp_path / "run"
    assert "wrote 2 cases" in run("labels", "export", "main", "--out", str(out), "--db", str(db))
    run("ingest", str(out), "--dataset", "main", "--db", str(db))
    run("eval", "--dataset", "main", "--out", str(scores), "--db", str(db))
    rows = {row["case_id"]: row for row in map(json.loads, (scores / "rows.jsonl").read_text().splitlines())}
    assert {key: row["answerable"] for key, row in rows.items()} == {"q1": True, "q2": False}
    assert rows["q1"]["hit@10"] == 1.0
    assert rows["q1"]["tags"]["label"] == "correct"


def test_list_and_agreement(db: Path) -> None:
    assert run("labels", "list", "main", "--db", str(db)).count("correct by") == 2
    assert "alike on 100.0% of 1 cases" in run("labels", "agreement", "main", "--db", str(db))
    (pair,) = json.loads(run("labels", "agreement", "main", "--db", str(db), "--format", "json"))
    assert (pair["n"], pair["kappa"]) == (1, None)


def test_nothing_labelled_says_where_to(db: Path, tmp_path: Path) -> None:
    with Store.open(db) as store:
        store.ensure_dataset("bare")
    result = CliRunner().invoke(
        assay, ["labels", "export", "bare", "--out", str(tmp_path / "c"), "--db", str(db)]
    )
    assert "label some on the page Cases" in str(result.exception)
    assert "no label yet" in run("labels", "list", "bare", "--db", str(db))
