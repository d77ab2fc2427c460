"""Runs: what is written, what a failing case does, and which cases are chosen."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from core.errors import AssayError, NotFoundError, UsageError
from core.trace import Answer, Evidence, Trace
from evals.budget import BudgetSpentError
from evals.cases import Case, Gold
from evals.legend import ABOUT, RAGAS, ragas_name
from evals.run_files import LOG
from evals.runs import EvalRequest, evaluate, select_cases

MANIFEST = {"dataset": "main", "recipe": "brain", "profile": "seed"}
FILES = {"rows.jsonl", "failures.jsonl", "timings.jsonl", "spending.json", "summary.json", "summary.md"}
CASES = [
    ("main", Case(case_id="right", question="q", gold=(Gold(source="d1"),), split="dev", tags={"kind": "a"})),
    ("main", Case(case_id="breaks", question="q", gold=(Gold(source="d1"),), split="dev", tags={"kind": "b"})),
    ("main", Case(case_id="refused", question="q", answerable=False, hides=("d2",), split="test", tags={"kind": "b"})),
    ("main", Case(case_id="unknown", question="q", answerable=None, split="test")),
]  # fmt: skip
Ask = Callable[[EvalRequest], Trace]


@pytest.fixture
def ask(make_trace: Callable[..., Trace], make_evidence: Callable[..., Evidence]) -> Ask:
    """Answers citing d1, abstains from ``refused``, breaks on ``breaks``; no two calls take equally long."""
    calls = iter(range(1, 1000))

    def answer(request: EvalRequest) -> Trace:
        if request.case.case_id == "breaks":
            raise NotFoundError("no dataset 'main';\nimport it first")
        cited = (make_evidence("d1"),)
        if request.case.case_id == "refused":
            told = Answer(text="", abstained=True, reason="below_floor", closest=cited, confidence=0.1)
        else:
            told = Answer(text="d1", abstained=False, evidence=cited, closest=cited, confidence=0.75)
        return make_trace([("d1", None), ("d2", None)], told, ms=float(next(calls)))

    return answer


def lines(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_rows_come_in_the_cases_order_and_failures_apart(ask: Ask, tmp_path: Path) -> None:
    summary = evaluate(CASES, ask, tmp_path, manifest=MANIFEST)
    assert {file.name for file in tmp_path.iterdir()} == FILES
    assert [row["case_id"] for row in lines(tmp_path / "rows.jsonl")] == ["right", "refused", "unknown"]
    assert lines(tmp_path / "failures.jsonl") == [
        {"case_id": "breaks", "dataset": "main", "error": "NotFoundError",
         "message": "no dataset 'main'; import it first"}
    ]  # fmt: skip
    assert [line["ms"] for line in lines(tmp_path / "timings.jsonl")] == [
        {"recall": 1.0}, {"recall": 2.0}, {"recall": 3.0},
    ]  # fmt: skip
    (spending,) = lines(tmp_path / "spending.json")
    assert spending["stages"]["whole"] == {"n": 3, "mean": 2.0, "p50": 2.0, "p95": 2.9, "p99": 2.98}
    assert summary.n_cases == 3


def test_a_failure_is_neither_a_zero_nor_an_abstention(ask: Ask, tmp_path: Path) -> None:
    figures = evaluate(CASES, ask, tmp_path, manifest=MANIFEST).figures
    assert (figures["ndcg@10"].value, figures["ndcg@10"].n, figures["ndcg@10"].missing) == (1.0, 1, 2)
    assert (figures["correct"].value, figures["correct"].n) == (1.0, 2)
    assert (figures["answered_answerable"].value, figures["answered_answerable"].n) == (1.0, 1)
    assert figures["answered_unanswerable"].value == 0.0


def test_equal_inputs_give_equal_rows_byte_for_byte(ask: Ask, tmp_path: Path) -> None:
    for name in ("one", "two"):
        evaluate(CASES, ask, tmp_path / name, manifest=MANIFEST)
    for file in ("rows.jsonl", "failures.jsonl", "summary.json", "summary.md"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_summary_for_programs(ask: Ask, tmp_path: Path) -> None:
    evaluate(CASES, ask, tmp_path, manifest=MANIFEST, variant="absent", levels=("L1",), seed=7)
    body = json.loads((tmp_path / "summary.json").read_text())
    assert body["cases"] == {"scored": 3, "failed": 1}
    assert body["manifest"] == MANIFEST | {
        "excluded": "nothing",
        "variant": "absent",
        "levels": ["L1"],
        "seed": 7,
        "cases": 4,
    }
    assert body["auroc"] == {"value": 1.0, "interval": [1.0, 1.0], "n": 2, "missing": 1}
    assert {*body} - {"cases", "manifest", "by_kind", "metric_errors"} == {*ABOUT} - {*map(ragas_name, RAGAS)}
    assert body["metric_errors"] == {}


def test_summary_for_people(ask: Ask, tmp_path: Path) -> None:
    evaluate(CASES, ask, tmp_path, manifest=MANIFEST)
    text = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert "3 cases scored, 1 failed." in text
    assert "| auroc | 1.000 | 1.000 to 1.000 | 2 | 1 |" in text
    assert "2 cases have no relevant gold evidence" in text
    assert re.search(r"^- .*\bauroc\b.*: 1 cases have hidden labels$", text, re.MULTILINE)
    assert "- `breaks`: NotFoundError: no dataset 'main'; import it first" in text


def test_nothing_scored_says_so_after_writing(ask: Ask, tmp_path: Path) -> None:
    with pytest.raises(
        AssayError, match=r"all 1 cases failed, see .*failures\.jsonl; the first: no dataset 'main'"
    ):
        evaluate(CASES[1:2], ask, tmp_path, manifest=MANIFEST)
    assert {file.name for file in tmp_path.iterdir()} == FILES
    assert len(lines(tmp_path / "failures.jsonl")) == 1
    assert "| ndcg@10 | – | – | 0 | 0 |" in (tmp_path / "summary.md").read_text(encoding="utf-8")


def test_a_number_that_json_has_not_is_a_failure_of_its_case(ask: Ask, tmp_path: Path) -> None:
    def infinite(request: EvalRequest) -> Trace:
        trace = ask(request)
        wrong = float("inf") if request.case.case_id == "right" else trace.answer.confidence
        return replace(trace, answer=replace(trace.answer, confidence=wrong))

    summary = evaluate(CASES, infinite, tmp_path, manifest=MANIFEST)
    assert [failure["case_id"] for failure in summary.failures] == ["right", "breaks"]
    assert [row["case_id"] for row in lines(tmp_path / "rows.jsonl")] == ["refused", "unknown"]


def test_an_interrupted_run_leaves_the_last_one_as_it_was(ask: Ask, tmp_path: Path) -> None:
    evaluate(CASES, ask, tmp_path, manifest=MANIFEST)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}

    def interrupted(request: EvalRequest) -> Trace:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate(CASES, interrupted, tmp_path, manifest=MANIFEST)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


@pytest.mark.parametrize(("variant", "hidden"), [("near-miss", frozenset()), ("absent", frozenset({"d2"}))])
def test_the_variant_hides_the_cases_own_sources(
    ask: Ask, tmp_path: Path, variant: str, hidden: frozenset[str]
) -> None:
    requests: list[EvalRequest] = []

    def noted(request: EvalRequest) -> Trace:
        requests.append(request)
        return ask(request)

    done: list[int] = []
    evaluate(
        CASES, noted, tmp_path, manifest=MANIFEST, variant=variant, levels=("L1", "L2"), progress=done.append
    )  # type: ignore[arg-type]
    assert [request.hide_sources for request in requests] == [frozenset(), frozenset(), hidden, frozenset()]
    assert {request.levels for request in requests} == {("L1", "L2")}
    assert sum(done) == len(CASES)


@pytest.mark.parametrize(
    ("chosen_by", "expected"),
    [
        ({}, ["right", "breaks", "refused", "unknown"]),
        ({"split": "dev"}, ["right", "breaks"]),
        ({"filters": ["kind=b"]}, ["breaks", "refused"]),
        ({"filters": ["kind=a, b"]}, ["right", "breaks", "refused"]),
        ({"filters": ["kind=b"], "split": "test"}, ["refused"]),
        ({"limit": 2}, ["right", "breaks"]),
        ({"limit": 1, "filters": ["kind=b"]}, ["breaks"]),
    ],
)
def test_selecting_cases(chosen_by: dict[str, object], expected: list[str]) -> None:
    assert [case.case_id for _, case in select_cases(CASES, **chosen_by)] == expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("chosen_by", "message"),
    [
        ({"split": "train"}, "no split 'train' in these cases; there are: dev, test"),
        ({"filters": ["sort=a"]}, "no tag 'sort' in these cases; there are: kind"),
        ({"filters": ["kind=c"]}, "no value of kind 'c' in these cases; there are: a, b"),
        ({"filters": ["kind"]}, "a filter is tag=value"),
        ({"filters": ["kind=a"], "split": "test"}, "no case is left"),
    ],
)
def test_an_unknown_choice_names_what_there_is(chosen_by: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        select_cases(CASES, **chosen_by)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_file_that_cannot_be_written_is_said_with_its_name(name: str, ask: Ask, tmp_path: Path) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(
        UsageError, match=rf"{name}: cannot be written: .*; make room for it, or choose another --out"
    ):
        evaluate(CASES, ask, tmp_path, manifest=MANIFEST)
    assert [file.name for file in tmp_path.glob(".*")] == [LOG], "what was asked is kept for the next run"


def test_a_killed_run_goes_on_where_it_was(ask: Ask, tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    evaluate(CASES, ask, whole, manifest=MANIFEST)
    asked: list[str] = []

    def killed_at_the_third(request: EvalRequest) -> Trace:
        if len(asked) == 2:
            raise KeyboardInterrupt
        asked.append(request.case.case_id)
        return ask(request)

    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        evaluate(CASES, killed_at_the_third, out, manifest=MANIFEST)
    assert [file.name for file in out.iterdir()] == [LOG]
    with (out / LOG).open("a", encoding="utf-8") as file:
        file.write('{"key": ["main", "refus')  # the kill cut a line
    again: list[str] = []

    def noted(request: EvalRequest) -> Trace:
        again.append(request.case.case_id)
        return ask(request)

    finished: list[int] = []
    evaluate(CASES, noted, out, manifest=MANIFEST, progress=finished.append)
    assert again == ["breaks", "refused", "unknown"], "what failed is tried again, what was scored is not"
    assert sum(finished) == len(CASES)
    assert {file.name for file in out.iterdir()} == FILES
    for name in ("rows.jsonl", "failures.jsonl", "summary.json"):
        assert (out / name).read_bytes() == (whole / name).read_bytes()


def test_a_log_of_other_settings_is_not_gone_on_with(ask: Ask, tmp_path: Path) -> None:
    def interrupted(request: EvalRequest) -> Trace:
        if request.case.case_id == "refused":
            raise KeyboardInterrupt
        return ask(request)

    with pytest.raises(KeyboardInterrupt):
        evaluate(CASES, interrupted, tmp_path, manifest=MANIFEST)
    asked: list[str] = []

    def noted(request: EvalRequest) -> Trace:
        asked.append(request.case.case_id)
        return ask(request)

    evaluate(CASES, noted, tmp_path, manifest=MANIFEST | {"profile": "default"})
    assert len(asked) == len(CASES)


def test_several_at_once_change_no_byte(ask: Ask, tmp_path: Path) -> None:
    many = [("main", replace(CASES[0][1], case_id=f"c{n}")) for n in range(60)]

    def slow_then_fast(request: EvalRequest) -> Trace:
        time.sleep(0.01 if int(request.case.case_id[1:]) % 2 else 0)
        return replace(ask(request), times_ms={})

    evaluate(many, slow_then_fast, tmp_path / "one", manifest=MANIFEST)
    evaluate(many, slow_then_fast, tmp_path / "eight", manifest=MANIFEST, concurrency=8)
    for name in FILES:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "eight" / name).read_bytes()


def test_repeats_are_numbered_and_stay_in_their_cluster(ask: Ask, tmp_path: Path) -> None:
    summary = evaluate(CASES[:1], ask, tmp_path, manifest=MANIFEST, repeats=3)
    assert [row["repeat"] for row in lines(tmp_path / "rows.jsonl")] == [0, 1, 2]
    assert summary.manifest["repeats"] == 3
    assert len({row["cluster"] for row in lines(tmp_path / "rows.jsonl")}) == 1


def test_a_spent_budget_stops_the_run_and_loses_nothing(ask: Ask, tmp_path: Path) -> None:
    def poor(request: EvalRequest) -> Trace:
        if request.case.case_id == "refused":
            raise BudgetSpentError("0.1 USD are spent")
        return ask(request)

    with pytest.raises(BudgetSpentError):
        evaluate(CASES, poor, tmp_path, manifest=MANIFEST)
    assert [file.name for file in tmp_path.iterdir()] == [LOG], "no summary of half a run"
    asked: list[str] = []

    def rich(request: EvalRequest) -> Trace:
        asked.append(request.case.case_id)
        return ask(request)

    evaluate(CASES, rich, tmp_path, manifest=MANIFEST)
    assert "right" not in asked
