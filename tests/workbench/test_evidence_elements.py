"""Elements of the evidence graph against what the hand-written Traces hold."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from core.show import palette
from tests.workbench import traces
from workbench.graph import MAX_FACTS, Drawing, drawing


def _captions(drawn: Drawing) -> set[tuple[str, str, str]]:
    names = {node["id"]: node["caption"] for node in drawn.nodes.values()}
    return {(names[edge["source"]], edge["label"], names[edge["target"]]) for edge in drawn.edges}


def test_a_fact_joins_its_two_entities_and_a_cited_one_says_so() -> None:
    drawn = drawing(traces.graph_answered())
    assert _captions(drawn) == {
        ("Ines Duarte", "CITED_FACT", "Meridian"),
        ("Ines Duarte", "FACT", "Porto"),
        (traces.QUESTION, "CITED", "Ines Duarte"),
        (traces.QUESTION, "CITED", "[2] Log"),
    }
    assert {edge["caption"] for edge in drawn.edges if edge["label"] == "CITED_FACT"} == {
        "[1] works at (since 2023)"
    }


@pytest.mark.parametrize("trace", [traces.brain_answered(), traces.memory_answered()])
def test_a_node_leads_down_to_what_it_was_made_from(trace: traces.Trace) -> None:
    drawn = drawing(trace)
    assert _captions(drawn) == {
        (traces.QUESTION, "CITED", "[1] note-n1"),
        (traces.QUESTION, "CITED", "[2] note-n2"),
        ("[1] note-n1", "MADE_FROM", "t1"),
        ("[1] note-n1", "MADE_FROM", "t2"),
    }
    assert Counter(node["label"] for node in drawn.nodes.values()) == {"Question": 1, "L1": 2, "L0": 2}


def test_a_cited_parent_is_one_node_and_keeps_its_number() -> None:
    trace = traces.brain_answered()
    first, second = trace.answer.evidence
    shared = replace(first.provenance[0], node_id="n2")
    answer = replace(trace.answer, evidence=(replace(first, provenance=(shared,)), second))
    drawn = drawing(replace(trace, answer=answer))
    assert ("[1] note-n1", "MADE_FROM", "[2] note-n2") in _captions(drawn)
    assert len(drawn.nodes) == 3


def test_an_abstention_draws_what_was_closest() -> None:
    assert _captions(drawing(traces.below_floor())) == {(traces.QUESTION, "CLOSEST", "(1) note-n3")}


def test_nothing_found_says_why_there_is_nothing_to_draw() -> None:
    drawn = drawing(traces.nothing_found())
    assert drawn.elements == {"nodes": [], "edges": []}
    assert "Nothing was found" in drawn.why_empty


def test_only_so_many_facts_are_drawn() -> None:
    trace = traces.graph_answered()
    facts = [traces.fact(100 + n, (1, "Ines Duarte"), "knows", (200 + n, f"P{n}")) for n in range(60)]
    more = tuple(
        replace(trace.candidates[0], candidate_id=f"fact:{fact.fact_id}", fact=fact, scores={})
        for fact in facts
    )
    stages = tuple(
        replace(stage, before=(*stage.before, *(c.candidate_id for c in more)))
        if stage.name == "gate"
        else stage
        for stage in trace.stages
    )
    drawn = drawing(replace(trace, candidates=(*trace.candidates, *more), stages=stages))
    assert sum(edge["label"] == "FACT" for edge in drawn.edges) == MAX_FACTS


@pytest.mark.parametrize(
    "trace", [traces.brain_answered(), traces.graph_answered(), traces.hostile(), traces.below_floor()]
)
def test_elements_resolve_are_styled_and_hold_nothing_that_html_reads(trace: traces.Trace) -> None:
    drawn = drawing(trace)
    ids = {node["id"] for node in drawn.nodes.values()}
    assert {node["label"] for node in drawn.nodes.values()} <= palette.NODE.keys()
    assert {edge["label"] for edge in drawn.edges} <= palette.EDGE.keys() == palette.EDGE_NAME.keys()
    for edge in drawn.edges:
        assert {edge["source"], edge["target"]} <= ids
    for part in [*drawn.nodes.values(), *drawn.edges]:
        for value in part.values():
            assert not set(value) & set("<>&")
            assert len(value) <= 300
