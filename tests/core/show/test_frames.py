"""Tables of hand-written Traces against values read off them by hand."""

from __future__ import annotations

from io import BytesIO

import pandas as pd
import pytest

from core.show import frames
from core.trace import RECIPES
from tests.workbench import traces


def test_the_funnel_counts_who_was_left_standing() -> None:
    table = frames.funnel(traces.brain_answered())
    assert list(zip(table["stage"], table["reached"], table["fell"], strict=True)) == [
        ("recall", 5, 0),
        ("fuse", 5, 0),
        ("rerank", 5, 0),
        ("floor", 3, 2),
        ("diversify", 3, 0),
        ("gate", 3, 0),
        ("select", 2, 1),
    ]
    assert table.set_index("stage").loc["floor", "by"] == "floor.min_overlap 2"


def test_what_the_reranker_did_not_read_has_fallen_there() -> None:
    table = frames.funnel(traces.memory_answered()).set_index("stage")
    assert (table.loc["rerank", "reached"], table.loc["rerank", "fell"]) == (3, 1)


def test_slopes_hold_both_ranks_and_both_scores() -> None:
    table = frames.slopes(traces.memory_answered()).set_index("candidate_id")
    assert table.loc["n1", ["before", "after", "cited"]].tolist() == [3, 1, 1]
    assert table.loc["n2", ["before", "after", "cited"]].tolist() == [1, 2, 2]
    assert table.loc["n3", ["before", "after"]].tolist() == [2, 3]
    assert pd.isna(table.loc["n3", "cited"])
    assert table.loc["n1", ["fused", "reranked"]].tolist() == [0.62, 0.83]
    assert "n4" not in table.index  # the reranker did not read it


@pytest.mark.parametrize("trace", [traces.brain_answered(), traces.graph_answered(), traces.nothing_found()])
def test_without_reranking_there_are_no_slopes(trace: traces.Trace) -> None:
    assert frames.slopes(trace).empty


def test_cuts_say_what_became_of_each_candidate() -> None:
    table = frames.cuts(traces.brain_answered())
    overlap = table[table["threshold"] == "floor.min_overlap"].set_index("candidate_id")
    assert overlap["outcome"].to_dict() == {
        "n1": "cited",
        "n2": "cited",
        "n3": "fell elsewhere",
        "n4": "fell here",
        "n5": "fell here",
    }
    assert set(overlap["cut"]) == {0.12}
    assert overlap.loc["n1", "score"] == 0.75


def test_candidates_stand_in_ranking_order_with_their_falls() -> None:
    table = frames.candidates(traces.brain_answered())
    assert table["rank"].tolist() == [1, 2, 3, 4, 5]
    assert table["cited"].tolist()[:2] == [1, 2]
    assert table[traces.COSINE].tolist() == [0.71, 0.55, 0.52, 0.08, 0.02]
    fallen = table.iloc[3]
    assert (fallen["fell at"], fallen["threshold"]) == ("floor", "floor.min_overlap")
    assert fallen["margin"] == pytest.approx(-0.12)


def test_unranked_candidates_come_last_without_a_rank() -> None:
    table = frames.candidates(traces.graph_answered())
    assert table["candidate_id"].tolist()[-1] == "entity:1"
    assert pd.isna(table["rank"].tolist()[-1])


def test_no_candidates_is_an_empty_table() -> None:
    assert frames.candidates(traces.nothing_found()).empty
    assert frames.cuts(traces.nothing_found()).empty
    assert frames.times(traces.nothing_found())["ms"].tolist() == [1.5, 1.5, 0.5]


def test_csv_reads_back_and_holds_no_formula() -> None:
    table = frames.candidates(traces.hostile())
    back = pd.read_csv(BytesIO(frames.csv(table)), keep_default_na=False)
    assert len(back) == 3
    texts = back["text"].tolist()
    assert any(text.startswith("'=HYPERLINK") for text in texts)
    assert not any(text.startswith(("=", "+", "-", "@")) for text in texts)


def test_every_recipe_has_a_trace_here() -> None:
    made = {traces.brain_answered().recipe, traces.memory_answered().recipe, traces.graph_answered().recipe}
    assert made == set(RECIPES)
