"""How many calls run at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import BoundedSemaphore

import pytest

from core.errors import UsageError
from core.models.anthropic_chat import AnthropicChat
from core.models.calls import LimitedChat, limited
from core.models.chat import ChatError, ChatRequest
from core.models.openai_chat import OpenAIChat
from tests.fault_server import Answer, FaultServer, Status

REQUEST = ChatRequest(system="S", prompt="P", stage="query")


@pytest.mark.parametrize("concurrency", [1, 3])
def test_no_more_calls_run_at_once_than_may_and_as_many_as_may(chat_server: FaultServer, concurrency: int):
    chat_server.will(Answer(wait=0.05))
    model = limited(AnthropicChat(), concurrency)
    with ThreadPoolExecutor(9) as pool:
        replies = list(pool.map(lambda _: model.reply(REQUEST), range(9)))
    assert len(replies) == 9
    assert chat_server.most_at_once == concurrency


def test_models_of_one_process_share_the_calls(chat_server: FaultServer, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ASSAY_CHAT_CONCURRENCY", "2")
    chat_server.will(Answer(wait=0.05))
    models = [limited(AnthropicChat()), limited(OpenAIChat("m"))]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: models[n % 2].reply(REQUEST), range(8)))
    assert chat_server.most_at_once == 2


def test_a_call_that_failed_gives_its_slot_back(chat_server: FaultServer):
    chat_server.will(Status(code=400))
    model = limited(AnthropicChat(), 1)
    for _ in range(3):
        with pytest.raises(ChatError, match="400"):
            model.reply(REQUEST)


def test_waiting_for_a_slot_ends_without_asking_the_model(chat_server: FaultServer):
    slots = BoundedSemaphore(1)
    model = LimitedChat(AnthropicChat(), slots, 1, wait_seconds=0.05)
    with slots, pytest.raises(ChatError, match="1 model calls are running and none ended") as caught:
        model.reply(REQUEST)
    assert caught.value.outcome == "overloaded"
    assert chat_server.requests == []
    assert model.reply(REQUEST).text
    assert (model.provider, model.default_model) == ("anthropic", "claude-haiku-5-5")


def test_a_limit_that_is_no_number_is_refused(chat_server: FaultServer, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ASSAY_CHAT_CONCURRENCY", "many")
    with pytest.raises(UsageError, match="ASSAY_CHAT_CONCURRENCY must be a whole number of at least 1"):
        limited(AnthropicChat())
