"""What notes are made of: nodes of the level below, in groups that belong together, a window at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

import numpy as np

from core.models.base import FloatArray
from core.records import Level, Node

Made = Literal["L1", "L2"]
By = Literal["source", "topic"]
BELOW: dict[Made, Level] = {"L1": "L0", "L2": "L1"}
TURNS = 12
"""Nodes a window may have."""
SIZE = 8000
"""Characters a window may have; one longer node is a window of its own."""
TOPICS = "topics"
"""Source of a synthesis whose notes come from several sources."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Nodes that one call makes notes of, in order, and the place its notes get."""

    nodes: tuple[Node, ...]
    source: str
    session: str | None

    @property
    def key(self) -> str:
        """12 hex digits over the nodes, in order: the same window has the same key."""
        return sha256("\x1f".join(node.node_id for node in self.nodes).encode()).hexdigest()[:12]


def by_source(nodes: Sequence[Node], level: Made) -> list[Window]:
    """L1: the turns of a session of a source; texts that are alone in their source are put together by session. L2: the
    notes of a source. In order of first appearance."""
    counts = Counter(node.source for node in nodes)
    groups: dict[tuple[str, str | None], list[Node]] = {}
    for node in nodes:
        alone = counts[node.source] == 1 and node.session is not None
        if level == "L2":
            place: tuple[str, str | None] = (node.source, None)
        else:
            place = (str(node.session) if alone else node.source, node.session)
        groups.setdefault(place, []).append(node)
    return [
        Window(nodes=part, source=source, session=session)
        for (source, session), group in groups.items()
        for part in _parts(sorted(group, key=_order))
    ]


def by_topic(nodes: Sequence[Node], vectors: FloatArray, *, min_cosine: float) -> list[Window]:
    """Clusters of at most ``TURNS`` nodes. Each node, in order, joins the cluster whose centre is nearest (ties: the
    oldest) if that is at least ``min_cosine`` near, else it starts one; a node without a vector belongs to none.

    Source: Hartigan, Clustering Algorithms, 1975, ch. 3 (leader algorithm), here with running means.
    """
    members: list[list[int]] = []
    sums = np.zeros((len(nodes), vectors.shape[1]), dtype=np.float32)
    for row in np.flatnonzero(vectors.any(axis=1)).tolist():
        open_ = [place for place, cluster in enumerate(members) if len(cluster) < TURNS]
        centres = sums[open_] / np.linalg.norm(sums[open_], axis=1, keepdims=True).clip(min=1e-12)
        cosines = centres @ vectors[row]
        if len(open_) and cosines.max() >= min_cosine:
            place = open_[int(cosines.argmax())]
        else:
            place = len(members)
            members.append([])
        members[place].append(row)
        sums[place] += vectors[row]
    return [_topic([nodes[row] for row in cluster]) for cluster in members]


def common(values: Iterable[str | None]) -> str | None:
    """The one value all share; None for several, or none."""
    distinct = set(values)
    return distinct.pop() if len(distinct) == 1 else None


def _topic(nodes: Sequence[Node]) -> Window:
    source = common(node.source for node in nodes)
    return Window(nodes=tuple(nodes), source=source or TOPICS, session=None)


def _order(node: Node) -> tuple[bool, int]:
    return node.position is None, node.position or 0


def _parts(nodes: Sequence[Node]) -> Iterator[tuple[Node, ...]]:
    """Cut from the front, so that a group that grows keeps its earlier windows."""
    part: list[Node] = []
    size = 0
    for node in nodes:
        if part and (len(part) == TURNS or size + len(node.text) > SIZE):
            yield tuple(part)
            part, size = [], 0
        part.append(node)
        size += len(node.text)
    if part:
        yield tuple(part)
