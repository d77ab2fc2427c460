"""What OpenAI and servers that speak its protocol are sent, and replies only they give."""

from __future__ import annotations

import pytest

from core.models.chat import ChatError, ChatRequest
from core.models.faults import Patience
from core.models.openai_chat import OpenAIChat, body
from tests.fault_server import Answer, FaultServer, Status

REQUEST = ChatRequest(system="S", prompt="P", stage="query")


@pytest.mark.parametrize(
    ("model", "level", "effort", "tokens"),
    [
        ("gpt-5.4-mini", "none", "none", 2048),
        ("gpt-5.1", "low", "low", 4096),
        ("gpt-5.5", "medium", "medium", 10240),
        ("gpt-5.5", "high", "high", 18432),
        ("gpt-5-mini", "none", "minimal", 4096),
        ("gpt-5-2025-08-07", "none", "minimal", 4096),
        ("gpt-5", "high", "high", 18432),
        ("o4-mini", "none", "low", 4096),
        ("gpt-4o-mini", "none", None, 2048),
        ("gpt-4.1", "high", None, 2048),
        ("gpt-5-chat-latest", "none", None, 2048),
        ("qwen3:8b", "none", "none", 2048),
        ("gpt-oss:20b", "low", "low", 4096),
    ],
)
def test_none_asks_for_no_thinking_wherever_that_can_be_asked(model, level, effort, tokens):
    request = ChatRequest(system="S", prompt="P", stage="query", reasoning=level)
    messages = [{"role": "system", "content": "S"}, {"role": "user", "content": "P"}]
    thinking = {"reasoning_effort": effort} if effort else {}
    for official, limit in ((True, "max_completion_tokens"), (False, "max_tokens")):
        sent = body(model, request, official=official)
        assert sent == {"model": model, "messages": messages, limit: tokens, **thinking}


def test_another_endpoint_is_sent_max_tokens_and_is_another_provider(
    chat_server: FaultServer, monkeypatch: pytest.MonkeyPatch
):
    model = OpenAIChat("qwen3:8b")
    model.reply(REQUEST)
    assert chat_server.bodies[0]["max_tokens"] == 2048
    assert chat_server.bodies[0]["reasoning_effort"] == "none"
    assert model.provider == "openai@" + chat_server.url.removeprefix("http://").replace(":", ".")
    monkeypatch.delenv("OPENAI_BASE_URL")
    assert model.provider == "openai"
    monkeypatch.setenv("OPENAI_BASE_URL", "http://user:secret@box:8000/v1")
    assert model.provider == "openai@box.8000"


def test_thinking_that_a_server_leaves_in_the_text_is_cut_off(chat_server: FaultServer):
    chat_server.will(Answer(text="<think>\nHm, rain.\n</think>\n\nClouds."))
    assert OpenAIChat("r1").reply(REQUEST).text == "Clouds."
    chat_server.will(Answer(text="<think>Hm</think>"))
    with pytest.raises(ChatError, match="without any text"):
        OpenAIChat("r1").reply(REQUEST)


def test_a_message_that_refuses_is_a_refusal(chat_server: FaultServer):
    chat_server.will(Answer(text=None, refusal="I cannot help with that."))
    reply = OpenAIChat("gpt-5.4").reply(REQUEST)
    assert (reply.text, reply.refused, reply.usage.output_tokens) == ("", True, 7)


def test_a_prompt_that_a_filter_stops_is_a_refusal(chat_server: FaultServer):
    chat_server.will(Status(code=400, error_code="content_filter"))
    assert OpenAIChat("gpt-5.4").reply(REQUEST).refused


def test_a_spent_quota_is_not_tried_again(chat_server: FaultServer):
    chat_server.will(Status(code=429, error_code="insufficient_quota"))
    with pytest.raises(ChatError, match="429") as caught:
        OpenAIChat("gpt-5.4", Patience(seconds=5, pause_seconds=0.01)).reply(REQUEST)
    assert caught.value.outcome == "rate_limited"
    assert len(chat_server.requests) == 1
