"""`assay ask --chat`, `assay inferences`, `assay trajectory`: a model's calls on the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from core.journal import Journal
from core.store import Store
from workbench.cli import assay

RUN = CliRunner()
SCRIPT = [
    {"stage": "query", "contains": "<graph>", "reply": {"answer": "At Meridian.", "edges": [1]},
     "usage": {"input_tokens": 900, "output_tokens": 40}},
    {"stage": "query", "contains": "Why do", "reply": "The buffer was 10KB [mem:n1]. Nobody said this. [mem:n99]",
     "usage": {"input_tokens": 700, "output_tokens": 30}},
    {"stage": "query", "outcome": "truncated"},
]  # fmt: skip


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "assay.db"))
    monkeypatch.setenv("ASSAY_EMBEDDER", "wordllama")
    (tmp_path / "script.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in SCRIPT), encoding="utf-8"
    )
    log = [
        {
            "kind": "node",
            "level": "L0",
            "source": "log",
            "turn": "t1",
            "text": "Requests over 10KB fail at the proxy.",
        }
    ]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in log), encoding="utf-8")
    brought = RUN.invoke(assay, ["ingest", str(tmp_path / "log.jsonl"), "--dataset", "main"])
    assert brought.exit_code == 0, brought.output
    return tmp_path


def ask(db: Path, question: str, *more: str) -> str:
    chat = f"scripted:{db / 'script.jsonl'}"
    result = RUN.invoke(assay, ["ask", question, "--chat", chat, "--profile", "seed", *more])
    if result.exception:
        raise result.exception
    return result.output


def test_an_answer_by_a_model_shows_its_evidence_and_its_doubts(db: Path) -> None:
    said = ask(db, "Why do requests over 10KB fail at the proxy?")
    assert "The buffer was 10KB [1]." in said
    assert "unsupported: Nobody said this." in said
    assert "not sent: n99" in said
    assert "written by scripted" in said


def test_calls_are_listed_with_their_tokens_and_one_is_shown_whole(db: Path) -> None:
    ask(db, "Why do requests over 10KB fail at the proxy?", "--session", "chat-42")
    listed = json.loads(RUN.invoke(assay, ["inferences", "--session", "chat-42", "--format", "json"]).output)
    assert [(row["stage"], row["input_tokens"], row["outcome"]) for row in listed] == [
        ("query", 700, "ok"),
        ("embed", 0, "ok"),
    ]
    assert "700 tokens in, 30 out" in RUN.invoke(assay, ["inferences"]).output
    shown = RUN.invoke(assay, ["trajectory", listed[0]["trajectory_id"][:9]]).output
    assert "session chat-42" in shown
    assert "recall" in shown
    assert (
        json.loads(RUN.invoke(assay, ["trajectory", "--session", "nobody's", "--format", "json"]).output)
        == []
    )


def test_a_call_that_failed_is_kept_too(db: Path) -> None:
    from core.models.chat import ChatError

    with pytest.raises(ChatError):
        ask(db, "Which requests over 10KB fail at the proxy?")
    rows = json.loads(RUN.invoke(assay, ["inferences", "--format", "json"]).output)
    assert rows[0]["outcome"] == "truncated"
    calls = json.loads(RUN.invoke(assay, ["trajectory", "--format", "json"]).output)
    assert (calls[0]["outcome"], calls[0]["detail"][:9]) == ("error", "ChatError")


def test_an_unknown_trajectory_says_what_to_do(db: Path) -> None:
    from core.errors import NotFoundError

    result = RUN.invoke(assay, ["trajectory", "zzz"])
    assert isinstance(result.exception, NotFoundError)
    assert "assay inferences" in str(result.exception)


def test_calls_of_one_second_are_listed_the_latest_first(tmp_path: Path) -> None:
    with Store.open(tmp_path / "calls.db") as store:
        made = [Journal(kind="query", started_at=f"2025-01-31T09:00:05.{ms:03}Z") for ms in (1, 2, 3, 4, 5)]
        for journal in made:
            store.journals.save(journal, lambda model, usage: None)
        listed = store.journals.trajectories("local")
    assert [call.trajectory_id for call in listed] == [journal.trajectory_id for journal in reversed(made)]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", Journal(kind="query").started_at)


def test_a_call_without_a_model_is_kept_with_its_session(db: Path) -> None:
    RUN.invoke(assay, ["remember", "Requests fail.", "--session", "chat-7"])
    RUN.invoke(assay, ["ask", "Why do requests fail?", "--session", "chat-7"])
    listed = RUN.invoke(assay, ["trajectory", "--session", "chat-7", "--format", "json"])
    assert [call["kind"] for call in json.loads(listed.stdout)] == ["query", "remember"]
