"""Traces as a recipe leaves them, made by hand: what is scored is known to the digit."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

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


@pytest.fixture
def make_row() -> Callable[..., dict[str, Any]]:
    """``make_row("c1", mrr=0.5)``: a scored row of an answered, answerable case, alone on its document."""

    def make(case_id: str, **fields: Any) -> dict[str, Any]:
        return {
            "case_id": case_id, "dataset": "main", "cluster": f"main\x1f{case_id}", "tags": {}, "answerable": True,
            "abstained": False, "confidence": 0.5, "correct": True, "would_be_right": True, "ranking": [], **fields,
        }  # fmt: skip

    return make


@pytest.fixture
def write_run(tmp_path: Path) -> Callable[..., Path]:
    """``write_run("a", rows)``: a finished run's folder, with ``failed`` case ids and changes to its manifest."""

    def write(
        name: str, rows: Sequence[dict[str, Any]], *, failed: Iterable[str] = (), **manifest: Any
    ) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        failures = [
            {"case_id": one, "dataset": "main", "error": "DataError", "message": "?"} for one in failed
        ]
        for file, lines in (("rows.jsonl", rows), ("failures.jsonl", failures)):
            text = "".join(json.dumps(line) + "\n" for line in lines)
            (folder / file).write_text(text, encoding="utf-8")
        whole = {"dataset": "main", "datasets": {"main": "hash"}, "variant": "near-miss", "excluded": "nothing",
                 "recipe": "brain", "profile": "default", **manifest}  # fmt: skip
        summary = {"cases": {"scored": len(rows), "failed": len(failures)}, "manifest": whole}
        (folder / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
        return folder

    return write
