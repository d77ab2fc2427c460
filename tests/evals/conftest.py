"""Traces as a recipe leaves them, made by hand: what is scored is known to the digit."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from core.trace import Answer, Candidate, Evidence, Trace


@pytest.fixture
def make_evidence() -> Callable[..., Evidence]:
    """``make_evidence("d1", text, (start, end))``: a citation of a stretch of a source's text."""

    def make(
        source: str, text: str = "A text.", span: tuple[int, int] | None = None, *, turn: str | None = None
    ) -> Evidence:
        start, end = span or (0, len(text))
        return Evidence(
            candidate_id=f"id of {source} {turn}", kind="node", citation=f"[mem:{source}]", text=text,
            quote=text[start:end], start=start, end=end, source=source, turn=turn,
        )  # fmt: skip

    return make


@pytest.fixture
def make_trace() -> Callable[..., Trace]:
    """``make_trace([("d1", None), ("log", "t1")], answer)``: the sources and turns in ranked order."""

    def make(ranked: Sequence[tuple[str, str | None]], answer: Answer, *, ms: float = 1.0) -> Trace:
        candidates = tuple(
            Candidate(candidate_id=f"c{n}", kind="node", text="", source=source, turn=turn)
            for n, (source, turn) in enumerate(ranked)
        )
        return Trace(
            trace_id="t", question="q", datasets=("main",), recipe="brain", profile="seed", fingerprint="f",
            values={}, spaces={}, candidates=tuple(reversed(candidates)), stages=(),
            ranking=tuple(candidate.candidate_id for candidate in candidates), answer=answer,
            times_ms={"recall": ms},
        )  # fmt: skip

    return make
