"""Traces as text: what a person reads of a model's answer."""

from __future__ import annotations

from core.render import numbered
from core.trace import Answer, Evidence


def evidence(node: str) -> Evidence:
    return Evidence(
        candidate_id=node,
        kind="node",
        citation=f"[mem:{node}]",
        text="t",
        quote="t",
        start=0,
        end=1,
        source="s",
    )


def test_citations_become_numbers_of_the_evidence() -> None:
    answer = Answer(
        text="One [mem:b]. Two [mem:a, b].", abstained=False, evidence=(evidence("a"), evidence("b"))
    )
    assert numbered(answer) == "One [2]. Two [1][2]."
