"""The reranker that only counts terms, by hand and in the pipeline."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from core.ingest.items import NodeItem
from core.models.registry import reranker
from core.models.term_overlap import TermOverlap
from core.profile import load
from core.workspace import Workspace


def test_the_share_of_the_questions_stems() -> None:
    asked = "Which harbours did the mayor open?"  # harbour, mayor, open
    passages = ["The mayor opened a harbour.", "The mayor.", "", "of the", "harbour harbour"]
    found = TermOverlap().scores(asked, passages)
    np.testing.assert_allclose(found, [1, 1 / 3, 0, 0, 1 / 3], rtol=1e-6)
    assert found.dtype == np.float32
    assert TermOverlap().scores("of the", passages).tolist() == [0.0] * 5
    assert TermOverlap().scores(asked, []).shape == (0,)
    assert isinstance(reranker("overlap"), TermOverlap)


def test_it_reranks_a_question(make_workspace: Callable[..., Workspace]) -> None:
    texts = [
        "The harbour was opened by the mayor in May.",
        "The harbour is old.",
        "Mayors open harbours and parks.",
    ]
    workspace = make_workspace(
        [NodeItem(level="L0", text=text, source=f"d{n}") for n, text in enumerate(texts)]
    )
    profile = load("seed", "brain").with_values({"rerank.method": "overlap", "rerank.weight": 1.0})
    trace = workspace.ask("mayor opening the harbour in May", dataset="main", recipe="brain", profile=profile)
    stage = next(stage for stage in trace.stages if stage.name == "rerank")
    assert stage.space == "term-overlap/stems"
    scores = {one.source: one.scores["term-overlap/stems"] for one in trace.candidates}
    assert scores == {"d0": 1.0, "d1": 0.25, "d2": 0.75}
    assert [one.rpartition(":")[2] for one in stage.after] != []
