"""Figures of hand-written Traces: what is drawn, in which colour, and that no data becomes a tag."""

from __future__ import annotations

import re

import numpy as np
import plotly.graph_objects as go
import pytest

from core.show import charts, palette
from core.trace import Trace
from tests.workbench import traces

EVERY = [
    traces.brain_answered(),
    traces.memory_answered(),
    traces.graph_answered(),
    traces.below_floor(),
    traces.nothing_found(),
    traces.hostile(),
]
OWN_TAGS = re.compile(r"</?(?:b|br|sup)>")


def test_funnel_bars_carry_counts_and_stage_colours() -> None:
    bar = charts.funnel(traces.brain_answered()).data[0]
    assert list(bar.x) == [5, 5, 5, 3, 3, 3, 2]
    assert list(bar.y) == ["recall", "fuse", "rerank", "floor", "diversify", "gate", "select"]
    assert bar.text[3] == "3  (−2)"
    assert bar.marker.color[3] == palette.STAGE["floor"]


def test_slopes_draw_one_line_each_and_number_the_cited() -> None:
    lines = charts.slopes(traces.memory_answered()).data
    assert sorted(tuple(line.y) for line in lines) == [(1, 2), (2, 3), (3, 1)]
    cited = {tuple(line.y): line.text[1] for line in lines if line.text}
    assert cited == {(3, 1): "[1]", (1, 2): "[2]"}
    strong = next(line for line in lines if tuple(line.y) == (3, 1))
    assert strong.line.color == palette.GREEN
    assert "fused 0.620" in strong.hovertext
    assert "maxsim/minilm-l6-int8 0.830" in strong.hovertext
    assert "Root causes" in strong.hovertext


def test_cuts_are_lines_where_the_profile_puts_them() -> None:
    figure = charts.cuts(traces.brain_answered())
    assert sorted(shape.x0 for shape in figure.layout.shapes) == [
        0.12,
        0.2,
        0.34,
    ]  # min_cosine −1 lets all pass
    said = [note.text for note in figure.layout.annotations]
    assert said.count("off: every score passes") == 1
    assert "cut 0.34" in said


def test_times_are_labelled_in_milliseconds() -> None:
    bar = charts.times(traces.below_floor()).data[0]
    assert list(bar.text) == ["1.5 ms", "1.5 ms", "1.5 ms", "1.5 ms", "0.5 ms"]


@pytest.mark.parametrize("draw", [charts.funnel, charts.slopes, charts.cuts, charts.times])
@pytest.mark.parametrize("trace", EVERY, ids=lambda trace: f"{trace.recipe}-{len(trace.candidates)}")
def test_every_chart_takes_every_trace_and_holds_only_our_own_tags(draw: object, trace: Trace) -> None:
    figure = draw(trace)  # type: ignore[operator]
    assert isinstance(figure, go.Figure)
    for text in _strings(figure.to_dict()):
        assert "<" not in OWN_TAGS.sub("", text)


def _strings(value: object) -> list[str]:
    if isinstance(value, np.ndarray):
        return _strings(value.tolist())
    if isinstance(value, dict):
        return [text for part in value.values() for text in _strings(part)]
    if isinstance(value, list | tuple):
        return [text for part in value for text in _strings(part)]
    return [value] if isinstance(value, str) else []
