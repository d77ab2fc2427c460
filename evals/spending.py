"""What a run took: wall time by stage, and what models were asked and cost. Never part of the rows: it differs by run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

QUANTILES = (0.5, 0.95, 0.99)
Timing = Mapping[str, Any]
"""A line of ``timings.jsonl``: ``ms`` by stage, and ``calls`` where models were asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Milliseconds over the ``n`` cases that have the stage: mean, and the values half, 95 and 99 % do not exceed."""

    n: int
    mean: float
    p50: float
    p95: float
    p99: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Calls to one model for one purpose. ``usd`` sums those whose price is known, ``unpriced`` counts the others; a
    reply from the cache costs nothing and is a call of 0 tokens. ``latency`` is that of the calls."""

    calls: int
    input_tokens: int
    output_tokens: int
    usd: float
    unpriced: int
    latency: Latency


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """``stages``: by stage, and ``whole`` for the sum of a case's; ``models``: by model and purpose."""

    stages: Mapping[str, Latency]
    models: Mapping[tuple[str, str], Asked]
    cases: int

    @property
    def usd(self) -> float:
        """US dollars in all, as far as prices are known."""
        return sum(asked.usd for asked in self.models.values())

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        models = [
            {"model": model, "stage": stage, **asdict(asked)} for (model, stage), asked in self.models.items()
        ]
        stages = {name: asdict(latency) for name, latency in self.stages.items()}
        return {"cases": self.cases, "usd": self.usd, "stages": stages, "models": models}

    def to_markdown(self) -> str:
        """A table of times and one of calls."""
        lines = ["| stage | cases | mean ms | p50 | p95 | p99 |", "|---|---|---|---|---|---|"]
        lines += [f"| {name} | {_row(latency)} |" for name, latency in self.stages.items()]
        if self.models:
            lines += [
                "",
                "| model | for | calls | tokens in | tokens out | USD | without a price | p50 ms | p95 |",
            ]
            lines += ["|---|---|---|---|---|---|---|---|---|"]
        for (model, stage), asked in self.models.items():
            tokens = f"{asked.input_tokens} | {asked.output_tokens}"
            times = f"{asked.latency.p50:.0f} | {asked.latency.p95:.0f}"
            lines.append(
                f"| {model} | {stage} | {asked.calls} | {tokens} | {asked.usd:.4f} | {asked.unpriced} | {times} |"
            )
        return "\n".join(lines) + "\n"


def spent(timings: Sequence[Timing]) -> Spending:
    """Over the lines of a run's ``timings.jsonl``; stages and models in the order they first occur."""
    stages: dict[str, list[float]] = {}
    calls: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for timing in timings:
        for name, ms in timing["ms"].items():
            stages.setdefault(name, []).append(ms)
        for call in timing.get("calls", ()):
            calls.setdefault((call["model"], call["stage"]), []).append(call)
    whole = [sum(timing["ms"].values()) for timing in timings]
    named = {**stages, **({"whole": whole} if whole else {})}
    return Spending(
        stages={name: latency(values) for name, values in named.items()},
        models={key: _asked(made) for key, made in calls.items()},
        cases=len(timings),
    )


def latency(ms: Sequence[float]) -> Latency:
    """Mean and quantiles of at least one value, in milliseconds.

    Source: Hyndman & Fan, Sample Quantiles in Statistical Packages, 1996, definition 7 (linear between values).

    Raises:
        ValueError: there is no value.
    """
    if not len(ms):
        raise ValueError("a latency needs at least one value, got none; leave the stage out")
    values = np.asarray(ms, dtype=np.float64)
    p50, p95, p99 = (float(value) for value in np.quantile(values, QUANTILES))
    return Latency(n=len(values), mean=float(values.mean()), p50=p50, p95=p95, p99=p99)


def _asked(made: Sequence[Mapping[str, Any]]) -> Asked:
    prices = [call["usd"] for call in made]
    return Asked(
        calls=len(made),
        input_tokens=sum(call["input_tokens"] for call in made),
        output_tokens=sum(call["output_tokens"] for call in made),
        usd=float(sum(price for price in prices if price is not None)),
        unpriced=sum(price is None for price in prices),
        latency=latency([call["ms"] for call in made]),
    )


def _row(latency: Latency) -> str:
    times = (latency.mean, latency.p50, latency.p95, latency.p99)
    return f"{latency.n} | {' | '.join(f'{ms:.1f}' for ms in times)}"
