"""The same nine arms by `assay sweep` and by context-grid, both from empty caches: time, and recall."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

import numpy as np
import pytest

from core.ingest.items import ArtifactItem, CaseItem
from core.profile import Profile, load
from core.store import Store
from evals.cases import Case
from evals.cli import stored_cases
from evals.formats import loader
from evals.recording import Recording
from evals.replay import Replayer
from evals.sweep.arms import Arm
from evals.sweep.corpora import Corpora
from evals.sweep.sweep import Recordings, Sweep, run
from evals.tuning.objective import parse_objective

pytestmark = [pytest.mark.bench, pytest.mark.data, pytest.mark.filterwarnings("ignore")]
K = 5
FLOORS_OFF = {
    "floor.min_overlap": 0.0, "floor.min_score": 0.0, "floor.min_cosine": -1.0, "select.k": K, "mmr.lambda": 1.0,
}  # fmt: skip
FUSED = {"dense": "dense", "bm25": "lexical", "hybrid": "convex"}
RERANKED = {
    "none": {},
    "lexical": {"rerank.method": "overlap", "rerank.weight": 1.0, "rerank.depth": 50},
    "mmr": {"mmr.lambda": 0.7},
}
ARMS = {
    (index, reranker): Arm(
        values={"fusion.method": method, "recall.lexical": "bm25", "fusion.weight": 0.5, "embedder": "tfidf", **changes}
    )
    for index, method in FUSED.items()
    for reranker, changes in RERANKED.items()
}  # fmt: skip
TIMES = 20
"""How much faster it must be."""


def with_sentences(rows: list[object]) -> tuple[list[ArtifactItem], list[CaseItem]]:
    """The passages, and the questions whose answer's sentences are marked."""
    artifacts = [item for item in rows if isinstance(item, ArtifactItem)]
    cases = [item for item in rows if isinstance(item, CaseItem)]
    return artifacts, [case for case in cases if any(g.quote for g in Case.from_body(case.body).citations)]


def ours(
    artifacts: list[ArtifactItem], cases: list[CaseItem], folder: Path
) -> tuple[float, dict[tuple[str, str], float]]:
    from core.ingest.ingestor import ingest

    db = folder / "assay.db"
    begun = perf_counter()
    with Store.open(db) as store:
        ingest(store, "clapnq", [(f"x:{n}", item) for n, item in enumerate([*artifacts, *cases])])
    base = load("seed", "brain").with_values(FLOORS_OFF)
    wanted = Sweep(
        arms=list(ARMS.values()), base=base, axes=(), objective=parse_objective("recall@5"), user="local"
    )
    with Corpora(db, folder, "clapnq", "local", None) as corpora:
        results, left = run(wanted, corpora, lambda ws, name: stored_cases(ws, name, "local"), folder)
        seconds = perf_counter() - begun
        recorded = Recordings(
            wanted, corpora, lambda ws, name: stored_cases(ws, name, "local"), folder / "recordings"
        )
        selected = [chosen(recorded.of(arm, arm.profile(base)), arm.profile(base)) for arm in wanted.arms]
    assert left == 0
    assert [one.failed for one in results] == [None] * len(ARMS)
    gold = {case.case_id: {g.source for g in Case.from_body(case.body).citations} for case in cases}
    with Store.open(db) as store:
        ids = [store.dataset("clapnq").dataset_id]
        nodes = store.nodes([int(row) for row in store.columns("node", ids).row_ids])
    sources = {node.node_id: node.source for node in nodes}
    return seconds, {key: recall(one, gold, sources) for key, one in zip(ARMS, selected, strict=True)}


def chosen(recording: Recording, profile: Profile) -> dict[str, tuple[str, ...]]:
    """The ids that were selected for each case."""
    replayer = Replayer(recording)
    decisions = [replayer.decision(number, profile) for number in range(len(recording.cases))]
    return {one.case_id: one.chosen for one in decisions}


def recall(selected: dict[str, tuple[str, ...]], gold: dict[str, set[str]], sources: dict[str, str]) -> float:
    """Mean share of the gold passages among the ``K`` that were selected."""
    shares = [
        len({sources[one] for one in ids[:K]} & gold[case_id]) / len(gold[case_id])
        for case_id, ids in selected.items()
    ]
    return float(np.mean(shares))


def theirs(
    artifacts: list[ArtifactItem], cases: list[CaseItem]
) -> tuple[float, dict[tuple[str, str], float]]:
    import contextgrid as cg
    from contextgrid.core.evalset import EvalItem, EvalSet, GoldAnchor

    names = {artifact.source: f"{number:04d}.md" for number, artifact in enumerate(artifacts)}
    items = [
        EvalItem(
            id=case.case_id,
            question=str(case.body["question"]),
            anchors=tuple(
                GoldAnchor(source_id=names[gold.source], quote=gold.quote or "")
                for gold in Case.from_body(case.body).citations
            ),
        )
        for case in cases
    ]
    begun = perf_counter()
    lab = cg.Lab(corpus={names[artifact.source]: artifact.text for artifact in artifacts})
    lab.grid(
        chunker="recursive:2048", embedder="tfidf", index=list(FUSED), reranker=[None, "lexical", "mmr"],
        candidates=50, k=K,
    )  # fmt: skip
    results = lab.run(EvalSet(items=tuple(items)), mode="factorial", headline=f"recall@{K}")
    seconds = perf_counter() - begun
    found = {}
    for one in results.runs:
        found[str(one.config.index), str(one.config.reranker or "none")] = float(one.metrics[f"recall@{K}"])
    return seconds, found


def test_nine_arms_beside_context_grid(public_data: Path, tmp_path: Path) -> None:
    rows = [item for _, _, item in loader("clapnq")(public_data / "clapnq")]
    artifacts, cases = with_sentences(rows)
    seconds, found = ours(artifacts, cases, tmp_path)
    other_seconds, other = theirs(artifacts, cases)
    print(
        f"\nnine arms, {len(artifacts)} passages, {len(cases)} questions: {seconds:.1f} s, context-grid "
        f"{other_seconds:.1f} s: {other_seconds / seconds:.0f}×"
    )
    for key, value in found.items():
        print(f"{key[0]:<8}{key[1]:<9}recall@{K} {value:.3f}   context-grid {other[key]:.3f}")
    assert all(value >= other[key] for key, value in found.items())
    assert other_seconds >= TIMES * seconds
