"""Answers without a model: facts in words with their validity, each kept item with its citation, no stored tag as one."""

from __future__ import annotations

import pytest

from core import profile as profiles
from core.answer.write import fact_sentence, listed
from core.ingest.items import NodeItem
from core.records import Fact
from core.trace import Evidence, Recipe


def fact(valid_at: str | None = None, invalid_at: str | None = None) -> Fact:
    return Fact(fact_id=1, source_id=1, target_id=2, source="Ines", target="Meridian", relation="works_at",
                valid_at=valid_at, invalid_at=invalid_at, created_at="2024-01-01T00:00:00Z")  # fmt: skip


@pytest.mark.parametrize(
    ("times", "validity"),
    [
        ((), ""),
        (("2023-01-01T00:00:00Z",), " (valid from 2023-01-01)"),
        ((None, "2024-03-01T12:30:00Z"), " (valid until 2024-03-01T12:30:00Z)"),
        (("2023-01-01T00:00:00Z", "2024-03-01T00:00:00Z"), " (valid from 2023-01-01 until 2024-03-01)"),
    ],
)
def test_a_fact_is_subject_relation_object_and_validity(times: tuple[str | None, ...], validity: str) -> None:
    assert fact_sentence(fact(*times)) == f"Ines works at Meridian{validity}"


def test_a_list_has_a_line_for_each_with_its_citation() -> None:
    kept = [
        Evidence(candidate_id=key, kind="node", citation=f"[mem:{key}]", text=quote, quote=quote, start=0, end=len(quote),
                 source="s") for key, quote in (("a", "One\n two."), ("b", "Three."))
    ]  # fmt: skip
    assert listed(kept) == "One two. [mem:a]\nThree. [mem:b]"
    assert listed([]) == ""


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
