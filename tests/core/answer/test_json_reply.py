"""One JSON object out of a model's reply, or a reason why there is none."""

from __future__ import annotations

import pytest

from core.answer.json_reply import json_object


@pytest.mark.parametrize(
    "reply",
    [
        '{"a": [1, {"b": 2}]}',
        ' \n{"a": [1, {"b": 2}]}\n',
        'Here it is:\n```json\n{"a": [1, {"b": 2}]}\n```\nHope it helps.',
        'The braces {not json} come first. {"a": [1, {"b": 2}]}',
    ],
)
def test_one_object_is_found(reply: str) -> None:
    assert json_object(reply) == {"a": [1, {"b": 2}]}


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("", "no JSON object"),
        ("[1, 2]", "no JSON object"),
        ("I cannot {do} that.", "no JSON object"),
        ('{"a": 1} {"a": 2}', "holds 2 JSON objects"),
        ('{"facts": [{"source": "A"}, {"sou', "cut off"),
        ('{"facts": [{"source": "A"}', "cut off"),
        ('{"a": "never closed', "cut off"),
        ('{"a": 1, "a": 2}', "twice"),
        ('{"a": NaN}', "NaN"),
        ('{"a": -Infinity}', "Infinity"),
        ('{"a":' * 100_000, "nested too deeply|cut off"),
    ],
)
def test_anything_doubtful_is_refused(reply: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        json_object(reply)
