"""Both services' real libraries against a server that fails in every way: outcome, time, tries, and the journal's row."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import monotonic
from typing import Any

import pytest

from core.journal import Journal
from core.models import background
from core.models.anthropic_chat import AnthropicChat
from core.models.chat import ChatError, ChatModel, ChatReply, ChatRequest, Usage
from core.models.faults import Patience
from core.models.openai_chat import OpenAIChat
from tests.fault_server import KEY, Answer, Behaviour, Close, FaultServer, Hang, Raw, Status

QUICK = Patience(seconds=5, pause_seconds=0.01)
SPENT = Usage(input_tokens=11, output_tokens=7)
NOTHING = Usage()
CONTENT = "Clouds carry rain."


@dataclass(frozen=True)
class Service:
    name: str
    path: str
    model: str
    make: Callable[..., ChatModel]


SERVICES = {
    "anthropic": Service("ANTHROPIC", "/v1/messages", "claude-haiku-5-5", AnthropicChat),
    "openai": Service("OPENAI", "/v1/chat/completions", "gpt-5.4-mini", OpenAIChat),
}


@pytest.fixture(params=SERVICES)
def service(request: pytest.FixtureRequest) -> Service:
    return SERVICES[request.param]


def asked(**more: Any) -> ChatRequest:
    return ChatRequest(**{"system": "Answer.", "prompt": "Why does it rain?", "stage": "query", **more})


def ask(
    service: Service, patience: Patience = QUICK, **more: Any
) -> tuple[ChatReply | ChatError, Journal, float]:
    """The reply or error, the journal it was written into, and the seconds it took."""
    model, journal = service.make(service.model, patience), Journal(kind="query")
    since = monotonic()
    try:
        got: ChatReply | ChatError = journal.chat(model).reply(asked(**more))
    except ChatError as error:
        got = error
    return got, journal, monotonic() - since


def test_an_answer_with_its_usage_and_one_request_without_sampling(
    chat_server: FaultServer, service: Service
):
    chat_server.will(
        Answer(text=CONTENT, thinking="Hm.", tokens=(11, 9, 4), model=f"{service.model}-20261001")
    )
    got, journal, _ = ask(service)
    usage = Usage(input_tokens=11, output_tokens=9, thinking_tokens=4)
    assert got == ChatReply(text=CONTENT, model=f"{service.model}-20261001", usage=usage)
    ((path, body),) = chat_server.requests
    assert path == service.path
    assert chat_server.keys == [f"Bearer {KEY}"]
    assert body["model"] == service.model
    assert not {"temperature", "top_p", "top_k", "stream", "tools"} & set(body)
    (row,) = journal.inferences
    assert (row.stage, row.model, row.reasoning, row.usage, row.outcome) == (
        "query", f"{service.model}-20261001", "none", usage, "ok",
    )  # fmt: skip
    assert row.latency_ms > 0


@pytest.mark.parametrize(
    ("behaviour", "outcome", "usage", "tries", "words"),
    [
        (Answer(stop="truncated", text="Clouds"), "truncated", SPENT, 1, "is not complete .* after 7 tokens"),
        (Answer(text=""), "empty", SPENT, 1, "without any text"),
        (Answer(text=" \n"), "empty", SPENT, 1, "without any text"),
        (Answer(text=None, thinking="Hm."), "empty", SPENT, 1, "without any text"),
        (Status(code=400), "bad_request", NOTHING, 1, "check the model's name and the request's size"),
        (Status(code=401, message=f"Bad {KEY}."), "unauthorized", NOTHING, 1, "check {service}_API_KEY"),
        (Status(code=402), "unauthorized", NOTHING, 1, "check the account's billing"),
        (Status(code=403), "unauthorized", NOTHING, 1, "may use this model"),
        (Status(code=404), "bad_request", NOTHING, 1, "the model's name and {service}_BASE_URL"),
        (Status(code=413), "bad_request", NOTHING, 1, "send less evidence"),
        (Status(code=422), "bad_request", NOTHING, 1, "check the model's name"),
        (Status(code=429), "rate_limited", NOTHING, 3, "429.*try again later"),
        (Status(code=500), "unavailable", NOTHING, 3, "500.*try again later"),
        (Status(code=503), "unavailable", NOTHING, 3, "503.*try again later"),
        (Status(code=529), "overloaded", NOTHING, 3, "529.*try again later"),
        (Raw(body="<html>", code=502, content_type="text/html"), "unavailable", NOTHING, 3, "try again later"),
        (Close(), "unavailable", NOTHING, 3, "cannot be reached .*check the network and {service}_BASE_URL"),
        (Answer(body_cut_at=40), "unavailable", NOTHING, 3, "cannot be reached"),
        (Raw(body="{oops"), "unparsable", NOTHING, 1, "is no reply .*{service}_BASE_URL"),
        (Raw(body=""), "unparsable", NOTHING, 1, "is no reply"),
        (Raw(body="<html>", content_type="text/html"), "unparsable", NOTHING, 1, "is no reply"),
        (Raw(body="[]"), "unparsable", NOTHING, 1, "is no reply"),
        (Raw(body="null"), "unparsable", NOTHING, 1, "is no reply"),
        (Raw(body='{"error": "no"}'), "unparsable", NOTHING, 1, "is no reply"),
        (Raw(body='{"content": "x", "choices": "x"}'), "unparsable", NOTHING, 1, "is no reply"),
        (Raw(body='{"content": [], "choices": [], "stop_reason": "end_turn"}'), "{empty}", NOTHING, 1, "text|reply"),
    ],
    ids=lambda value: f"{type(value).__name__}{getattr(value, 'code', '')}" if isinstance(value, Behaviour) else "",
)  # fmt: skip
def test_each_failure_ends_in_its_outcome_after_its_tries_in_one_line_without_the_key(
    chat_server: FaultServer,
    service: Service,
    behaviour: Behaviour,
    outcome: str,
    usage: Usage,
    tries: int,
    words: str,
):
    chat_server.will(behaviour)
    got, journal, seconds = ask(service)
    outcome = outcome.format(empty="empty" if service.name == "ANTHROPIC" else "unparsable")
    assert isinstance(got, ChatError)
    assert (got.outcome, got.usage) == (outcome, usage)
    assert len(chat_server.requests) == tries
    assert seconds < 3
    said = str(got)
    with pytest.raises(ChatError, match=words.replace("{service}", service.name)):
        raise got
    assert service.model in said
    assert "\n" not in said
    assert KEY not in said
    assert "sk-" not in said
    assert [(row.outcome, row.usage, row.model) for row in journal.inferences] == [
        (outcome, usage, service.model)
    ]


def test_a_refusal_is_an_outcome_and_its_text_is_dropped(chat_server: FaultServer, service: Service):
    chat_server.will(Answer(stop="refused", text="I would rather"))
    got, journal, _ = ask(service)
    assert got == ChatReply(text="", model=service.model, usage=SPENT, refused=True)
    assert [row.outcome for row in journal.inferences] == ["refused"]


@pytest.mark.parametrize(
    "behaviour",
    [Hang(), Answer(byte_every=0.02), Answer(wait=30)],
    ids=["hangs", "drips, headers too", "answers late"],
)
def test_a_server_that_never_ends_is_left_when_the_time_is_over(
    chat_server: FaultServer, service: Service, behaviour: Behaviour
):
    chat_server.will(behaviour)
    got, journal, seconds = ask(service, Patience(seconds=0.6))
    assert isinstance(got, ChatError)
    assert (got.outcome, got.usage) == ("timeout", NOTHING)
    assert str(got).startswith(f"{service.model} did not answer within 0.6 s; raise ASSAY_CHAT_TIMEOUT")
    assert 0.5 < seconds < 2.5
    assert len(chat_server.requests) == 1
    assert journal.inferences[0].outcome == "timeout"
    assert journal.inferences[0].latency_ms < 2500


def test_a_slow_stream_of_bytes_that_ends_in_time_is_an_answer(chat_server: FaultServer, service: Service):
    chat_server.will(Answer(byte_every=0.0005))
    got, _, _ = ask(service)
    assert isinstance(got, ChatReply)
    assert got.text == CONTENT


def test_passing_faults_are_overcome(chat_server: FaultServer, service: Service):
    chat_server.will(Status(code=529), Close(), Answer())
    got, journal, _ = ask(service)
    assert isinstance(got, ChatReply)
    assert len(chat_server.requests) == 3
    assert chat_server.bodies[0] == chat_server.bodies[2]
    assert [row.outcome for row in journal.inferences] == ["ok"]


def test_retry_after_is_waited_for(chat_server: FaultServer, service: Service):
    chat_server.will(Status(code=429, headers={"Retry-After": "0.5"}), Answer())
    got, _, seconds = ask(service)
    assert isinstance(got, ChatReply)
    assert 0.5 <= seconds < 3


def test_a_retry_after_beyond_the_time_left_ends_the_call_at_once(chat_server: FaultServer, service: Service):
    chat_server.will(Status(code=429, headers={"Retry-After": "30"}), Answer())
    got, _, seconds = ask(service)
    assert isinstance(got, ChatError)
    assert got.outcome == "rate_limited"
    assert len(chat_server.requests) == 1
    assert seconds < 2


def test_tries_and_pauses_share_one_time(chat_server: FaultServer, service: Service):
    chat_server.will(Status(code=500), Status(code=500), Hang())
    got, _, seconds = ask(service, Patience(seconds=0.8, pause_seconds=0.05))
    assert isinstance(got, ChatError)
    assert got.outcome == "timeout"
    assert seconds < 2.5


def test_nobody_listens(chat_server: FaultServer, service: Service, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(f"{service.name}_BASE_URL", "http://127.0.0.1:9/v1")
    got, journal, seconds = ask(service)
    assert isinstance(got, ChatError)
    assert got.outcome == journal.inferences[0].outcome == "unavailable"
    assert seconds < 3


def test_calls_of_many_threads_share_one_client_and_get_their_own_reply(
    chat_server: FaultServer, service: Service
):
    model = service.make(service.model, QUICK)
    for _ in range(3):
        assert model.reply(asked()).text == CONTENT
    assert chat_server.connections == 1
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda n: model.reply(asked(prompt=f"{n}", model=f"m-{n}")), range(24)))
    assert [reply.model for reply in replies] == [f"m-{n}" for n in range(24)]
    assert chat_server.connections <= 9


def test_a_call_left_at_its_time_frees_its_connection(chat_server: FaultServer, service: Service):
    chat_server.will(Hang(), Answer())
    model = service.make(service.model, Patience(seconds=0.3))
    with pytest.raises(ChatError, match="did not answer within"):
        model.reply(asked())
    assert service.make(service.model, QUICK).reply(asked()).text == CONTENT


def test_after_the_connections_are_closed_the_next_call_opens_them_anew(
    chat_server: FaultServer, service: Service
):
    model = service.make(service.model, QUICK)
    model.reply(asked())
    background.close()
    assert model.reply(asked()).text == CONTENT
    assert chat_server.connections == 2


def test_closing_the_connections_ends_the_calls_that_run(chat_server: FaultServer, service: Service):
    chat_server.will(Hang())
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(ask, service, Patience(seconds=30))
        assert chat_server.asked.wait(10)
        background.close()
        got, journal, seconds = running.result(10)
    assert isinstance(got, ChatError)
    assert got.outcome == journal.inferences[0].outcome == "unavailable"
    assert seconds < 15


def test_half_characters_are_sent_and_returned_whole(chat_server: FaultServer, service: Service):
    chat_server.will(Answer(text="half \ud800"))
    got, _, _ = ask(service, prompt="a\ud800b")
    assert isinstance(got, ChatReply)
    assert got.text == "half \ufffd"
    assert "a\ufffdb" in json.dumps(chat_server.bodies[0], ensure_ascii=False)


def test_without_a_key_the_error_says_which_to_set(service: Service, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(f"{service.name}_API_KEY", raising=False)
    monkeypatch.delenv("ANTHROPIC_AUTH_TOKEN", raising=False)
    with pytest.raises(ChatError, match=f"{service.name}_API_KEY is not set") as caught:
        service.make(service.model)
    assert caught.value.outcome == "unauthorized"


def test_the_timeout_is_a_setting(
    chat_server: FaultServer, service: Service, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("ASSAY_CHAT_TIMEOUT", "1")
    chat_server.will(Hang())
    with pytest.raises(ChatError, match="within 1 s"):
        service.make(service.model).reply(asked())
