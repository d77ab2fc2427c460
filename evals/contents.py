"""What a dataset holds, read whole: its texts by what evidence names them by, its facts and its labelled questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from core.errors import DataError
from core.records import Dataset, Fact, Node
from core.store import Store
from evals.cases import Case, Gold


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """One dataset. ``broken`` says of a stored question that is no case why; ``places`` where a case stands, where that
    is known (``file:line``)."""

    name: str
    texts: Mapping[tuple[str, str | None], Sequence[str]]
    facts: Sequence[Fact] = ()
    cases: Sequence[Case] = ()
    broken: Mapping[str, str] = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    made_from: Sequence[tuple[Node, Node]] = ()
    """Each note with a node it was made from."""

    @property
    def sources(self) -> set[str]:
        """Every source there is a text of."""
        return {source for source, _ in self.texts}

    def text_of(self, gold: Gold) -> str | None:
        """The text a piece of evidence names: of its turn, else of its document, else of the turns of its source; a fact
        is what it says."""
        if gold.fact is not None:
            return gold.key
        found = self.texts.get((gold.source, gold.turn))
        if found is None and gold.turn is None:
            found = [
                text for (source, _), parts in self.texts.items() if source == gold.source for text in parts
            ]
        return "\n".join(found) if found else None


def contents(store: Store, dataset: Dataset, places: Mapping[str, str] | None = None) -> Contents:
    """Reads a dataset of a store."""
    ids = [dataset.dataset_id]
    cases, broken = [], {}
    for _, item in store.cases(ids):
        try:
            cases.append(Case.from_body(item.body))
        except DataError as error:
            broken[item.case_id] = str(error)
    nodes = store.nodes([int(row) for row in store.columns("node", ids).row_ids])
    return Contents(
        name=dataset.name,
        texts=_texts(store, ids, nodes),
        facts=store.facts([int(row) for row in store.columns("fact", ids).row_ids]),
        cases=cases,
        broken=broken,
        places=dict(places or {}),
        counts=store.counts(dataset.dataset_id),
        made_from=_made_from(store, ids, nodes),
    )


def _made_from(store: Store, ids: list[int], nodes: Sequence[Node]) -> list[tuple[Node, Node]]:
    by_id = {node.node_id: node for node in nodes}
    notes = [node.node_id for node in nodes if node.level != "L0"]
    return [(by_id[link.child_id], by_id[link.parent_id]) for link in store.links_from(ids, notes)]


def _texts(store: Store, ids: list[int], nodes: Sequence[Node]) -> dict[tuple[str, str | None], list[str]]:
    """Whole documents, and the nodes of turns and notes that are not a part of one."""
    texts: dict[tuple[str, str | None], list[str]] = {
        (artifact.source, None): [artifact.text] for artifact in store.artifacts(ids)
    }
    whole = set(texts)
    for node in nodes:
        if (node.source, node.turn) not in whole:
            texts.setdefault((node.source, node.turn), []).append(node.text)
    return texts
