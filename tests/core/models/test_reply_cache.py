"""Replies kept in a folder: which requests are the same, what is never kept, damage, and recordings for CI."""

from __future__ import annotations

import json
import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from core.errors import DataError
from core.journal import Journal
from core.models.anthropic_chat import AnthropicChat
from core.models.chat import ChatError, ChatReply, ChatRequest, Usage
from core.models.openai_chat import OpenAIChat
from core.models.registry import chat
from core.models.reply_cache import CachedChat, export
from core.models.scripted_chat import Scripted
from tests.fault_server import Answer, FaultServer, Status

REQUEST = ChatRequest(system="Answer.", prompt="Why does it rain?", stage="query")
SPENT = Usage(input_tokens=11, output_tokens=7)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "replies"


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_the_same_request_is_asked_once_also_by_the_next_process(chat_server: FaultServer, folder: Path):
    first = CachedChat(AnthropicChat(), folder).reply(REQUEST)
    again = CachedChat(AnthropicChat(), folder).reply(REQUEST)
    named = CachedChat(AnthropicChat(), folder).reply(replace(REQUEST, model="claude-haiku-5-5"))
    assert first == ChatReply(text="Clouds carry rain.", model="claude-haiku-5-5", usage=SPENT)
    assert again == named == replace(first, usage=Usage(), cached=True)
    assert len(chat_server.requests) == 1
    (file,) = files(folder)
    assert "Why does it rain" not in file.read_text()


@pytest.mark.parametrize(
    "change",
    [
        {"system": "Answer!"},
        {"prompt": "Why does it rain? "},
        {"stage": "brain"},
        {"model": "claude-sonnet-5-5"},
        {"reasoning": "low"},
        {"max_tokens": 2047},
    ],
    ids=lambda change: next(iter(change)),
)
def test_any_change_is_another_request(chat_server: FaultServer, folder: Path, change: dict[str, object]):
    model = CachedChat(AnthropicChat(), folder)
    model.reply(REQUEST)
    assert not model.reply(replace(REQUEST, **change)).cached
    assert len(chat_server.requests) == 2
    assert model.reply(REQUEST).cached


def test_another_endpoint_is_another_request(
    chat_server: FaultServer, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    CachedChat(AnthropicChat("m"), folder).reply(REQUEST)
    CachedChat(OpenAIChat("m"), folder).reply(REQUEST)
    monkeypatch.setenv("OPENAI_BASE_URL", chat_server.url.replace("127.0.0.1", "localhost") + "/v1")
    CachedChat(OpenAIChat("m"), folder).reply(REQUEST)
    assert len(chat_server.requests) == len(files(folder)) == 3


@pytest.mark.parametrize("behaviour", [Status(code=400), Answer(stop="truncated"), Answer(text="")])
def test_an_error_is_never_kept(chat_server: FaultServer, folder: Path, behaviour: Status | Answer):
    chat_server.will(behaviour, Answer())
    model = CachedChat(AnthropicChat(), folder)
    with pytest.raises(ChatError):
        model.reply(REQUEST)
    assert files(folder) == []
    assert not model.reply(REQUEST).cached


def test_a_refusal_is_kept(chat_server: FaultServer, folder: Path):
    chat_server.will(Answer(stop="refused"), Answer())
    model = CachedChat(AnthropicChat(), folder)
    assert model.reply(REQUEST).refused
    assert model.reply(REQUEST) == ChatReply(text="", model="claude-haiku-5-5", refused=True, cached=True)


def test_the_journal_counts_no_tokens_for_a_kept_reply(chat_server: FaultServer, folder: Path):
    journal = Journal(kind="query")
    model = journal.chat(CachedChat(AnthropicChat(), folder))
    model.reply(REQUEST)
    model.reply(REQUEST)
    assert [(row.outcome, row.usage) for row in journal.inferences] == [("ok", SPENT), ("ok", Usage())]


@pytest.mark.parametrize(
    "damage",
    [
        lambda row: "",
        lambda row: json.dumps(row)[:-9],
        lambda row: "[]",
        lambda row: json.dumps({**row, "text": ""}),
        lambda row: json.dumps({**row, "text": 3}),
        lambda row: json.dumps({**row, "request": "0" * 64}),
        lambda row: json.dumps({**row, "more": 1}),
        lambda row: json.dumps({**row, "usage": {"input_tokens": -1}}),
    ],
)
def test_a_damaged_entry_is_a_miss_is_said_and_is_replaced(chat_server: FaultServer, folder, damage, caplog):
    model = CachedChat(AnthropicChat(), folder)
    model.reply(REQUEST)
    (file,) = files(folder)
    file.write_text(damage(json.loads(file.read_text())))
    with caplog.at_level(logging.WARNING):
        assert not model.reply(REQUEST).cached
    assert [
        record.getMessage().startswith(f"{file}: the kept reply is damaged") for record in caplog.records
    ] == [True]
    assert model.reply(REQUEST).cached
    assert len(chat_server.requests) == 2


def test_a_reply_that_cannot_be_kept_is_not_lost(chat_server: FaultServer, tmp_path: Path, caplog):
    (tmp_path / "file").write_text("no folder")
    with caplog.at_level(logging.WARNING):
        assert CachedChat(AnthropicChat(), tmp_path / "file").reply(REQUEST).text == "Clouds carry rain."
    assert "the reply cannot be kept: " in caplog.text


def test_many_threads_write_whole_entries_and_leave_nothing_behind(chat_server: FaultServer, folder: Path):
    model = CachedChat(AnthropicChat(), folder)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: model.reply(replace(REQUEST, prompt=str(n % 4))), range(32)))
    assert len(files(folder)) == 4
    assert {file.suffix for file in files(folder)} == {".json"}
    assert all(json.loads(file.read_text())["text"] for file in files(folder))


