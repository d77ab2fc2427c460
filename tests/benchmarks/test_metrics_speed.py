"""What metrics cost over 100,000 cases, with ir-measures beside the retrieval ones."""

from __future__ import annotations

import random
from collections.abc import Callable
from time import perf_counter

import ir_measures
import numpy as np
import pytest
from ir_measures import AP, RR, P, R, Success, nDCG

from core.trace import Answer, Candidate, Evidence, Trace
from evals.cases import Case, Gold
from evals.metrics import abstention, answers, calibration, decision
from evals.metrics.retrieval_batch import measured
from evals.metrics.support import support
from evals.scoring import scored

pytestmark = pytest.mark.bench
COUNT = 100_000
DEPTH = 100
THEIR = (nDCG @ 10, R @ 5, R @ 10, P @ 10, RR, AP, Success @ 1, Success @ 10)
OUR = ("ndcg@10", "recall@5", "recall@10", "precision@10", "mrr", "map", "hit@1", "hit@10")
BEST_OF = 3


def seconds(call: Callable[[], object], times: int = 1) -> float:
    spent = []
    for _ in range(times):
        start = perf_counter()
        call()
        spent.append(perf_counter() - start)
    return min(spent)


RANX = ("ndcg@10", "recall@5", "recall@10", "precision@10", "mrr", "map", "hit_rate@1", "hit_rate@10")


def ranx_seconds(
    qrels: dict[str, dict[str, int]], run: dict[str, dict[str, float]]
) -> tuple[tuple[float, float], list[float]]:
    """What ranx takes for its own form and for the same metrics, and what it makes of them."""
    from ranx import Qrels, Run, evaluate

    few = list(qrels)[:5]  # the first call compiles
    evaluate(Qrels({n: qrels[n] for n in few}), Run({n: run[n] for n in few}), list(RANX))
    held = []
    taking = seconds(lambda: held.append((Qrels(qrels), Run(run))))
    found = []
    measuring = seconds(lambda: found.append(evaluate(*held[0], list(RANX))), BEST_OF)
    return (taking, measuring), [float(found[0][name]) for name in RANX]


@pytest.fixture(scope="module")
def questions() -> tuple[list[list[str]], list[dict[str, int]]]:
    draw = random.Random(1)
    keys = [f"doc-{number}" for number in range(20_000)]
    rankings = [draw.sample(keys, DEPTH) for _ in range(COUNT)]
    judged = [
        {key: draw.choice([0, 1, 1, 2]) for key in [*draw.sample(ranking[:60], 3), draw.choice(keys)]}
        for ranking in rankings
    ]
    return rankings, judged


