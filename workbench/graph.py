"""The evidence of an answer as a graph: elements for the Cytoscape widget.

Node ids are made here and every attribute is made inert, because the widget's side panel shows them as HTML.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from core.records import Fact
from core.show.plain import inert, shortened
from core.trace import Evidence, Provenance, Trace

MAX_FACTS = 40
"""Facts drawn: the cited ones and the best others; more is a hairball."""
MAX_PARENTS = 40
CAPTION = 44
TEXT = 300


@dataclass(slots=True)
class Drawing:
    """Nodes and edges by their keys; ``why_empty`` says in words why there is nothing to draw."""

    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    edges: list[dict[str, str]] = field(default_factory=list)
    why_empty: str = ""

    def add_node(self, key: str, label: str, caption: str, text: str = "", place: str = "") -> str:
        """Adds a node once; returns the id the widget knows it by."""
        known = self.nodes.setdefault(key, {"id": f"n{len(self.nodes)}", "label": label})
        known |= {"caption": inert(shortened(caption, CAPTION)) or "(no name)"}
        known |= {"text": inert(shortened(text, TEXT))} if text else {}
        known |= {"place": inert(shortened(place, TEXT))} if place else {}
        return known["id"]

    def add_edge(self, source: str, target: str, label: str, caption: str = "") -> None:
        """Adds an edge between two ids of ``add_node``; one without a caption only once."""
        ends = source, target, label
        if not caption and ends in {(edge["source"], edge["target"], edge["label"]) for edge in self.edges}:
            return
        self.edges.append(
            {
                "id": f"e{len(self.edges)}",
                "source": source,
                "target": target,
                "label": label,
                "caption": inert(shortened(caption, CAPTION)),
            }
        )

    @property
    def elements(self) -> dict[str, list[dict[str, Any]]]:
        """What the widget takes."""
        return {
            "nodes": [{"data": node} for node in self.nodes.values()],
            "edges": [{"data": edge} for edge in self.edges],
        }


def drawing(trace: Trace, superseded: Sequence[Fact] = ()) -> Drawing:
    """The graph of an answer's evidence, or of what was closest when it abstained; ``superseded`` facts beside it."""
    shown = trace.answer.evidence or trace.answer.closest
    result = Drawing()
    if not shown and not _other_facts(trace, set()):
        result.why_empty = "Nothing was found for this question, so there is no evidence to draw."
        return result
    label = "CLOSEST" if trace.answer.abstained else "CITED"
    question = result.add_node("question", "Question", trace.question, trace.question)
    for place, item in enumerate(shown, start=1):
        number = f"[{place}]" if label == "CITED" else f"({place})"
        if item.fact:
            _add_fact(result, item.fact, "CITED_FACT" if label == "CITED" else "FACT", number)
            ends = result.add_node(f"entity:{item.fact.source_id}", "Entity", item.fact.source)
            result.add_edge(question, ends, label)
        else:
            result.add_edge(question, _add_evidence(result, item, number), label)
    for fact in _other_facts(trace, {item.candidate_id for item in shown}):
        _add_fact(result, fact, "FACT", "")
    for fact in superseded[:MAX_FACTS]:
        _add_fact(result, fact, "SUPERSEDED", "")
    return result


def _add_evidence(result: Drawing, item: Evidence, number: str) -> str:
    label = item.level or ("Entity" if item.kind == "entity" else "Passage")
    handle = item.name or item.title or item.turn or item.source or item.quote
    place = " · ".join(part for part in (item.source, item.session, item.turn) if part)
    top = result.add_node(item.candidate_id, label, f"{number} {handle}", item.text[: TEXT * 4], place)
    for parent in item.provenance[:MAX_PARENTS]:
        if parent.hops == 0:
            continue
        child = parent.child_id if parent.child_id in result.nodes else item.candidate_id
        below = _add_parent(result, parent)
        result.add_edge(result.nodes[child]["id"], below, "MADE_FROM")
    return top


def _add_parent(result: Drawing, parent: Provenance) -> str:
    if parent.node_id in result.nodes:  # also cited itself: it keeps its number
        return result.nodes[parent.node_id]["id"]
    text = parent.text[: TEXT * 4]
    return result.add_node(parent.node_id, parent.level, parent.turn or text, text, parent.source)


def _add_fact(result: Drawing, fact: Fact, label: str, number: str) -> None:
    ends = (
        result.add_node(f"entity:{fact.source_id}", "Entity", fact.source),
        result.add_node(f"entity:{fact.target_id}", "Entity", fact.target),
    )
    caption = f"{number} {fact.relation.replace('_', ' ')}".strip()
    when = years(fact)
    result.add_edge(*ends, label, f"{caption} ({when})" if when else caption)
    result.edges[-1] |= {"text": inert(shortened(fact.description, TEXT)), "valid": valid_time(fact)}


def years(fact: Fact) -> str:
    """The years in which a fact held, ``2021–2023`` or ``since 2021``; empty where it does not say."""
    start, end = (fact.valid_at or "")[:4], (fact.invalid_at or "")[:4]
    if end:
        return f"{start}–{end}" if start else f"until {end}"
    return f"since {start}" if start else ""


def valid_time(fact: Fact) -> str:
    """From when to when a fact held, and whether it was superseded, in words."""
    held = f"{(fact.valid_at or 'not said')[:10]} to {(fact.invalid_at or 'now')[:10]}"
    return f"{held}; superseded {fact.expired_at[:10]}" if fact.expired_at else held


def _other_facts(trace: Trace, cited: set[str]) -> list[Fact]:
    """Facts that reached the gate and were not cited, best first, as many as can be drawn."""
    stage = trace.stage("gate") if trace.recipe == "graph" else None
    wanted = set(stage.before) - cited if stage else set()
    facts = {c.candidate_id: c.fact for c in trace.candidates if c.fact and c.candidate_id in wanted}
    ranked = [
        *(key for key in trace.ranking if key in facts),
        *(key for key in facts if key not in trace.ranking),
    ]
    return [fact for key in ranked[:MAX_FACTS] if (fact := facts[key])]
