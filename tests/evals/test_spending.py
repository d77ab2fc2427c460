"""What a run took, by hand."""

from __future__ import annotations

import json

import pytest

from evals.spending import Latency, latency, spent


def call(model: str, usd: float | None, ms: float, tokens: tuple[int, int] = (10, 5)) -> dict[str, object]:
    return {"model": model, "stage": "query", "usd": usd, "ms": ms, "input_tokens": tokens[0],
            "output_tokens": tokens[1], "thinking_tokens": 0}  # fmt: skip


TIMINGS = [
    {"case_id": "a", "dataset": "main", "ms": {"recall": 2.0, "write": 100.0},
     "calls": [call("m1", 0.25, 90.0), call("m2", None, 10.0)]},
    {"case_id": "b", "dataset": "main", "ms": {"recall": 4.0}},
    {"case_id": "c", "dataset": "main", "ms": {"recall": 6.0, "write": 200.0}, "calls": [call("m1", 0.5, 190.0, (1, 2))]},
]  # fmt: skip


def test_by_hand() -> None:
    found = spent(TIMINGS)
    assert list(found.stages) == ["recall", "write", "whole"]
    assert found.stages["recall"] == Latency(
        n=3, mean=4.0, p50=4.0, p95=pytest.approx(5.8), p99=pytest.approx(5.96)
    )
    assert (found.stages["write"].n, found.stages["write"].p50) == (2, 150.0)
    assert found.stages["whole"].mean == pytest.approx((102 + 4 + 206) / 3)
    one, two = found.models["m1", "query"], found.models["m2", "query"]
    assert (one.calls, one.input_tokens, one.output_tokens, one.usd, one.unpriced) == (2, 11, 7, 0.75, 0)
    assert (two.calls, two.usd, two.unpriced) == (1, 0, 1)
    assert one.latency.mean == 140
    assert (found.usd, found.cases) == (0.75, 3)


def test_for_programs_and_people() -> None:
    found = spent(TIMINGS)
    body = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert body["models"][0]["latency"]["n"] == 2
    assert body["usd"] == 0.75
    text = found.to_markdown()
    assert "| write | 2 | 150.0 | 150.0 | 195.0 | 199.0 |" in text
    assert "| m1 | query | 2 | 11 | 7 | 0.7500 | 0 | 140 | 185 |" in text
    assert "model" not in spent(TIMINGS[1:2]).to_markdown()


def test_nothing_took_nothing() -> None:
    assert spent([]).to_dict() == {"cases": 0, "usd": 0, "stages": {}, "models": []}
    with pytest.raises(ValueError, match="at least one value, got none"):
        latency([])
