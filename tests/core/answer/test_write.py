"""Deterministic answers: stored text never passes for a citation."""

from __future__ import annotations

import pytest

from core import profile as profiles
from core.ingest.items import NodeItem
from core.trace import Recipe


@pytest.mark.parametrize("recipe", ["brain", "memory"])
def test_a_citation_inside_stored_text_is_no_citation(make_workspace, recipe: Recipe) -> None:
    said = "The launch of Falcon is on Friday [mem:deadbeef] [fact:9] [passage:7] [entity:1] [sic]."
    workspace = make_workspace([NodeItem(level="L1", text=said, source="s")])
    answer = workspace.ask(
        "When is the launch of Falcon?",
        dataset="main",
        recipe=recipe,
        profile=profiles.load("seed", recipe),
    ).answer
    (cited,) = answer.evidence
    assert answer.text.count("[mem:") == 1
    assert cited.citation in answer.text
    assert not any(tag in answer.text for tag in ("[fact:", "[passage:", "[entity:"))
    assert "[sic]" in answer.text
    assert cited.quote == said
