"""Boosted regression trees as plain numbers, for gates that a weighted sum cannot express."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

LEAF = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """Nodes 0 … n−1, the root first. ``feature`` is what a node looks at (an index, ``LEAF`` for a leaf); a value up to
    ``cut`` goes on at node ``left``, one above it at ``right``, both further on. ``value`` is the mean of what the node
    has below it; a leaf's is what the tree adds to z."""

    feature: tuple[int, ...]
    cut: tuple[float, ...]
    left: tuple[int, ...]
    right: tuple[int, ...]
    value: tuple[float, ...]

    def path(self, values: Sequence[float]) -> list[int]:
        """The nodes that a question comes by, the leaf last."""
        way = [0]
        while self.feature[way[-1]] != LEAF:
            at = way[-1]
            way.append(self.left[at] if values[self.feature[at]] <= self.cut[at] else self.right[at])
        return way

    def contributions(self, values: Sequence[float]) -> list[tuple[int, float]]:
        """What each look at a feature changed, root to leaf: with the root's value they sum to the leaf's.

        Source: Saabas, Interpreting random forests, 2014.
        """
        way = self.path(values)
        return [(self.feature[at], self.value[after] - self.value[at]) for at, after in pairwise(way)]
