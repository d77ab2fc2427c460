"""What Anthropic is sent at each level of reasoning."""

from __future__ import annotations

import pytest

from core.models.anthropic_chat import DEFAULT_MODEL, AnthropicChat, body
from core.models.chat import MAX_ANSWER_TOKENS, ChatError, ChatRequest
from tests.fault_server import Answer, FaultServer

OFF = {"thinking": {"type": "disabled"}}


def adaptive(effort: str) -> dict[str, object]:
    return {"thinking": {"type": "adaptive"}, "output_config": {"effort": effort}}


def budget(tokens: int) -> dict[str, object]:
    return {"thinking": {"type": "enabled", "budget_tokens": tokens}}


@pytest.mark.parametrize(
    ("model", "level", "thinking", "tokens"),
    [
        ("claude-haiku-5-5", "none", OFF, 2048),
        ("claude-haiku-5-5", "low", adaptive("low"), 4096),
        ("claude-haiku-5-5", "medium", adaptive("medium"), 10240),
        ("claude-haiku-5-5", "high", adaptive("high"), 18432),
        ("claude-sonnet-5-5", "none", OFF, 2048),
        ("claude-opus-4-7", "high", adaptive("high"), 18432),
        ("claude-opus-5", "none", OFF, 2048),
        ("claude-opus-5-5", "none", adaptive("low"), 4096),
        ("claude-fable-5-2", "none", adaptive("low"), 4096),
        ("claude-mythos-5", "high", adaptive("high"), 18432),
        ("claude-haiku-4-5", "none", OFF, 2048),
        ("claude-haiku-4-5-20251001", "low", budget(2048), 4096),
        ("claude-sonnet-4-5", "high", budget(16384), 18432),
        ("claude-sonnet-4-6", "medium", adaptive("medium"), 10240),
        ("claude-next", "none", OFF, 2048),
    ],
)
def test_none_switches_thinking_off_and_a_level_gets_room_of_its_own(model, level, thinking, tokens):
    sent = body(model, ChatRequest(system="S", prompt="P", stage="query", reasoning=level))
    assert sent == {
        "model": model,
        "max_tokens": tokens,
        "system": "S",
        "messages": [{"role": "user", "content": "P"}],
        **thinking,
    }


def test_the_default_model_is_sent_what_is_documented(chat_server: FaultServer):
    AnthropicChat().reply(ChatRequest(system="", prompt="P", stage="query"))
    assert (DEFAULT_MODEL, MAX_ANSWER_TOKENS) == ("claude-haiku-5-5", 2048)
    assert chat_server.bodies == [
        {
            "model": "claude-haiku-5-5",
            "max_tokens": 2048,
            "messages": [{"role": "user", "content": "P"}],
            "thinking": {"type": "disabled"},
        }
    ]


def test_a_level_is_sent_by_the_library_as_it_is(chat_server: FaultServer):
    AnthropicChat().reply(ChatRequest(system="S", prompt="P", stage="query", reasoning="medium"))
    (sent,) = chat_server.bodies
    assert sent["thinking"] == {"type": "adaptive"}
    assert sent["output_config"] == {"effort": "medium"}
    assert sent["max_tokens"] == 2048 + 8192


def test_a_full_context_window_is_truncated_too(chat_server: FaultServer):
    chat_server.will(Answer(stop="model_context_window_exceeded"))
    with pytest.raises(ChatError, match="model_context_window_exceeded after 7 tokens") as caught:
        AnthropicChat().reply(ChatRequest(system="S", prompt="P", stage="query"))
    assert caught.value.outcome == "truncated"


def test_a_token_does_in_place_of_a_key(chat_server: FaultServer, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-1")
    AnthropicChat().reply(ChatRequest(system="S", prompt="P", stage="query"))
    assert chat_server.keys == ["Bearer token-1"]
