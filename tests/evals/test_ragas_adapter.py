"""ragas on our cases: the real library, its figures against ours, what it cannot judge, and a model over HTTP."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from core.errors import ModelError, UsageError
from core.trace import Answer, Trace
from evals.cases import Case, Gold
from evals.metrics import answers, retrieval
from evals.ragas_adapter import DEPTH, OFFLINE, Sample, measured, sample
from tests.fault_server import Answer as Reply
from tests.fault_server import FaultServer, Status

pytestmark = [
    # ragas makes up an id of its user, which is never sent, and leaves the file it keeps it in open
    pytest.mark.filterwarnings(r"ignore:unclosed file .*ragas/uuid\.json:ResourceWarning"),
]
ROOT = Path(__file__).resolve().parents[2]
BY_ID = ("id_based_context_precision", "id_based_context_recall")
MakeTrace = Callable[..., Trace]
GIVEN = Sample(
    user_input="When did the mill open?", retrieved_contexts=["The mill opened in 1999.", "Sails are red."],
    reference_contexts=["The mill opened in 1999."], retrieved_context_ids=["d1", "d2"], reference_context_ids=["d1"],
    response="In the year 1999", reference="1999",
)  # fmt: skip
NOTHING = Sample(
    user_input="q", retrieved_contexts=[], reference_contexts=[], retrieved_context_ids=[], reference_context_ids=[],
    response=None, reference=None,
)  # fmt: skip


def test_a_sample_holds_what_retrieval_and_citations_are_judged_on(make_trace: MakeTrace) -> None:
    case = Case(
        case_id="c", question="q", answers=("1999", "in 1999"),
        gold=(Gold(source="d1"), Gold(source="d3"), Gold(source="d2", relevance=0)),
        citations=(Gold(source="d1", quote="opened in 1999"), Gold(source="d9", quote="opened in 1999")),
    )  # fmt: skip
    answer = Answer(text="In 1999 [mem:c0].", abstained=False)
    trace = make_trace([("d2", None), ("d1", None), ("d1", "t1")], answer)
    texts = {"c0": "two", "c1": "one", "c2": "one again"}
    trace = replace(
        trace, candidates=tuple(replace(one, text=texts[one.candidate_id]) for one in trace.candidates)
    )
    assert sample(case, trace) == Sample(
        user_input="q", retrieved_contexts=["two", "one"], reference_contexts=["opened in 1999"],
        retrieved_context_ids=["d2", "d1"], reference_context_ids=["d1", "d3"], response="In 1999.", reference="1999",
    )  # fmt: skip
    without_quotes = sample(replace(case, citations=(), answers=()), trace)
    assert without_quotes.reference_contexts == ["one"]  # d3 was not found: its words are not known
    assert without_quotes.reference is None
    assert sample(case, replace(trace, answer=Answer(text="No.", abstained=True))).response is None
    many = make_trace([(f"d{n}", None) for n in range(30)], answer)
    assert len(sample(case, many).retrieved_contexts) == DEPTH


def test_its_figures_by_id_are_ours() -> None:
    draw = np.random.default_rng(4)
    keys = [f"d{n}" for n in range(12)]
    samples = [
        replace(
            GIVEN,
            retrieved_context_ids=list(draw.choice(keys, size=draw.integers(1, 10), replace=False)),
            reference_context_ids=list(draw.choice(keys, size=draw.integers(1, 5), replace=False)),
        )
        for _ in range(40)
    ]
    found = measured(samples, BY_ID)
    for place, one in enumerate(samples):
        ranking, judged = one.retrieved_context_ids, dict.fromkeys(one.reference_context_ids, 1)
        assert found[BY_ID[0]].values[place] == pytest.approx(
            retrieval.precision(ranking, judged, len(ranking))
        )
        assert found[BY_ID[1]].values[place] == pytest.approx(retrieval.recall(ranking, judged, DEPTH))


def test_its_rouge_is_ours_on_one_gold_answer() -> None:
    texts = ["In the year 1999", "1999", "The mills opened", "nothing of it"]
    samples = [replace(GIVEN, response=text, reference="the mill opened in 1999") for text in texts]
    (figure,) = measured(samples, ["rouge_score"]).values()
    ours = [answers.rouge_l(text, ["the mill opened in 1999"]) for text in texts]
    assert figure.values == pytest.approx(ours)
    assert figure.mean == pytest.approx(np.mean(ours))


def test_what_cannot_be_judged_is_counted_and_not_averaged_away() -> None:
    unfound = replace(GIVEN, retrieved_context_ids=[])
    unlabelled = replace(GIVEN, reference_context_ids=[])
    found = measured([GIVEN, NOTHING, unfound, unlabelled], [*BY_ID, "rouge_score"])
    precision, recall, rouge = found.values()
    np.testing.assert_equal(precision.values, [0.5, np.nan, np.nan, np.nan])
    np.testing.assert_equal(recall.values, [1, np.nan, 0, np.nan])
    assert [figure.not_judged for figure in found.values()] == [3, 2, 1]
    assert (precision.mean, recall.mean) == (0.5, 0.5)
    assert rouge.errors == {}
    assert measured([NOTHING], BY_ID)[BY_ID[0]].mean is None
    assert measured([], BY_ID)[BY_ID[0]].values.shape == (0,)


def test_contexts_are_compared_without_a_model() -> None:
    pytest.importorskip("rapidfuzz", reason="ragas' metrics of contexts without a model need rapidfuzz")
    names = ("non_llm_context_precision", "non_llm_context_recall")
    missed = replace(GIVEN, retrieved_contexts=["Sails are red.", "The mill opened in 1998."])
    precision, recall = measured([GIVEN, missed, NOTHING], names).values()
    np.testing.assert_allclose(precision.values, [1, 1 / 2, np.nan], atol=1e-6)
    np.testing.assert_allclose(recall.values, [1, 1, np.nan], atol=1e-6)


def in_a_process(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    return done.stdout


def test_ragas_comes_late_reports_nothing_and_says_what_is_missing() -> None:
    code = (
        "import sys, evals.ragas_adapter as ours\nprint('ragas' in sys.modules)\n"
        "sys.modules['rapidfuzz'] = None\nfrom core.errors import ModelError\n"
        "try:\n    ours.measured([], ['non_llm_context_recall'])\nexcept ModelError as error:\n    print(error)\n"
        "from ragas._analytics import do_not_track\nprint(do_not_track())"
    )
    before, missing, silent = in_a_process(code).splitlines()
    assert (before, silent) == ("False", "True")
    assert missing.startswith("ragas' non_llm_context_recall needs rapidfuzz: pip install rapidfuzz")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["faith"], "no ragas metric 'faith'; there are id_based_context_precision, "),
        (["faithfulness"], "ragas' faithfulness is judged by a model; name one, or choose from id_based"),
    ],
)
def test_a_metric_that_cannot_be_taken_is_refused(names: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        measured([GIVEN], names)


def test_without_a_key_no_model_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ModelError, match="OPENAI_API_KEY is not set; set it, or choose from"):
        measured([GIVEN], ["faithfulness"], model="gpt-4o-mini")


def reply(**said: object) -> Reply:
    return Reply(text=json.dumps(said))


def test_a_model_judges_faithfulness(chat_server: FaultServer) -> None:
    verdicts = [{"statement": "a", "reason": "r", "verdict": verdict} for verdict in (1, 0, 1)]
    chat_server.will(reply(statements=["a", "b", "c"]), reply(statements=verdicts))
    (figure,) = measured([GIVEN, NOTHING], ["faithfulness"], model="gpt-4o-mini").values()
    np.testing.assert_allclose(figure.values, [2 / 3, np.nan])
    assert (figure.errors, figure.not_judged) == ({}, 1)
    assert [path for path, _ in chat_server.requests] == [
        "/v1/chat/completions"
    ] * 2  # nothing is asked of nothing
    assert "The mill opened in 1999." in str(chat_server.bodies[1]["messages"])


def test_a_model_judges_what_was_found(chat_server: FaultServer) -> None:
    chat_server.will(reply(reason="r", verdict=0), reply(reason="r", verdict=1))
    (figure,) = measured([GIVEN], ["context_precision"], model="gpt-4o-mini").values()
    assert figure.values[0] == pytest.approx(1 / 2, abs=1e-6)  # the second of two is useful
    chat_server.will(
        reply(
            classifications=[{"statement": "a", "reason": "r", "attributed": value} for value in (1, 1, 0, 0)]
        )
    )
    (figure,) = measured([GIVEN], ["context_recall"], model="gpt-4o-mini").values()
    assert figure.values[0] == pytest.approx(1 / 2)


def test_a_judgement_that_fails_is_said_for_its_case(chat_server: FaultServer) -> None:
    chat_server.will(Status(code=401, message="bad key"))
    (figure,) = measured([GIVEN, NOTHING], ["faithfulness"], model="gpt-4o-mini").values()
    assert list(figure.errors) == [0]
    assert "bad key" in figure.errors[0]
    assert "sk-test" not in figure.errors[0]
    assert (figure.mean, figure.not_judged) == (None, 1)


def test_every_offline_metric_says_what_it_needs() -> None:
    fields = set(Sample.__slots__)
    assert all(set(needs) <= fields for needs, _ in OFFLINE.values())
    assert find_spec("ragas") is not None
