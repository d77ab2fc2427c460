"""Runs over a real store, indexes and recipes: small ones with a toy embedder, and a slice of CLAPnq with MiniLM."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import pytest

from core import profile as profiles
from core.ingest.ingestor import ingest
from core.ingest.items import ArtifactItem, CaseItem, Item
from core.models.base import Embedder
from core.profile import Profile
from core.store import Store
from core.trace import Recipe, Trace
from core.workspace import Workspace
from evals.cases import Case, Gold
from evals.formats import loader
from evals.runs import EvalRequest, LabelledCase, evaluate

MANIFEST = {"dataset": "main", "recipe": "brain", "profile": "seed"}


def asking(workspace: Workspace, recipe: Recipe, profile: Profile) -> Callable[[EvalRequest], Trace]:
    def ask(request: EvalRequest) -> Trace:
        return workspace.ask(
            request.case.question, dataset=request.dataset, recipe=recipe, profile=profile, levels=request.levels,
            hide_sources=request.hide_sources, as_of=request.case.as_of,
        )  # fmt: skip

    return ask


def labelled(items: list[Item]) -> list[LabelledCase]:
    return [("main", Case.from_body(item.body)) for item in items if isinstance(item, CaseItem)]


def rows_of(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "rows.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("recipe", ["brain", "memory"])
def test_equal_scores_and_equal_ids_cost_nothing(
    recipe: Recipe, make_workspace: Callable[..., Workspace], shared_cases: Path, tmp_path: Path
) -> None:
    items = [item for _, _, item in loader("beir")(shared_cases / "beir_same_ids")]
    profile = profiles.load("seed", recipe).with_values({"rerank.method": "none"})
    ask = asking(make_workspace(items), recipe, profile)
    summary = evaluate(labelled(items), ask, tmp_path / "out", manifest=MANIFEST, levels=("L0",))
    (row,) = rows_of(tmp_path / "out")
    assert len(set(row["ranking"])) == 10  # type: ignore[arg-type]
    for name in ("ndcg@10", "map", "recall@10", "precision@10", "mrr"):
        assert summary.figures[name].value == 1.0


PASSAGES = [
    ArtifactItem(source=f"p{n}", text=f"Pump {word} is serviced in {month}.", whole=True)
    for n, (word, month) in enumerate((("alpha", "May"), ("beta", "June"), ("gamma", "July")))
]
ASKED: list[LabelledCase] = [
    ("main", Case(case_id=f"c{n}", question=f"When is pump {word} serviced?", gold=(Gold(source=f"p{n}"),)))
    for n, word in enumerate(("alpha", "beta", "gamma"))
]


def test_two_stores_and_a_reopened_one_give_the_same_bytes(bag_embedder: Embedder, tmp_path: Path) -> None:
    for run, folder in (("first", "a"), ("second", "b"), ("reopened", "a")):
        with Workspace.open(tmp_path / folder / "assay.db", embedder=bag_embedder) as workspace:
            ingest(workspace.store, "main", [(item.source, item) for item in PASSAGES])
            ask = asking(workspace, "brain", profiles.load("seed", "brain"))
            evaluate(ASKED, ask, tmp_path / run, manifest=MANIFEST)
    assert [row["mrr"] for row in rows_of(tmp_path / "first")] == [1.0, 1.0, 1.0]
    for file in ("rows.jsonl", "failures.jsonl", "summary.json", "summary.md"):
        assert len({(tmp_path / run / file).read_bytes() for run in ("first", "second", "reopened")}) == 1


def test_a_case_that_cannot_be_asked_changes_no_figure_of_the_others(
    make_workspace: Callable[..., Workspace], tmp_path: Path
) -> None:
    ask = asking(make_workspace(PASSAGES), "brain", profiles.load("seed", "brain"))
    broken = ("main", Case(case_id="broken", question="?", gold=(Gold(source="p0"),), as_of="the day before"))
    elsewhere = ("gone", Case(case_id="gone", question="When?", answerable=False))
    alone = evaluate(ASKED, ask, tmp_path / "alone", manifest=MANIFEST)
    beside = evaluate([broken, *ASKED, elsewhere], ask, tmp_path / "beside", manifest=MANIFEST)
    assert beside.figures == alone.figures
    assert [(failure["case_id"], failure["error"]) for failure in beside.failures] == [
        ("broken", "UsageError"), ("gone", "NotFoundError"),
    ]  # fmt: skip
    rows = [(tmp_path / name / "rows.jsonl").read_bytes() for name in ("alone", "beside")]
    assert rows[0] == rows[1]


def test_labels_that_are_taken_away_or_swapped_are_noticed(
    make_workspace: Callable[..., Workspace], tmp_path: Path
) -> None:
    """Each of the figures falls when the label it rests on is wrong."""
    ask = asking(
        make_workspace(PASSAGES), "brain", profiles.load("seed", "brain").with_values({"select.k": 1})
    )
    swapped = [
        (dataset, Case(case_id=case.case_id, question=case.question, gold=(Gold(source=source),)))
        for (dataset, case), source in zip(ASKED, ("p1", "p2", "p0"), strict=True)
    ]
    right = evaluate(ASKED, ask, tmp_path / "right", manifest=MANIFEST).figures
    wrong = evaluate(swapped, ask, tmp_path / "wrong", manifest=MANIFEST).figures
    for name in ("hit@1", "mrr", "citation_precision", "citation_recall", "correct"):
        assert right[name].value == 1.0, name
        assert wrong[name].value is not None
        assert wrong[name].value < 0.6, name
    assert (right["aurc"].value, wrong["aurc"].value) == (0.0, 1.0)


@pytest.fixture(scope="module")
def slice_of_clapnq(
    public_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Workspace, list[LabelledCase]]]:
    """The first questions of either file with their passages, embedded by MiniLM."""
    folder = tmp_path_factory.mktemp("clapnq")
    for name, count in (("dev_answerable.jsonl", 16), ("dev_unanswerable.jsonl", 10)):
        with (public_data / "clapnq" / name).open(encoding="utf-8") as file:
            (folder / name).write_text("".join(islice(file, count)), encoding="utf-8")
    rows = list(loader("clapnq")(folder))
    with Store.open(folder / "assay.db") as store:
        ingest(store, "main", [(where, item) for _, where, item in rows])
    workspace = Workspace.open(folder / "assay.db", embedder="minilm")
    yield workspace, labelled([item for _, _, item in rows])  # type: ignore[misc]
    workspace.close()


def test_gold_stands_in_the_stored_text(slice_of_clapnq: tuple[Workspace, list[LabelledCase]]) -> None:
    workspace, cases = slice_of_clapnq
    dataset = workspace.store.dataset("main")
    corpus = workspace.corpus("node", [dataset])
    nodes = {node.source: node for node in workspace.store.nodes(corpus.columns.row_ids.tolist())}
    spans = [gold for _, case in cases for gold in case.citations]
    assert len(spans) > 25
    for gold in spans:
        assert nodes[gold.source].text[gold.start : gold.end] == gold.quote


def test_maxsim_reorders_and_keeps_the_gold_on_top(
    slice_of_clapnq: tuple[Workspace, list[LabelledCase]], tmp_path: Path
) -> None:
    workspace, cases = slice_of_clapnq
    asked = [(dataset, case) for dataset, case in cases if case.answerable][:12]
    reranked = profiles.load("maxsim", "brain")
    plain = reranked.with_values({"rerank.method": "none"})
    figures = {
        name: evaluate(asked, asking(workspace, "brain", profile), tmp_path / name, manifest=MANIFEST).figures
        for name, profile in (("plain", plain), ("reranked", reranked))
    }
    before, after = (rows_of(tmp_path / name) for name in ("plain", "reranked"))
    assert any(one["ranking"] != other["ranking"] for one, other in zip(before, after, strict=True))
    assert all(set(one["citations"]) for one in after if not one["abstained"])  # type: ignore[call-overload]
    for name in figures:
        mrr, correct = figures[name]["mrr"].value, figures[name]["correct"].value
        assert mrr is not None
        assert correct is not None
        assert mrr >= 0.9
        assert correct >= 0.5


def test_the_reranker_prefers_the_passage_that_answers(
    slice_of_clapnq: tuple[Workspace, list[LabelledCase]],
) -> None:
    """Its own scores, alone: the gold passage has the best of the pool for nearly every question."""
    workspace, cases = slice_of_clapnq
    profile = profiles.load("maxsim", "brain").with_values({"rerank.weight": 1.0})
    best = []
    for _, case in [pair for pair in cases if pair[1].answerable][:8]:
        trace = workspace.ask(case.question, dataset="main", recipe="brain", profile=profile)
        space = trace.spaces["rerank"]
        scores = {candidate.source: candidate.scores[space] for candidate in trace.candidates}
        best.append(max(scores, key=scores.__getitem__) == case.gold[0].source)
        assert trace.candidate(trace.ranking[0]).source == max(scores, key=scores.__getitem__)
    assert sum(best) >= 7


def test_absent_hides_the_own_passage_of_what_has_no_answer(
    slice_of_clapnq: tuple[Workspace, list[LabelledCase]], tmp_path: Path
) -> None:
    workspace, cases = slice_of_clapnq
    traces: dict[tuple[str, str], Trace] = {}
    ask = asking(workspace, "brain", profiles.load("default", "brain"))
    figures = {}
    for variant in ("near-miss", "absent"):

        def noted(request: EvalRequest, variant: str = variant) -> Trace:
            traces[variant, request.case.case_id] = ask(request)
            return traces[variant, request.case.case_id]

        figures[variant] = evaluate(
            cases, noted, tmp_path / variant, manifest=MANIFEST, variant=variant
        ).figures  # type: ignore[arg-type]
    for _, case in cases:
        near, absent = (
            {candidate.source for candidate in traces[variant, case.case_id].candidates}
            for variant in ("near-miss", "absent")
        )
        if case.answerable:
            assert near == absent
        else:
            assert set(case.hides) <= near
            assert not set(case.hides) & absent
    near_auroc, absent_auroc = figures["near-miss"]["auroc"].value, figures["absent"]["auroc"].value
    assert near_auroc is not None
    assert absent_auroc is not None
    assert absent_auroc > near_auroc  # a question whose passage is gone is easier to tell than a near miss
    assert absent_auroc > 0.9
