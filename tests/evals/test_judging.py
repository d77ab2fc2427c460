"""Who judges a run beside our own metrics: an entailment model for support, ragas for its own figures."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from core.cli import ingest
from core.errors import ModelError, UsageError
from core.trace import Answer, Trace
from evals import ragas_adapter
from evals.cases import Case, Gold
from evals.cli import eval_, score
from evals.judging import Judges
from evals.legend import RAGAS
from evals.scoring import scored
from tests.shipped import part

pytestmark = [
    # ragas makes up an id of its user, which is never sent, and leaves the file it keeps it in open
    pytest.mark.filterwarnings(r"ignore:unclosed file .*ragas/uuid\.json:ResourceWarning"),
    pytest.mark.filterwarnings(r"ignore:.*ragas/uuid\.json:pytest.PytestUnraisableExceptionWarning"),
]
ROOT = Path(__file__).resolve().parents[2]
REPLIES = f"scripted:{ROOT / 'evals' / 'baselines' / 'meridian-replies.jsonl'}"
MakeTrace = Callable[..., Trace]
CASE = Case(
    case_id="c", question="q", answers=("1999",), gold=(Gold(source="d1", quote="It opened in 1999."),)
)


def read_rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


nli = pytest.mark.skipif(
    find_spec("sentence_transformers") is None, reason="the extra cross-encoder is not installed"
)


@pytest.fixture(scope="module")
def meridian(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("judging")
    replies = (ROOT / "evals" / "baselines" / "meridian-replies.jsonl").read_text(encoding="utf-8")
    questions = {one for line in replies.splitlines() for one in json.loads(line)["contains"]}
    ingest([part(folder, about=20, questions=questions)], dataset="meridian", db=folder / "assay.db")
    return folder / "assay.db"


def test_the_legend_knows_all_that_ragas_can_be_asked() -> None:
    assert list(RAGAS) == [*ragas_adapter.OFFLINE, *ragas_adapter.BY_MODEL]


def test_ragas_stands_beside_our_figures_and_a_null_is_no_zero(make_trace: MakeTrace) -> None:
    trace = make_trace([("d2", None), ("d1", None)], Answer(text="In 1999.", abstained=False))
    judges = Judges.named(ragas="id_based_context_precision,offline")
    assert judges.ragas[0] == "id_based_context_precision"
    assert len(judges.ragas) == len(ragas_adapter.OFFLINE)
    row = judges.row(CASE, "main", trace)
    assert {name: row[name] for name in scored(CASE, "main", trace)} == {
        **scored(CASE, "main", trace),
        "metric_errors": {},
    }
    assert (row["ragas_id_based_context_precision"], row["ragas_id_based_context_recall"]) == (0.5, 1.0)
    silent = judges.row(CASE, "main", replace(trace, answer=Answer(text="No.", abstained=True)))
    assert silent["ragas_rouge_score"] is None


def test_what_breaks_in_ragas_is_said_and_no_zero(
    make_trace: MakeTrace, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*given: object) -> float:
        raise RuntimeError("no such luck")

    monkeypatch.setattr(ragas_adapter, "_by_itself", broken)
    trace = make_trace([("d1", None)], Answer(text="In 1999.", abstained=False))
    row = Judges(ragas=("id_based_context_recall",)).row(CASE, "main", trace)
    assert row["ragas_id_based_context_recall"] is None
    assert "no such luck" in row["metric_errors"]["ragas_id_based_context_recall"]


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        ({"ragas": "faith"}, UsageError, "no ragas metric 'faith'; there are id_based"),
        ({"ragas": " , "}, UsageError, "no metric of ragas in ' , '; there are offline, id_based"),
        ({"ragas": "faithfulness"}, UsageError, "is judged by a model; name one"),
        ({"ragas": "faithfulness", "ragas_model": "m"}, ModelError, "OPENAI_API_KEY is not set"),
        ({"entailment": "bert"}, UsageError, "no entailment model 'bert'; there is cross-encoder:NAME"),
    ],
)
def test_judges_that_cannot_be_had_are_refused_before_anything_is_asked(
    given: dict[str, str], kind: type[Exception], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(kind, match=message):
        Judges.named(**given)


def test_a_run_carries_what_ragas_says(
    meridian: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the command: in the rows, the summary's table and the manifest; the same numbers as the adapter alone gives."""
    eval_("meridian", tmp_path, db=meridian, embedder="minilm", chat=REPLIES, ragas="offline")
    said = capsys.readouterr().out
    assert "## ragas" in said
    assert "| ragas_non_llm_context_recall |" in said
    rows = read_rows(tmp_path / "rows.jsonl")
    body = json.loads((tmp_path / "summary.json").read_text())
    assert body["manifest"]["ragas"] == list(ragas_adapter.OFFLINE)
    figure = body["ragas_non_llm_context_recall"]
    known = [row["ragas_non_llm_context_recall"] for row in rows]
    known = [value for value in known if value is not None]
    assert 0 < figure["n"] == len(known) < len(rows)
    assert figure["missing"] == len(rows) - len(known)
    assert figure["value"] == pytest.approx(sum(known) / len(known))


@nli
def test_an_entailment_model_judges_the_sentences_of_a_run(
    meridian: Path, tmp_path: Path, tiny_nli: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = f"cross-encoder:{tiny_nli}"
    for name, judge in (("words", None), ("model", model)):
        eval_("meridian", tmp_path / name, db=meridian, embedder="minilm", chat=REPLIES, entailment=judge)
    capsys.readouterr()
    words, judged = (
        {row["case_id"]: row["support"] for row in read_rows(tmp_path / name / "rows.jsonl")}
        for name in ("words", "model")
    )
    written = {case_id for case_id, value in words.items() if value is not None}
    assert written
    assert {case_id for case_id, value in judged.items() if value is not None} == written
    assert all(judged[case_id] != words[case_id] for case_id in written)
    manifest = json.loads((tmp_path / "model" / "summary.json").read_text())["manifest"]
    assert manifest["entailment"] == model


@nli
def test_it_judges_anybodys_answers_too(
    meridian: Path, tmp_path: Path, tiny_nli: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = json.loads((ROOT / "datasets" / "meridian" / "cases.jsonl").read_text().splitlines()[0])
    answers = tmp_path / "answers.jsonl"
    cited = case["gold"][0]["source"]
    line = {"case_id": case["case_id"], "answer": "The harbour is blue.", "citations": [cited]}
    answers.write_text(json.dumps(line) + "\n")
    score(answers, "meridian", tmp_path / "run", db=meridian, entailment=f"cross-encoder:{tiny_nli}", limit=1)
    capsys.readouterr()
    (row,) = read_rows(tmp_path / "run" / "rows.jsonl")
    assert 0 < row["support"] < 1
