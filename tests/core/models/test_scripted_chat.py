"""The scripted chat model: which line answers, how a script is refused, and what a missing reply says."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from core.errors import DataError, UsageError
from core.journal import Journal
from core.models.chat import ChatError, ChatReply, ChatRequest, Usage
from core.models.registry import chat
from core.models.request_key import request_key
from core.models.scripted_chat import Scripted


def asked(prompt: str = "Why does it rain?", stage: str = "query", **more: Any) -> ChatRequest:
    return ChatRequest(system="Answer.", prompt=prompt, stage=stage, **more)


def script(folder: Path, *lines: object) -> Path:
    path = folder / "script.jsonl"
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines), "utf-8")
    return path


def test_the_first_line_that_fits_answers(tmp_path):
    model = Scripted(
        script(
            tmp_path,
            {"stage": "extract", "reply": {"facts": []}},
            {"contains": ["rain", "snow"], "reply": "both"},
            "",
            {
                "contains": "rain",
                "reply": "Clouds.",
                "model": "m-1",
                "usage": {"input_tokens": 7, "output_tokens": 2},
            },
            {"reply": "anything"},
        )
    )
    assert model.reply(asked()) == ChatReply(
        text="Clouds.", model="m-1", usage=Usage(input_tokens=7, output_tokens=2)
    )
    assert model.reply(asked("rain and snow")).text == "both"
    assert model.reply(asked("sun")) == ChatReply(text="anything", model="scripted")
    assert json.loads(model.reply(asked("rain", "extract")).text) == {"facts": []}
    assert model.default_model == "scripted"


def test_a_line_for_one_call_answers_one_call_from_any_thread(tmp_path):
    lines = [{"reply": f"r{n}", "once": True} for n in range(20)]
    model = Scripted(script(tmp_path, *lines))
    with ThreadPoolExecutor(8) as pool:
        texts = list(pool.map(lambda _: model.reply(asked()).text, range(20)))
    assert sorted(texts) == sorted(f"r{n}" for n in range(20))
    with pytest.raises(ChatError, match="20 lines were for one call and are spent"):
        model.reply(asked())


@pytest.mark.parametrize("outcome", ["truncated", "timeout", "rate_limited", "unavailable", "empty"])
def test_a_script_can_fail_and_the_journal_says_how(tmp_path, outcome):
    model = Scripted(script(tmp_path, {"outcome": outcome, "usage": {"input_tokens": 3}}))
    journal = Journal(kind="query")
    with pytest.raises(ChatError, match=f"ends this query call as {outcome}"):
        journal.chat(model).reply(asked())
    assert [(row.stage, row.outcome, row.usage.input_tokens) for row in journal.inferences] == [
        ("query", outcome, 3)
    ]


def test_a_refusal_is_a_reply_without_text(tmp_path):
    journal = Journal(kind="query")
    reply = journal.chat(Scripted(script(tmp_path, {"outcome": "refused"}))).reply(asked())
    assert (reply.text, reply.refused) == ("", True)
    assert journal.inferences[0].outcome == "refused"


def test_recorded_requests_are_answered_by_their_hash_whoever_is_named(tmp_path):
    who = "anthropic:claude-haiku-5-5"
    key = request_key(asked(), who)
    model = Scripted(
        script(tmp_path, {"request": key, "asked": who, "reply": "Clouds.", "model": "claude-x"})
    )
    assert model.default_model == "claude-haiku-5-5"
    assert model.reply(asked()).text == "Clouds."
    assert model.reply(asked(model="claude-haiku-5-5")).text == "Clouds."
    for other in (
        asked("other"),
        asked(stage="memory"),
        asked(model="m"),
        asked(reasoning="low"),
        asked(max_tokens=9),
    ):
        with pytest.raises(ChatError, match="or record this request again"):
            model.reply(other)


def test_no_line_that_fits_says_which_to_add(tmp_path):
    path = script(tmp_path, {"stage": "extract", "reply": "x"})
    with pytest.raises(ChatError) as caught:
        Scripted(path).reply(asked("Why\ndoes it rain?" + "?" * 99))
    assert str(caught.value).startswith(
        f"{path} has no reply for this query call, whose prompt begins 'Why does it rain???"
    )
    assert str(caught.value).endswith('add a line {"stage": "query", "contains": "…", "reply": "…"}')
    assert caught.value.outcome == "bad_request"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "Invalid JSON"),
        ("[1]", "should be an object"),
        ('"x"', "should be an object"),
        ("{}", "one of reply and outcome"),
        ('{"reply": "a", "outcome": "refused"}', "one of reply and outcome"),
        ('{"outcome": "ok"}', "outcome ok is said by a reply"),
        ('{"outcome": "cross"}', "outcome: Input should be 'ok', 'refused'"),
        ('{"reply": "  "}', '"outcome": "empty"'),
        ('{"reply": 4}', "reply: "),
        ('{"reply": {"a": NaN}}', "Out of range float values are not JSON compliant"),
        ('{"reply": "a", "reponse": "b"}', "reponse: Extra inputs are not permitted"),
        ('{"reply": "a", "contains": ""}', "contains: "),
        ('{"reply": "a", "usage": {"input_tokens": -1}}', "usage: Input should be greater than or equal to 0"),
        ('{"reply": "a", "request": "abc", "asked": "a:b"}', "request: "),
        (f'{{"reply": "a", "request": "{"0" * 64}"}}', "request and asked belong together"),
        (f'{{"reply": "a", "request": "{"0" * 64}", "asked": "a:b", "contains": "x"}}', "leave contains out"),
    ],
)  # fmt: skip
def test_a_malformed_line_is_named_with_its_place(tmp_path, line, said):
    path = script(tmp_path, {"reply": "fine"}, "", line)
    with pytest.raises(DataError, match=said) as caught:
        Scripted(path)
    assert str(caught.value).startswith(f"{path}:3: ")
    assert "\n" not in str(caught.value)


def test_a_script_that_is_absent_empty_or_no_text(tmp_path):
    with pytest.raises(DataError, match=r"no\.jsonl: cannot be read: No such file"):
        Scripted(tmp_path / "no.jsonl")
    with pytest.raises(DataError, match="holds no replies"):
        Scripted(script(tmp_path, "", " "))
    (tmp_path / "raw").write_bytes(b'{"reply": "\xff"}')
    with pytest.raises(DataError, match=r"raw:1: "):
        Scripted(tmp_path / "raw")


def test_chat_models_by_name(monkeypatch, tmp_path):
    monkeypatch.delenv("ASSAY_CHAT", raising=False)
    path = script(tmp_path, {"reply": "x"})
    assert chat(None) is None
    assert chat("deterministic") is None
    assert isinstance(chat(f"scripted:{path}"), Scripted)
    monkeypatch.setenv("ASSAY_CHAT", f"scripted:{path}")
    assert isinstance(chat(), Scripted)
    assert chat("deterministic") is None


@pytest.mark.parametrize("name", ["scripted", "scripted:", "gpt", "openai", "anthropic:", "deterministic:x"])
def test_an_unknown_chat_model_lists_those_there_are(name):
    with pytest.raises(UsageError, match=rf"no chat model '{name}'; there are deterministic, anthropic, "):
        chat(name)