def test_what_was_kept_is_replayed_as_a_script_without_a_service(
    chat_server: FaultServer, folder: Path, tmp_path: Path
):
    chat_server.will(Answer(text="Clouds: ☁."), Answer(stop="refused"))
    model = CachedChat(AnthropicChat(), folder)
    first = model.reply(REQUEST)
    model.reply(replace(REQUEST, stage="brain"))
    script = tmp_path / "recorded" / "replies.jsonl"
    assert export(folder, script) == 2
    written = script.read_bytes()
    export(folder, script)
    assert script.read_bytes() == written

    recorded = Scripted(script)
    assert recorded.default_model == "claude-haiku-5-5"
    assert recorded.reply(REQUEST) == first
    assert recorded.reply(replace(REQUEST, stage="brain")).refused
    with pytest.raises(ChatError, match="or record this request again"):
        recorded.reply(replace(REQUEST, prompt="Why is there snow?"))
    assert len(chat_server.requests) == 2


def test_an_export_passes_over_what_is_damaged_and_refuses_an_empty_folder(
    chat_server: FaultServer, folder: Path, tmp_path: Path, caplog
):
    model = CachedChat(AnthropicChat(), folder)
    model.reply(REQUEST)
    model.reply(replace(REQUEST, prompt="Why is there snow?"))
    files(folder)[0].write_text("{")
    assert export(folder, tmp_path / "s.jsonl") == 1
    assert "is damaged" in caplog.text
    with pytest.raises(DataError, match="no kept replies; run once with ASSAY_CHAT_CACHE="):
        export(tmp_path / "none", tmp_path / "s.jsonl")


def test_a_script_that_cannot_be_written(chat_server: FaultServer, folder: Path, tmp_path: Path):
    CachedChat(AnthropicChat(), folder).reply(REQUEST)
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(DataError, match=r"s\.jsonl: cannot be written: "):
        export(folder, tmp_path / "file" / "s.jsonl")


def test_the_registry_keeps_replies_where_a_folder_is_named(
    chat_server: FaultServer, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("ASSAY_CHAT_CACHE", raising=False)
    for name, default in (
        ("anthropic", "claude-haiku-5-5"),
        ("anthropic:claude-sonnet-5-5", "claude-sonnet-5-5"),
        ("openai:qwen3:8b", "qwen3:8b"),
    ):
        plain = chat(name)
        assert plain is not None
        assert (plain.default_model, plain.reply(REQUEST).model) == (default, default)
    monkeypatch.setenv("ASSAY_CHAT_CACHE", str(folder))
    kept = chat("anthropic")
    assert kept is not None
    assert [kept.reply(REQUEST).cached, kept.reply(REQUEST).cached] == [False, True]
