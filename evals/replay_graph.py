"""`graph` replayed: the recipe's own stages for each case and profile; a citation's worth is looked up once a case."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from core.answer.ground import evidence_of
from core.profile import Profile
from core.progress import Progress, quiet
from core.recipes.context import Item
from core.recipes.graph import GraphRun
from evals.metrics.citation import cites, finest, judgeable
from evals.recording import RecordedCase, Recording
from evals.replay_batch import Columns
from evals.replayed import Replayed, known
from evals.scoring import DEPTH, RETRIEVAL, keys_judged

Run = Callable[[int, Profile], GraphRun]
"""A case by its number under a profile, up to what is chosen."""


def replayed_graph(
    recording: Recording, run: Run, profiles: Sequence[Profile], *, progress: Progress = quiet
) -> Replayed:
    """Every case under every profile, which the recording is known to serve.

    No threshold of the graph changes the ranking that retrieval metrics are taken on, so there is one.
    """
    columns = Columns.empty(len(recording), len(profiles), 1)
    for number, case in enumerate(recording.cases):
        judge = _Judge(case)
        for place, profile in enumerate(profiles):
            done = run(number, profile)
            if place == 0:
                for name, value in judge.retrieval(done).items():
                    columns.retrieval[name][number] = value
            judge.write(done, columns, number, place)
        progress(1)
    return Replayed(
        profiles=tuple(profiles),
        cases=recording.cases,
        answerable=known(recording.cases),
        judgeable=np.array([judgeable(case.case) for case in recording.cases], dtype=bool),
        abstained=columns.abstained.T,
        correct=columns.correct.T,
        would_be_right=columns.would_be_right.T,
        confidence=columns.confidence.T,
        citation_precision=columns.citation_precision.T,
        citation_recall=columns.citation_recall.T,
        retrieval={name: values.T for name, values in columns.retrieval.items()},
        ranking_of=np.zeros(len(profiles), dtype=np.int64),
        confidence_space=recording.header.spaces["cosine"],
    )


class _Judge:
    """What citing an item is worth for one case: which gold evidence it holds, found out once."""

    def __init__(self, case: RecordedCase) -> None:
        self._case = case.case
        self._gold = finest(case.case)
        self._sets = case.case.evidence_sets() or (self._gold,)
        self._make = partial(
            evidence_of, question_stems=frozenset(case.idf), idf=case.idf.__getitem__, score=None
        )
        self._held: dict[str, frozenset[int]] = {}

    def retrieval(self, run: GraphRun) -> dict[str, float]:
        """Each metric of the ranking."""
        key_of, spaces = keys_judged(self._case.gold), run.inquiry.spaces
        keys = [key for key in (key_of(item.candidate(spaces)) for item in run.ranking) if key]
        ranking, relevance = (
            list(dict.fromkeys(keys))[:DEPTH],
            {one.key: one.relevance for one in self._case.gold},
        )
        return {name: metric(ranking, relevance) for name, metric in RETRIEVAL.items()}

    def write(self, run: GraphRun, columns: Columns, number: int, place: int) -> None:
        """The decision and what it is worth, as ``metrics.citation`` has it."""
        chosen, answerable = run.chosen, self._case.answerable
        abstained = not chosen
        considered = chosen or run.ranking[: run.profile.count("select.k")]
        supported = any(self._holds(item, run) for item in considered)
        columns.abstained[number, place] = abstained
        columns.correct[number, place] = abstained if answerable is False else not abstained and supported
        columns.would_be_right[number, place] = bool(answerable) and supported
        if run.confidence is not None:
            columns.confidence[number, place] = run.confidence
        if abstained or answerable is False or not self._gold:
            return
        cited = [item for item in chosen if item.kind != "entity"]
        if cited:
            right = sum(bool(self._holds(item, run)) for item in cited)
            columns.citation_precision[number, place] = right / len(cited)
        held = {self._gold[at] for item in chosen for at in self._holds(item, run)}
        recalls = [sum(gold in held for gold in golds) / len(golds) for golds in self._sets]
        columns.citation_recall[number, place] = max(recalls)

    def _holds(self, item: Item, run: GraphRun) -> frozenset[int]:
        if item.item_id not in self._held:
            evidence = self._make(item.candidate(run.inquiry.spaces))
            self._held[item.item_id] = frozenset(
                at for at, gold in enumerate(self._gold) if cites(evidence, gold)
            )
        return self._held[item.item_id]
