"""This project's own gate: every recipe, on the shipped data, against the committed baselines.

A change that fails here either breaks an answer or means to change it; then `make baselines` makes the baselines anew,
and the commit says which figure moved.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer

from core.cli import ingest
from core.options import RecipeName
from evals.baseline import baseline_text, load_baseline
from evals.cli import eval_
from evals.gate_cli import gate

ROOT = Path(__file__).resolve().parents[2]
BASELINES = ROOT / "evals" / "baselines"


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped data in a store of its own, by the command users have."""
    folder = tmp_path_factory.mktemp("own")
    ingest([ROOT / "datasets" / "meridian"], dataset="meridian", db=folder / "assay.db")
    return folder


def gated(run: Path, recipe: str) -> int:
    with pytest.raises(typer.Exit) as left:
        gate(run, against=BASELINES / f"meridian-{recipe}.json", rules=BASELINES / "gate.toml")
    return left.value.exit_code


@pytest.mark.parametrize("recipe", RecipeName)
def test_no_recipe_got_worse(
    recipe: RecipeName, evaluated: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    out = evaluated / recipe.value
    eval_("meridian", out, recipe=recipe, db=evaluated / "assay.db", embedder="minilm")
    capsys.readouterr()
    assert gated(out, recipe.value) == 0, capsys.readouterr().out


def test_text_written_by_a_model_did_not_get_worse(
    evaluated: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Replies that ship: right ones, wrong ones, one unsupported, one that cites what was not sent, refusals."""
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    out = evaluated / "written"
    replies = f"scripted:{BASELINES / 'meridian-replies.jsonl'}"
    eval_(
        "meridian", out, recipe=RecipeName.brain, db=evaluated / "assay.db", embedder="minilm", chat=replies
    )
    capsys.readouterr()
    assert gated(out, "brain-written") == 0, capsys.readouterr().out
    rows = {
        row["case_id"]: row for row in map(json.loads, (out / "rows.jsonl").read_text("utf-8").splitlines())
    }
    assert rows["salesforce-seats"]["exact_match"] == 1.0
    assert rows["telemetry-store"]["exact_match"] == 0.0
    assert rows["large-requests-customers"]["invalid_citation_rate"] == 0.5
    assert rows["salesforce-decision"]["unsupported_sentence_rate"] > 0
    assert (rows["followups-queue-tool"]["abstained"], rows["followups-queue-tool"]["reason"]) == (
        True,
        "model_declined",
    )
    assert rows["uploads-lost-linden"]["reason"] == "not_supported"


def test_a_pipeline_that_got_worse_is_caught(
    evaluated: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A floor far too high: it still runs, and refuses what it could answer."""
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    profile = evaluated / "broken.toml"
    profile.write_text(
        'name = "broken"\nbase = "default"\n[brain.floor]\n'
        'min_score = { value = 0.75, space = "tfidf+cosine/minilm-l6-int8" }\n',
        encoding="utf-8",
    )
    out = evaluated / "broken"
    eval_(
        "meridian",
        out,
        recipe=RecipeName.brain,
        profile=str(profile),
        db=evaluated / "assay.db",
        embedder="minilm",
    )
    capsys.readouterr()
    assert gated(out, "brain") == 1
    assert "❌ regression | `over_refusal_rate max_rise = 0.1`" in capsys.readouterr().out


@pytest.mark.parametrize("recipe", RecipeName)
def test_a_baseline_is_as_it_would_be_written(recipe: RecipeName) -> None:
    file = BASELINES / f"meridian-{recipe.value}.json"
    baseline = load_baseline(file)
    assert baseline_text(baseline) == file.read_text(encoding="utf-8")
    assert (baseline.manifest["recipe"], baseline.manifest["profile"]) == (recipe.value, "default")
    assert baseline.failed == frozenset()
