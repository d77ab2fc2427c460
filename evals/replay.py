"""Replay: what a recipe would have decided under other thresholds, out of a recording.

One case under one profile runs the recipe itself and gives a whole Trace; many cases under many profiles go through
``replay_batch`` (or, for recipe `graph`, ``replay_graph``), which tests hold equal to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import RecordingError
from core.profile import Profile
from core.progress import Progress, quiet
from core.recipes.graph import GraphRun
from core.recipes.graph_search import WIDE
from core.recipes.inquiry import Inquiry
from core.trace import Drop, ReasonCode, Trace
from core.workspace import RECIPE_FUNCTIONS, inquiry_notices
from evals import manifest
from evals.recorded import RecordedNodes, RecordedReranker, RecordedTable
from evals.recorded_graph import GraphTable, RecordedHits
from evals.recording import Recording
from evals.replay_batch import replayed_levelled
from evals.replay_graph import replayed_graph
from evals.replayed import Replayed
from evals.report import Summary
from evals.runs import EvalRequest, evaluate


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What was decided for one case: the ids in order after each stage, the ranking that retrieval metrics are taken
    on, what was cited, and if nothing was, why, and which threshold felled the closest candidate."""

    case_id: str
    orders: Mapping[str, tuple[str, ...]]
    ranking: tuple[str, ...]
    chosen: tuple[str, ...]
    abstained: bool
    reason: ReasonCode | None
    felled: Drop | None
    confidence: float | None


class Replayer:
    """Cases of one recording, ready to be replayed one at a time; for an app that moves a threshold."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self._numbers = {
            (case.dataset, case.case.case_id): number for number, case in enumerate(recording.cases)
        }

    def number(self, dataset: str, case_id: str) -> int:
        """Where a case stands in the recording.

        Raises:
            RecordingError: it was not recorded, or failed to be.
        """
        if (dataset, case_id) not in self._numbers:
            raise RecordingError(
                f"case {case_id!r} of dataset {dataset!r} is not in the recording; record it"
            )
        return self._numbers[dataset, case_id]

    def trace(self, number: int, profile: Profile) -> Trace:
        """The Trace a fresh run of the case would leave, its times and notices about indexes apart.

        Raises:
            RecordingError: the profile asks for what was not recorded.
        """
        self.recording.check(profile)
        inquiry = self._inquiry(number, profile)
        trace = RECIPE_FUNCTIONS[profile.recipe](inquiry)
        return trace.with_notices(inquiry_notices(inquiry, profile.recipe))

    def run_graph(self, number: int, profile: Profile) -> GraphRun:
        """A graph's case under a profile up to what is chosen, before an answer is written."""
        run = GraphRun(self._inquiry(number, profile))
        run.decide()
        return run

    def decision(self, number: int, profile: Profile) -> Decision:
        """What the recipe decides; raises what ``trace`` does."""
        return decision_of(self.recording.cases[number].case.case_id, self.trace(number, profile))

    def _inquiry(self, number: int, profile: Profile) -> Inquiry:
        recording, case = self.recording, self.recording.cases[number]
        datasets = dict(enumerate(case.datasets))
        return Inquiry(
            question=case.case.question,
            profile=profile,
            spaces=recording.header.spaces,
            datasets=datasets,
            levels=recording.header.levels,
            hide_sources=case.hide_sources,
            as_of=case.as_of,
            known_at=case.known_at,
            now=recording.header.recorded_at,
            content=case.content,
            **self._asked(number),
        )

    def _asked(self, number: int) -> dict[str, Any]:
        """What stands in the place of store, corpora and models; a recipe takes the real ones."""
        recording = self.recording
        if recording.header.recipe == "graph":
            graph = self._graphs[int(recording.arrays["dataset"][number])]
            hits = {kind: RecordedHits(recording, graph, number, kind) for kind in WIDE}
            return {
                "vector": np.asarray(recording.arrays["question"][number]),
                "store": graph,
                "corpus": hits.__getitem__,
                "entities": lambda: graph.everyone,
            }
        nodes, reranked = RecordedNodes(recording, self._table, number), "rerank" in recording.header.spaces
        return {
            "vector": np.full(1, recording.cases[number].searched, dtype=np.float32),
            "store": nodes,
            "corpus": lambda kind: nodes,
            "entities": list,
            "reranker": RecordedReranker(recording, self._table, number) if reranked else None,
        }

    @cached_property
    def _table(self) -> RecordedTable:
        return RecordedTable(self.recording)

    @cached_property
    def _graphs(self) -> list[GraphTable]:
        count = len(self.recording.arrays["entity_table"]) - 1
        return [GraphTable(self.recording, number) for number in range(count)]


def decision_of(case_id: str, trace: Trace) -> Decision:
    """The decision a Trace records."""
    answer = trace.answer
    closest = answer.closest[0].candidate_id if answer.abstained and answer.closest else None
    return Decision(
        case_id=case_id,
        orders={stage.name: stage.after for stage in trace.stages},
        ranking=trace.ranking,
        chosen=tuple(item.candidate_id for item in answer.evidence),
        abstained=answer.abstained,
        reason=answer.reason,
        felled=trace.candidate(closest).dropped if closest else None,
        confidence=answer.confidence,
    )


def evaluated(
    recording: Recording, profile: Profile, out: Path, *, seed: int = 0, progress: Progress = quiet
) -> Summary:
    """The recording's cases scored under a profile as ``runs.evaluate`` scores fresh ones; files go into ``out``.

    Raises:
        RecordingError: the profile asks for what was not recorded.
    """
    recording.check(profile)
    replayer, header = Replayer(recording), recording.header

    def ask(request: EvalRequest) -> Trace:
        return replayer.trace(replayer.number(request.dataset, request.case.case_id), profile)

    return evaluate(
        [(case.dataset, case.case) for case in recording.cases],
        ask,
        out,
        manifest=manifest.of_recording(recording, profile),
        variant=header.variant,
        levels=header.levels,
        drop_same_id=header.drop_same_id,
        broken=header.failures,
        progress=progress,
        seed=seed,
    )


def replay(
    recording: Recording,
    profiles: Sequence[Profile],
    *,
    workers: int | None = None,
    progress: Progress = quiet,
) -> Replayed:
    """Every case under every profile. ``workers`` threads (None: one for each processor).

    Raises:
        RecordingError: a profile asks for what was not recorded.
    """
    for profile in profiles:
        recording.check(profile)
    if recording.header.recipe == "graph":
        return replayed_graph(recording, Replayer(recording).run_graph, profiles, progress=progress)
    return replayed_levelled(recording, profiles, workers=workers, progress=progress)
