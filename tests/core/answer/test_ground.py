"""Provenance: ancestors by hops, each once."""

from __future__ import annotations

from collections.abc import Callable

from core.answer.ground import walk
from core.ingest.items import NodeItem
from core.workspace import Workspace

ITEMS = [
    *(NodeItem(level="L0", text=f"Said {n}.", source="log", turn=f"t{n}", name=f"t{n}") for n in (1, 2, 3)),
    NodeItem(level="L1", text="First note.", source="notes", name="n1", parents=("t1", "t2")),
    NodeItem(level="L1", text="Second note.", source="notes", name="n2", parents=("t2", "t3")),
    NodeItem(level="L2", text="Both.", source="notes", name="s", parents=("n1", "n2", "t2")),
    NodeItem(level="L1", text="Of nothing.", source="notes", name="orphan"),
]


def test_a_source_is_listed_once_however_many_ways_lead_to_it(
    make_workspace: Callable[..., Workspace],
) -> None:
    store = make_workspace(ITEMS).store
    dataset = [store.dataset("main").dataset_id]
    ids = {node.name: node.node_id for node in store.nodes(range(1, len(ITEMS) + 1))}
    found = walk(store, dataset, [ids["s"], ids["n2"], ids["t1"], ids["orphan"]])
    names = {node_id: name for name, node_id in ids.items()}
    told = {names[key]: [(names[one.node_id], one.hops) for one in entries] for key, entries in found.items()}
    assert sorted(told["s"], key=lambda entry: (entry[1], entry[0] or "")) == [
        ("n1", 1), ("n2", 1), ("t2", 1), ("t1", 2), ("t3", 2)]  # fmt: skip
    assert sorted(told["n2"], key=lambda entry: entry[0] or "") == [("t2", 1), ("t3", 1)]
    assert told["t1"] == [("t1", 0)], "evidence is its own"
    assert told["orphan"] == []
