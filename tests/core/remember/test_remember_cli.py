"""`assay remember` and `mem synthesize`, as they are called."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from core.cli import mem
from core.command import run
from workbench.cli import assay

EXTRACTION = {
    "entities": [{"name": "Alice", "type": "person"}, {"name": "Acme", "type": "organization"}],
    "facts": [{"source": "Alice", "relation": "works_at", "target": "Acme", "valid_at": "2023"}],
}
LINES = [
    {"stage": "extract", "contains": "joined Acme", "reply": EXTRACTION, "usage": {"input_tokens": 11}},
    {"stage": "extract", "contains": "broken", "reply": "no JSON"},
    {
        "stage": "synthesize",
        "contains": "joined",
        "reply": {"notes": [{"text": "Alice is at Acme.", "turns": [1]}]},
    },
    {"stage": "synthesize", "reply": "no JSON"},
]


@pytest.fixture
def call(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """``call("remember", …)`` → (exit code, stdout, stderr), in a database of its own."""
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "assay.db"))
    monkeypatch.setenv("ASSAY_EMBEDDER", "wordllama")
    monkeypatch.delenv("ASSAY_CHAT", raising=False)
    script = tmp_path / "script.jsonl"
    script.write_text("\n".join(map(json.dumps, LINES)), encoding="utf-8")

    def invoke(*words: str, app: Any = assay) -> tuple[int, str, str]:
        words = tuple(word.replace("SCRIPT", f"scripted:{script}") for word in words)
        monkeypatch.setattr(sys, "argv", ["command", *words])
        with pytest.raises(SystemExit) as ended:
            run(app)
        said = capsys.readouterr()
        return int(ended.value.code or 0), said.out, said.err

    return invoke


def test_remember_then_ask(call: Any) -> None:
    code, out, _ = call("remember", "Alice joined Acme in 2023.", "-d", "mine", "--session", "s1", "--valid-at", "2024",
                        "--chat", "SCRIPT", "--format", "json")  # fmt: skip
    assert code == 0
    assert json.loads(out) == {"artifact_id": 1, "chunks": 1, "entities": 2, "edges": 1, "superseded": 0,
                               "extracted": True, "session_id": "s1", "notices": []}  # fmt: skip
    _, out, _ = call(
        "ask", "Where does Alice work?", "-d", "mine", "-r", "graph", "-p", "seed", "--format", "json"
    )
    assert json.loads(out)["answer"]["evidence"][0]["fact"]["target"] == "Acme"
    _, out, _ = call("inferences", "--session", "s1", "--format", "json")
    [inference] = json.loads(out)
    assert (inference["type"], inference["stage"], inference["input_tokens"]) == ("remember", "extract", 11)


def test_remember_without_a_model_says_so(call: Any) -> None:
    code, out, _ = call("remember", "Alice joined Acme in 2023.")
    assert code == 0
    assert out.startswith("artifact 1 in main: 1 chunks, 0 entities, 0 facts, 0 superseded\nnote: No model")


def test_remember_reads_files_and_stdin(call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "note.txt"
    file.write_bytes("\ufeffÄpfel am Kai".encode())
    assert call("remember", "--file", str(file))[0] == 0
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("Äpfel am Kai".encode())))
    code, out, _ = call("remember", "-")
    assert (code, "before" in out) == (0, True)  # the same text: the mark at its start is none of it


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([], "give the text"),
        (["Text.", "--file", "x"], "one of them"),
        (["--file", "absent.txt"], "absent.txt"),
        (["  "], "the text is empty"),
        (["Text.", "--valid-at", "soon"], "not a date or time: 'soon'"),
        (["Text.", "--same-entity", "2"], "resolve.min_cosine must be"),
        (["Text.", "--session", "a\nb"], "control characters"),
        (["Text.", "--chat", "nobody"], "no chat model 'nobody'"),
        (["This is broken.", "--chat", "SCRIPT"], "stage extract cannot be used"),
    ],
)
def test_remember_ends_in_one_line(call: Any, words: list[str], why: str) -> None:
    code, out, err = call("remember", *words)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert why in err


def test_text_that_is_not_utf_8_is_named_by_its_place(call: Any, tmp_path: Path) -> None:
    file = tmp_path / "latin.txt"
    file.write_bytes(b"caf\xe9")
    code, _, err = call("remember", "--file", str(file))
    assert (code, "latin.txt: not UTF-8 at byte 4" in err) == (2, True)


def test_synthesize_by_both_commands(call: Any) -> None:
    call("remember", "Alice joined Acme in 2023.", "-d", "mine", "--source", "doc")
    code, out, _ = call("synthesize", "--project", "mine", app=mem)
    assert (code, out.splitlines()[0]) == (
        0, "L1 of mine: 1 notes with 1 links from 1 windows, 0 had theirs, 0 failed, 0 notes replaced")  # fmt: skip
    code, out, _ = call("synthesize", "-d", "mine", "--level", "L1", "--chat", "SCRIPT", "--format", "json")
    body = json.loads(out)
    assert (code, body["notes"], body["removed"], body["by_model"]) == (0, 1, 1, True)
    _, out, _ = call(
        "query", "--project", "mine", "Where is Alice?", "-p", "seed", "--format", "json", app=mem
    )
    [hit] = json.loads(out)["hits"]
    assert (hit["text"], hit["level"], hit["provenance"][0]["source"]) == ("Alice is at Acme.", "L1", "doc")


def test_synthesize_that_failed_somewhere_ends_with_1(call: Any) -> None:
    call("remember", "Something else entirely.", "-d", "mine")
    code, out, _ = call("synthesize", "-d", "mine", "--chat", "SCRIPT")
    assert code == 1
    assert "1 failed" in out
    assert "stage synthesize cannot be used" in out


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["-d", "absent"], "no dataset 'absent'"),
        (["-d", "mine", "--level", "L2", "--session", "s"], "session selects"),
        (["-d", "mine", "--by", "topic"], "L1 is made by source"),
        (["-d", "mine", "--level", "L0"], "L0"),
    ],
)
def test_synthesize_ends_in_one_line(call: Any, words: list[str], why: str) -> None:
    call("remember", "Text.", "-d", "mine")
    code, out, err = call("synthesize", *words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert why in err
