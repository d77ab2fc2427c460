"""Making notes: L1 out of L0 evidence, L2 out of L1 notes, each linked to what it was made from.

A window of nodes that has its notes is left alone, so that a run that was broken off goes on where it stopped. A model's
notes take the place of extractive ones, never the other way round; notes whose window changed are replaced.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from core.errors import UsageError
from core.journal import Journal
from core.models.chat import ChatModel, Reasoning
from core.progress import Progress, quiet
from core.records import DEFAULT_DATASET, DEFAULT_USER, Dataset, Node
from core.remember import SYNTHESIZE_STAGES
from core.remember.calls import Caller, check_stages
from core.remember.central import Rarity
from core.remember.cut import SAME_TOPIC, Cut
from core.remember.notes import unspoken
from core.remember.synth_run import Run, Synthesized
from core.remember.texts import Vectors, titled
from core.remember.windows import BELOW, By, Made, by_source, by_topic
from core.workspace import Workspace

__all__ = ["Synthesized", "synthesize"]


def synthesize(
    workspace: Workspace,
    *,
    dataset: str = DEFAULT_DATASET,
    level: Made = "L1",
    by: By = "source",
    user_id: str = DEFAULT_USER,
    source: str | None = None,
    session: str | None = None,
    chat: ChatModel | None = None,
    reasoning: Mapping[str, Reasoning] | None = None,
    models: Mapping[str, str] | None = None,
    journal: Journal | None = None,
    same_topic: Cut = SAME_TOPIC,
    progress: Progress = quiet,
) -> Synthesized:
    """Makes the notes of ``level`` that are missing, of the whole dataset or of one ``source`` or ``session``.

    ``by`` topic (L2 only) puts near notes of all sources together. Without ``chat`` a note is the sentences that
    say most of its window.

    Raises:
        UsageError: an option that cannot be taken. NotFoundError: no such dataset. ScoreSpaceError: ``same_topic`` was
        set for another embedder. ChatError: a call failed for a reason that would fail the next one too.
    """
    _check(level, by, source, session)
    check_stages(SYNTHESIZE_STAGES, reasoning or {}, models or {})
    min_cosine = same_topic.bound(workspace.embedder.model_id)
    journal = journal or Journal(kind="synthesize", user_id=user_id, dataset=dataset, session_id=session)
    found = workspace.store.dataset(dataset, user_id)
    vectors = Vectors(store=workspace.store, embedder=workspace.embedder)
    nodes = _below(workspace, found, level)
    if by == "topic":
        texts = [titled(node.title, node.text) for node in nodes]
        windows = by_topic(nodes, vectors.of(texts), min_cosine=min_cosine)
    else:
        windows = by_source(nodes, level)
    chosen = [one for one in windows if source in (None, one.source) and session in (None, one.session)]
    run = Run(
        workspace=workspace,
        dataset=found,
        level=level,
        by=by,
        caller=Caller(chat=chat, journal=journal, models=models or {}, reasoning=reasoning or {})
        if chat
        else None,
        vectors=vectors,
        rarity=Rarity(() if chat else map(unspoken, nodes)),
        progress=progress,
    )
    with journal.step("synthesize", nodes=len(nodes), windows=len(chosen)) as sizes:
        run.make(chosen)
        run.replace(chosen, whole=source is None and session is None)
        sizes.update(notes=run.notes, failed=len(run.failures))
    return run.report(nodes, chosen)


def _below(workspace: Workspace, dataset: Dataset, level: Made) -> list[Node]:
    columns = workspace.store.columns("node", [dataset.dataset_id])
    wanted = [
        int(row)
        for row, found in zip(columns.row_ids.tolist(), columns.levels, strict=True)
        if found == BELOW[level]
    ]
    return workspace.store.nodes(wanted)


def _check(level: Made, by: By, source: str | None, session: str | None) -> None:
    if level not in get_args(Made):
        raise UsageError(
            f"level must be one of {', '.join(get_args(Made))}, got {level!r}; L0 is what comes in"
        )
    if by not in get_args(By):
        raise UsageError(f"by must be one of {', '.join(get_args(By))}, got {by!r}")
    if by == "topic" and level != "L2":
        raise UsageError("by topic makes L2 of notes; L1 is made by source")
    if level == "L2" and session is not None:
        raise UsageError("a session selects what L1 is made of; L2 takes the notes of whole sources")
    if by == "topic" and source is not None:
        raise UsageError("by topic takes the notes of all sources; leave the source out")
