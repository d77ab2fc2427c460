"""Bounded work: threads, a queue, a deadline, and a few model calls at once."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event, Lock

import pytest

from core.models.chat import ChatError, ChatReply, ChatRequest
from core.service.body import read_body
from core.service.errors import BusyError, Refusal
from core.service.limited_chat import LimitedChat
from core.service.workers import Workers

REQUEST = ChatRequest(system="", prompt="", stage="query")


class Counting:
    """Holds each call until it is let go, and knows how many there were at once."""

    default_model = "m"

    def __init__(self) -> None:
        self.inside = self.most = 0
        self.go = Event()
        self._lock = Lock()

    def reply(self, request: ChatRequest) -> ChatReply:
        with self._lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        self.go.wait(10)
        with self._lock:
            self.inside -= 1
        return ChatReply(text="ok", model="m")


def test_no_more_calls_than_allowed_run_at_once():
    model = Counting()
    limited = LimitedChat(model, calls=3, seconds=10)
    assert limited.default_model == "m"
    with ThreadPoolExecutor(12) as pool:
        replies = [pool.submit(limited.reply, REQUEST) for _ in range(12)]
        while model.inside < 3:
            time.sleep(0.001)
        model.go.set()
        assert {reply.result().text for reply in replies} == {"ok"}
    assert model.most == 3


def test_a_call_that_gets_no_turn_is_refused_and_a_failed_one_gives_its_turn_back():
    model = Counting()
    limited = LimitedChat(model, calls=1, seconds=0.05)
    with ThreadPoolExecutor(1) as pool:
        held = pool.submit(limited.reply, REQUEST)
        while not model.inside:
            time.sleep(0.001)
        with pytest.raises(BusyError, match=r"1 model calls are running and none ended within 0.05 s"):
            limited.reply(REQUEST)
        model.go.set()
        held.result()

    class Failing:
        default_model = "m"

        def reply(self, request: ChatRequest) -> ChatReply:
            raise ChatError("no", "timeout")

    failing = LimitedChat(Failing(), calls=1, seconds=0.05)
    for _ in range(3):
        with pytest.raises(ChatError, match="no"):
            failing.reply(REQUEST)


def test_what_waits_is_bounded():
    async def run() -> list[object]:
        workers, both, go = Workers(threads=2, waiting=1), Barrier(3), Event()

        def work() -> str:
            both.wait(10)
            go.wait(10)
            return "done"

        begun = [asyncio.create_task(workers.run(work)) for _ in range(2)]
        await asyncio.to_thread(both.wait, 10)
        waiting = asyncio.create_task(workers.run(lambda: "after"))
        await asyncio.sleep(0)
        with pytest.raises(Refusal, match="too many requests") as refusal:
            await workers.run(lambda: "never")
        go.set()
        done = await asyncio.gather(*begun, waiting)
        done.append(await workers.run(lambda: "again"))
        workers.close()
        return [*done, refusal.value.status, refusal.value.headers]

    assert asyncio.run(run()) == ["done", "done", "after", "again", 503, {"Retry-After": "1"}]


def test_what_takes_too_long_is_a_502_and_its_own_timeout_stays_its_own():
    async def run() -> None:
        workers, go = Workers(threads=1, seconds=0.05), Event()
        with pytest.raises(Refusal, match=r"no answer within 0.05 s") as refusal:
            await workers.run(lambda: go.wait(10))
        assert refusal.value.status == 502
        go.set()

        def fails() -> None:
            raise TimeoutError("its own")

        with pytest.raises(TimeoutError, match="its own"):
            await workers.run(fails)
        workers.close()

    asyncio.run(run())


def test_a_body_that_stalls_or_breaks_off_is_refused():
    async def stalls() -> dict[str, object]:
        await asyncio.sleep(10)
        return {}

    async def breaks_off() -> dict[str, object]:
        return {"type": "http.disconnect"}

    for receive, said in ((stalls, "did not arrive within 0.05 s"), (breaks_off, "ended before its body")):
        with pytest.raises(Refusal, match=said) as refusal:
            asyncio.run(read_body({}, receive, seconds=0.05))
        assert refusal.value.status == 400


def test_a_sender_that_waits_to_go_on_is_refused_before_it_sends():
    async def never() -> dict[str, object]:
        raise AssertionError("nothing is read")

    headers = {"expect": "100-continue", "content-length": "65537"}
    with pytest.raises(Refusal, match="more than 65536 bytes"):
        asyncio.run(read_body(headers, never))
