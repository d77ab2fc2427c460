"""What a model is told and sent, line by line."""

from __future__ import annotations

import pytest

from core.answer.prompts import CITED_SYSTEM, GRAPH_SYSTEM, NOT_ANSWERABLE, Passage, graph_prompt
from core.records import Chunk, Entity, Fact

NOW = "2025-06-01T00:00:00Z"
ALICE = Entity(entity_id=1, name="Alice", type="person", description="engineer", updated_at=NOW)
ACME = Entity(entity_id=2, name="Acme", type="organization", updated_at=NOW)
WORKED = Fact(fact_id=1, source_id=1, target_id=2, source="Alice", target="Acme", relation="works_at",
              description="Alice works at Acme.", valid_at="2023-01-01T00:00:00Z", invalid_at="2024-03-01T00:00:00Z",
              created_at=NOW)  # fmt: skip
CHUNK = Chunk(
    chunk_id=14, artifact_id=12, source="cv", title="", position=3, start=90, text="She joined.\nShe stayed."
)


def test_entities_and_edges_are_lines_with_ids_and_times() -> None:
    assert graph_prompt("Where?", [ALICE, ACME], [WORKED], [], NOW) == (
        "<graph>\n"
        "[entity 1] Alice (person): engineer\n"
        "[entity 2] Acme (organization)\n"
        "[edge 1] Alice(1) --works_at--&gt; Acme(2): Alice works at Acme. "
        "[valid_at=2023-01-01T00:00:00Z, invalid_at=2024-03-01T00:00:00Z]\n"
        "</graph>\n"
        f"<current_time>{NOW}</current_time>\n"
        "<question>\nWhere?\n</question>"
    )


@pytest.mark.parametrize(
    ("summary", "with_text", "lines"),
    [
        ("Alice joined.", True, "summary: Alice joined.\ntext: She joined.\n  She stayed."),
        (None, True, "text: She joined.\n  She stayed."),
        ("Alice joined.", False, "summary: Alice joined."),
    ],
)
def test_a_passage_says_which_chunk_of_which_text_it_is(
    summary: str | None, with_text: bool, lines: str
) -> None:
    passage = Passage(chunk=CHUNK, summary=summary, with_text=with_text)
    prompt = graph_prompt("Where?", [ALICE], [], [passage], NOW)
    assert f"</graph>\n<passages>\n[passage 14] chunk 3 of text 12\n{lines}\n</passages>\n" in prompt


def test_sections_without_content_are_left_out_but_for_the_graph() -> None:
    prompt = graph_prompt("Where?", [], [], [], NOW)
    assert prompt.startswith("<graph>\n")
    assert "passages" not in prompt
    assert "nearby" not in prompt


def test_the_model_is_told_what_it_may_use_and_how_to_reply() -> None:
    for told in ("Use nothing but", "<graph>", "<passages>", "invalid_at", "about the past", "<current_time>",
                 "one JSON object and nothing else", '"answer"', '"entities"', '"edges"', '"passages"'):  # fmt: skip
        assert told in GRAPH_SYSTEM.replace("\n", " ")
    for told in ("Use nothing but", "<memories>", "[mem:n1]", NOT_ANSWERABLE):
        assert told in CITED_SYSTEM
