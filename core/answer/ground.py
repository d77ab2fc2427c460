"""Grounding: a cited candidate becomes evidence that resolves, down to the L0 nodes it was made from."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from core.answer.sentences import best_sentence
from core.answer.write import fact_sentence
from core.records import LEVELS, NodeLink
from core.store import Store
from core.trace import Candidate, Evidence, Provenance

CITATION = {"node": "[mem:{}]", "chunk": "[passage:{}]", "fact": "[fact:{}]", "entity": "[entity:{}]"}


def evidence_of(
    candidate: Candidate,
    question_stems: Collection[str],
    idf: Callable[[str], float],
    score: float | None,
    provenance: tuple[Provenance, ...] = (),
) -> Evidence:
    """The evidence a citation of ``candidate`` stands for, with its best-matching sentence as the quote."""
    start, end = best_sentence(candidate.text, question_stems, idf, candidate.title)
    quote = fact_sentence(candidate.fact) if candidate.fact else candidate.text[start:end]
    return Evidence(
        candidate_id=candidate.candidate_id,
        kind=candidate.kind,
        citation=CITATION[candidate.kind].format(candidate.candidate_id.rsplit(":", 1)[-1]),
        text=candidate.text,
        quote=quote,
        start=start,
        end=end,
        source=candidate.source,
        title=candidate.title,
        turn=candidate.turn,
        session=candidate.session,
        speaker=candidate.speaker,
        name=candidate.name,
        level=candidate.level,
        valid_at=candidate.valid_at,
        score=score,
        fact=candidate.fact,
        provenance=provenance,
    )


def walk(
    store: Store, dataset_ids: Sequence[int], node_ids: Sequence[str]
) -> dict[str, tuple[Provenance, ...]]:
    """For each node its ancestors, nearest first, each once: one hop from an L1 node, two from an L2 node.

    An L0 node is its own provenance (hops 0), so that every hit has at least one entry.
    """
    nodes = {node.node_id: node for node in store.nodes_by_id(dataset_ids, node_ids)}
    links: dict[str, list[NodeLink]] = {}
    frontier = list(nodes)
    for _ in range(len(LEVELS) - 1):
        found = store.links_from(dataset_ids, frontier) if frontier else []
        for link in found:
            links.setdefault(link.child_id, []).append(link)
        frontier = list(dict.fromkeys(link.parent_id for link in found))
        nodes |= {node.node_id: node for node in store.nodes_by_id(dataset_ids, frontier)}
    result = {}
    for start in node_ids:
        entries: dict[str, Provenance] = {}
        ring: list[tuple[str, str | None]] = [(start, None)]
        for hops in range(len(LEVELS)):
            for node_id, child_id in ring:
                node = nodes.get(node_id)
                if node is None or node_id in entries or (hops == 0 and node.level != "L0"):
                    continue
                entries[node_id] = Provenance(
                    node_id=node_id,
                    level=node.level,
                    source=node.source,
                    turn=node.turn,
                    text=node.text,
                    hops=hops,
                    child_id=child_id,
                )
            ring = [(link.parent_id, link.child_id) for node_id, _ in ring for link in links.get(node_id, [])]
        result[start] = tuple(entries.values())
    return result
