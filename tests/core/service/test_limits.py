"""Bounded work: threads, a queue, a deadline, and bodies that end."""

from __future__ import annotations

import asyncio
from threading import Barrier, Event

import pytest

from core.service.body import read_body
from core.service.errors import Refusal
from core.service.workers import Workers


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