@pytest.mark.filterwarnings("ignore")  # ranx warns of its own sources
def test_retrieval_is_no_slower_than_ir_measures_and_ranx(
    questions: tuple[list[list[str]], list[dict[str, int]]],
) -> None:
    """On the tenth of it that ir-measures takes in a time one waits for. ranx is given its own form, compiled before."""
    rankings, judged = (part[: COUNT // 10] for part in questions)
    run = {
        str(n): {key: float(-rank) for rank, key in enumerate(ranking)} for n, ranking in enumerate(rankings)
    }
    qrels = {str(n): dict(one) for n, one in enumerate(judged)}
    ours = seconds(lambda: measured(rankings, judged, OUR), BEST_OF)
    theirs = seconds(lambda: ir_measures.calc_aggregate(list(THEIR), qrels, run), BEST_OF)
    means = {name: float(np.nanmean(values)) for name, values in measured(rankings, judged, OUR).items()}
    relevant = {n: one for n, one in qrels.items() if any(gain > 0 for gain in one.values())}
    of_theirs = ir_measures.calc_aggregate(list(THEIR), relevant, run)
    held, of_ranx = ranx_seconds(relevant, {n: run[n] for n in relevant})
    print(
        f"\n{len(rankings):,} rankings of {DEPTH}, {len(OUR)} metrics: {ours:.2f} s, ir-measures {theirs:.2f} s, "
        f"ranx {held[0]:.2f} s to take them in and {held[1]:.2f} s"
    )
    assert list(means.values()) == pytest.approx(of_ranx, abs=1e-9)
    assert list(means.values()) == pytest.approx([of_theirs[measure] for measure in THEIR], abs=1e-9)
    assert ours <= theirs


def test_metrics_of_a_hundred_thousand_cases_take_less_than_ten_seconds(
    questions: tuple[list[list[str]], list[dict[str, int]]],
) -> None:
    rankings, judged = questions
    draw = np.random.default_rng(0)
    answerable, abstained, right = (draw.random(COUNT) < share for share in (0.6, 0.4, 0.7))
    confidence = draw.random(COUNT)
    correct = np.where(answerable, right & ~abstained, abstained)
    said = [f"It opened in {year} at the old canal" for year in draw.integers(1900, 2025, COUNT)]
    gold = [[str(year), f"in {year}"] for year in draw.integers(1900, 2025, COUNT)]

    def decisions() -> None:
        for figure in (decision.abstention_f1, decision.decision_f1, decision.balanced_accuracy,
                       decision.false_answer_rate, decision.over_refusal_rate):  # fmt: skip
            figure(answerable, abstained)
        decision.balanced_correct(answerable, correct)
        decision.g_mean(answerable, correct)
        decision.reliability(answerable, abstained, correct)

    def curves() -> None:
        abstention.auroc(confidence, answerable)
        for figure in (abstention.aurc, abstention.e_aurc):
            figure(confidence, ~right)
        abstention.coverage_at_risk(confidence, ~right, 0.1)
        abstention.risk_at_coverage(confidence, ~right, 0.8)
        calibration.brier(confidence, right)
        calibration.calibration_error(confidence, right)

    def texts() -> None:
        for one, wanted in zip(said, gold, strict=True):
            answers.exact_match(one, wanted)
            answers.token_f1(one, wanted)
            answers.contains_gold(one, wanted)
            answers.rouge_l(one, wanted)

    texts()  # what libraries take to load is no part of it
    parts = {
        "retrieval": lambda: measured(rankings, judged, (*OUR, "recall_all@10", "mrr@10")),
        "decisions": decisions,
        "confidence and calibration": curves,
        "answers": texts,
    }
    spent = {name: seconds(part) for name, part in parts.items()}
    print(f"\n{COUNT:,} cases: " + ", ".join(f"{name} {value:.2f} s" for name, value in spent.items()))
    cited = [["The old canal was dug by hand in four years, and boats of the town still go there."]]
    sentences = said[: COUNT // 10]
    judging = seconds(lambda: [support(one, cited[0]) for one in sentences]) * COUNT / len(sentences)
    print(f"support by words of {COUNT:,} sentences that a model wrote: {judging:.1f} s")
    assert sum(spent.values()) < 10


def test_a_row_costs_little_beside_its_question() -> None:
    """One case after the other, from Traces of 100 candidates, as a run does; a question itself takes milliseconds."""
    candidates = tuple(
        Candidate(candidate_id=f"c{n}", kind="node", text="", source=f"d{n}") for n in range(DEPTH)
    )
    evidence = tuple(
        Evidence(candidate_id=f"c{n}", kind="node", citation="", text="A text.", quote="A text.", start=0, end=7,
                 source=f"d{n}") for n in range(5)
    )  # fmt: skip
    trace = Trace(
        trace_id="t", question="q", datasets=("main",), recipe="brain", profile="seed", fingerprint="f", values={},
        spaces={}, candidates=candidates, stages=(), ranking=tuple(one.candidate_id for one in candidates),
        answer=Answer(text="A text.", abstained=False, evidence=evidence, confidence=0.5),
    )  # fmt: skip
    case = Case(case_id="c", question="q", gold=(Gold(source="d3"), Gold(source="d40"), Gold(source="gone")))
    count = 10_000
    spent = seconds(lambda: [scored(case, "main", trace) for _ in range(count)])
    print(
        f"\na row of all figures: {1e6 * spent / count:.0f} µs, {COUNT:,} of them {spent * COUNT / count:.1f} s"
    )
    assert spent * COUNT / count < 60
