"""Recall of nodes: how wide it is, and that filters and floors both apply."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from core import profile as profiles
from core.ingest.items import NodeItem
from core.trace import Trace
from core.workspace import Workspace

MakeWorkspace = Callable[..., Workspace]
SECTIONS = ("intake", "mill", "canal")


def recalled(trace: Trace) -> int:
    stage = trace.stage("recall")
    assert stage is not None
    return len(stage.after)


@pytest.mark.parametrize(("k", "wide"), [(1, 50), (5, 50), (6, 60), (9, 90)])
def test_recall_is_fifty_or_ten_for_each_kept_inside_the_filter(
    make_workspace: MakeWorkspace, k: int, wide: int
) -> None:
    nearer = [NodeItem(level="L0", text="proxy buffer", source=f"log{n}") for n in range(120)]
    notes = [NodeItem(level="L1", text=f"proxy note {n}", source=f"notes{n}") for n in range(120)]
    workspace = make_workspace([*nearer, *notes])
    profile = profiles.load("seed", "memory").with_values({"rerank.method": "none", "select.k": k})
    trace = workspace.ask("proxy buffer", dataset="main", recipe="memory", profile=profile)
    assert recalled(trace) == wide
    assert {one.level for one in trace.candidates} == {"L1"}
    assert len(trace.answer.evidence) == k


def passages() -> list[NodeItem]:
    """Three sections of fifteen passages; one of all answers."""
    items = [
        NodeItem(level="L0", text=f"Nothing of note on day {day} there.", source=section, turn=f"t{day}", session=section,
                 position=day, title=section)
        for section in SECTIONS for day in range(15)
    ]  # fmt: skip
    items[22] = NodeItem(level="L0", text="The pump failed as its valve froze.", source="mill", turn="t7", session="mill",
                         position=7, title="mill")  # fmt: skip
    return items


def test_a_floor_is_held_against_each_passage_and_not_against_its_section(
    make_workspace: MakeWorkspace,
) -> None:
    trace = make_workspace(passages()).ask(
        "Why did the pump of the mill fail?",
        dataset="main",
        recipe="brain",
        profile=profiles.load("seed", "brain"),
    )
    space = trace.spaces["tfidf+cosine"]
    assert (trace.answer.evidence[0].source, trace.answer.evidence[0].turn) == ("mill", "t7")
    kept = {item.candidate_id for item in trace.answer.evidence}
    for one in trace.candidates:
        passes = one.scores["overlap"] >= 0.12 and (one.scores[space] > 0.34 or one.scores["overlap"] >= 0.2)
        if one.dropped and one.dropped.stage == "floor":
            assert not passes
            assert one.dropped.value in (one.scores["overlap"], one.scores[space])
        assert passes or one.candidate_id not in kept
    strict = profiles.load("seed", "brain").with_values({"floor.min_overlap": 0.5})
    only = make_workspace([]).ask(
        "Why did the pump of the mill fail?", dataset="main", recipe="brain", profile=strict
    )
    assert [(item.source, item.turn) for item in only.answer.evidence] == [("mill", "t7")]


@pytest.mark.parametrize(
    "chosen",
    [{"levels": ("L0",)}, {"hide_sources": frozenset({"intake"})},
     {"levels": ("L0", "L1"), "hide_sources": frozenset({"canal"})}, {"hide_sources": frozenset({"mill"})}],
)  # fmt: skip
def test_a_floor_applies_whatever_is_filtered(
    make_workspace: MakeWorkspace, chosen: dict[str, object]
) -> None:
    workspace = make_workspace(
        [*passages(), NodeItem(level="L1", text="The mill's pump failed.", source="notes")]
    )
    profile = profiles.load("seed", "brain").with_values({"floor.min_overlap": 0.5})
    trace = workspace.ask("Why did the pump fail?", dataset="main", recipe="brain", profile=profile, **chosen)  # type: ignore[arg-type]
    levels, hidden = chosen.get("levels", ("L0", "L1", "L2")), chosen.get("hide_sources", ())
    expected = {"mill", "notes"} - set(hidden) - ({"notes"} if "L1" not in levels else set())  # type: ignore[call-overload, operator]
    assert {item.source for item in trace.answer.evidence} == expected
    assert all(trace.candidate(item.candidate_id).scores["overlap"] >= 0.5 for item in trace.answer.evidence)
    assert {one.level for one in trace.candidates} <= set(levels)  # type: ignore[call-overload]
