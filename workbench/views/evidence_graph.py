"""The graph of the evidence, drawn by Cytoscape."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import streamlit as st

from core.records import Fact
from core.show import palette
from core.trace import Trace
from workbench.graph import Drawing, drawing

GRAPH_HEIGHT = 520
READING = (
    "How to read it: the question points at what is cited (or, after an abstention, at what was closest). "
    "Click a node or an edge to read it; drag to rearrange, scroll to zoom."
)
CAPTIONS = {"font-size": 15, "text-wrap": "wrap", "text-max-width": 130, "min-zoomed-font-size": 4}
FADED = {"line-style": "dashed", "opacity": 0.55}
LEVELLED = {"name": "dagre", "rankDir": "LR", "rankSep": 110, "nodeSep": 34}
ENTITIES = {"name": "fcose", "idealEdgeLength": 130, "nodeSeparation": 120, "randomize": True}
LAYOUT = {"animate": False, "fit": True, "padding": 24, "nodeDimensionsIncludeLabels": True}


def show(trace: Trace, superseded: Sequence[Fact] = ()) -> None:
    """Draws the graph, its legend and how to read it; or says why there is none."""
    drawn = drawing(trace, superseded)
    if drawn.why_empty:
        st.info(drawn.why_empty, icon=":material/hub:")
        return
    _draw(drawn, f"graph:{_digest(drawn)}", ENTITIES if trace.recipe == "graph" else LEVELLED)
    st.html(_legend(drawn))
    st.caption(READING)


def _draw(drawn: Drawing, key: str, layout: dict[str, object]) -> None:
    from st_link_analysis import EdgeStyle, NodeStyle, st_link_analysis

    st_link_analysis(
        drawn.elements,
        layout=LAYOUT | layout,
        node_styles=[_Readable(NodeStyle(label, color, "caption")) for label, color in palette.NODE.items()],
        edge_styles=[
            # labeled=None: its own default makes the widget warn
            _Readable(EdgeStyle(label, color, caption="caption", labeled=None, directed=True))
            for label, color in palette.EDGE.items()
        ],
        height=GRAPH_HEIGHT,
        key=key,
    )


def _digest(drawn: Drawing) -> str:
    """What is drawn alike keeps its place in the browser, where a moved threshold changed nothing of it."""
    return sha256(repr(drawn.elements).encode("utf-8", "replace")).hexdigest()[:16]


class _Readable:
    """A style of the widget with captions large enough to read."""

    def __init__(self, style: Any) -> None:
        self._style = style

    def dump(self) -> dict[str, Any]:
        """What the widget sends to Cytoscape."""
        dumped: dict[str, Any] = self._style.dump()
        faded = FADED if self._style.label == "SUPERSEDED" else {}
        return dumped | {"style": dumped["style"] | CAPTIONS | faded}


def _legend(drawn: Drawing) -> str:
    nodes = Counter(node["label"] for node in drawn.nodes.values())
    edges = Counter(edge["label"] for edge in drawn.edges)
    rows = [
        *(_entry(color, label, nodes[label]) for label, color in palette.NODE.items() if nodes[label]),
        *(
            _entry(color, palette.EDGE_NAME[label], edges[label], "line")
            for label, color in palette.EDGE.items()
            if edges[label]
        ),
    ]
    return f'<div class="assay-legend">{"".join(rows)}</div>'


def _entry(color: str, name: str, count: int, shape: str = "dot") -> str:
    return f'<span><i class="{shape}" style="background:{color}"></i>{name} ({count})</span>'
