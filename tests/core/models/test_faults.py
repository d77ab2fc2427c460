"""Retries: how often, after which pauses, and what a service may say about them."""

from __future__ import annotations

import asyncio
from email.utils import formatdate
from time import time

import pytest

from core.models import faults
from core.models.chat import ChatError
from core.models.faults import PassingError, Patience, patiently, retry_after, said


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "3"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "1.2.3"}, None),
        ({"retry-after-ms": "nan"}, None),
        ({"retry-after-ms": "inf"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
    ],
)
def test_what_a_service_says_of_when_to_come_back(headers, seconds):
    assert retry_after(headers) == seconds


def test_a_date_to_come_back_at():
    assert retry_after({"retry-after": formatdate(time() + 100, usegmt=True)}) == pytest.approx(100, abs=2)


def failing(fails: int, fault: ChatError, slept: list[float], monkeypatch: pytest.MonkeyPatch):
    tries = 0

    async def attempt() -> str:
        nonlocal tries
        tries += 1
        if tries <= fails:
            raise fault
        return f"at try {tries}"

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr(faults.asyncio, "sleep", sleep)
    return attempt


def passing(after: float | None = None) -> PassingError:
    fault = PassingError("busy", "overloaded")
    fault.retry_after = after
    return fault


def test_pauses_double_and_are_spread(monkeypatch):
    slept: list[float] = []
    attempt = failing(4, passing(), slept, monkeypatch)
    assert asyncio.run(patiently(attempt, Patience(seconds=100, retries=4))) == "at try 5"
    assert len(slept) == 4
    for pause, base in zip(slept, (0.5, 1, 2, 4), strict=True):
        assert 0.75 * base <= pause <= 1.25 * base


def test_by_default_there_are_two_more_tries_and_then_the_fault(monkeypatch):
    slept: list[float] = []
    attempt = failing(2, passing(), slept, monkeypatch)
    assert asyncio.run(patiently(attempt, Patience(seconds=100))) == "at try 3"
    with pytest.raises(PassingError, match="busy"):
        asyncio.run(patiently(failing(3, passing(), slept, monkeypatch), Patience(seconds=100)))


def test_what_does_not_pass_is_not_tried_again(monkeypatch):
    slept: list[float] = []
    with pytest.raises(ChatError, match="no"):
        asyncio.run(
            patiently(failing(1, ChatError("no", "bad_request"), slept, monkeypatch), Patience(seconds=100))
        )
    assert slept == []


def test_a_pause_the_service_asks_for_is_kept_exactly_or_not_begun(monkeypatch):
    slept: list[float] = []
    assert (
        asyncio.run(patiently(failing(1, passing(7), slept, monkeypatch), Patience(seconds=10))) == "at try 2"
    )
    assert slept == [7]
    with pytest.raises(PassingError):
        asyncio.run(patiently(failing(1, passing(11), slept, monkeypatch), Patience(seconds=10)))
    assert slept == [7]


def test_no_key_is_ever_said(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "plain-token")
    monkeypatch.setenv("OPENAI_API_KEY", "other")
    error = ValueError("bad plain-token\nand other, sk-ant-api03-abc_DEF " + "x" * 300)
    assert said(error).startswith("bad … and …, … xxx")
    assert len(said(error)) == 200
