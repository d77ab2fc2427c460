"""Remembering a text: chunks, summaries, entities, facts and vectors, all of it or nothing.

Models and embedders work before the one transaction that writes; if somebody else changed the dataset meanwhile, names
are resolved again against what is there now, and a model is asked again only where the facts it was shown have changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core import clock
from core.errors import NotFoundError, StoreError
from core.ingest import chunk
from core.ingest.items import ArtifactItem
from core.journal import Journal
from core.models.chat import ChatModel, Reasoning
from core.records import DEFAULT_DATASET, DEFAULT_USER, Dataset
from core.remember import REMEMBER_STAGES
from core.remember.calls import Caller, check_stages
from core.remember.cut import SAME_ENTITY, Cut
from core.remember.extract import Extraction, Spans, extraction, summaries
from core.remember.plan import Plan, Planner
from core.remember.report import NOTHING_EXTRACTED, Remembered, unchanged
from core.remember.request import MAX_TEXT, artifact_of
from core.remember.texts import Vectors, titled
from core.remember.write import ChangedError, Draft, Stored, stored, write
from core.workspace import Workspace

__all__ = ["REMEMBER_STAGES", "Remembered", "remember"]

TRIES = 50
"""How often names are resolved again because somebody else wrote first; one of the writers gets through each time."""


def remember(
    workspace: Workspace,
    text: str,
    *,
    user_id: str = DEFAULT_USER,
    dataset: str = DEFAULT_DATASET,
    session_id: str | None = None,
    valid_at: str | None = None,
    source: str | None = None,
    chat: ChatModel | None = None,
    reasoning: Mapping[str, Reasoning] | None = None,
    models: Mapping[str, str] | None = None,
    journal: Journal | None = None,
    same_entity: Cut = SAME_ENTITY,
    max_bytes: int = MAX_TEXT,
) -> Remembered:
    """Stores ``text`` in ``dataset``, made if needed. The same text, session and ``valid_at`` again change nothing.

    ``valid_at`` is when the text was said (default: now); relative dates count from it. ``source`` names the artifact;
    another text under the same name replaces its chunks. Without ``chat`` nothing is extracted.

    Raises:
        UsageError: a text, session, moment, stage or level that cannot be taken. ScoreSpaceError: ``same_entity`` was
        set for another embedder. ChatError, ModelError: a model gave no usable reply. StoreError: it cannot be written.
        Nothing is stored then.
    """
    check_stages(REMEMBER_STAGES, reasoning or {}, models or {})
    artifact = artifact_of(
        text,
        user_id=user_id,
        dataset=dataset,
        session=session_id,
        valid_at=valid_at,
        source=source,
        limit=max_bytes,
    )
    min_cosine = same_entity.bound(workspace.embedder.model_id)
    journal = journal or Journal(kind="remember", user_id=user_id, dataset=dataset, session_id=session_id)
    caller = (
        Caller(chat=chat, journal=journal, models=models or {}, reasoning=reasoning or {}) if chat else None
    )
    run = _Run(
        workspace=workspace,
        user_id=user_id,
        dataset=dataset,
        artifact=artifact,
        caller=caller,
        journal=journal,
        min_cosine=min_cosine,
        moment=artifact.valid_at or clock.now(),
    )
    return run.remembered()


@dataclass(slots=True, kw_only=True)
class _Run:
    """One call. ``said`` keeps a model's verdicts by what it was shown."""

    workspace: Workspace
    user_id: str
    dataset: str
    artifact: ArtifactItem
    caller: Caller | None
    journal: Journal
    min_cosine: float
    moment: str

    def remembered(self) -> Remembered:
        there = stored(self.workspace.store, self._read(), self.artifact)
        if there and self._done(there):
            return unchanged(there, self.artifact.session)
        spans = chunk.spans(self.artifact.text)
        summed, stated = self._by_model(spans)
        vectors = Vectors(store=self.workspace.store, embedder=self.workspace.embedder)
        self._embed_text(spans, summed, vectors)
        planner = self._planner()
        for _ in range(TRIES):
            dataset = self._read()
            there = stored(self.workspace.store, dataset, self.artifact)
            if there and self._done(there):
                return unchanged(there, self.artifact.session)
            now = clock.now()
            if planner and stated:
                plan = planner.plan(stated, dataset, vectors, now)
            else:
                plan = Plan(notices=[NOTHING_EXTRACTED])
            try:
                return self._written(plan, dataset, summed, spans, vectors, now)
            except ChangedError:
                continue
        raise StoreError(
            f"dataset {self.dataset!r} changed {TRIES} times while this text was remembered; nothing was stored, "
            "send it again when fewer write to it"
        )

    def _planner(self) -> Planner | None:
        if self.caller is None:
            return None
        return Planner(
            caller=self.caller, text=self.artifact.text, moment=self.moment, min_cosine=self.min_cosine
        )

    def _read(self) -> Dataset | None:
        try:
            return self.workspace.store.dataset(self.dataset, self.user_id)
        except NotFoundError:
            return None

    def _done(self, there: Stored) -> bool:
        return there.extracted or self.caller is None

    def _by_model(self, spans: Spans) -> tuple[list[str], Extraction | None]:
        if self.caller is None:
            return [], None
        summed: list[str] = []
        if len(spans) > 1:
            with self.journal.step("summarize", chunks=len(spans)):
                summed = summaries(self.caller, self.artifact.text, spans)
        with self.journal.step("extract", chunks=len(spans)) as sizes:
            stated = extraction(self.caller, self.artifact.text, spans, moment=self.moment)
            sizes.update(entities=len(stated.entities), facts=len(stated.facts))
        return summed, stated

    def _embed_text(self, spans: Spans, summed: Sequence[str], vectors: Vectors) -> None:
        """Chunks (nodes have the same texts) and summaries, a model's or extractive ones."""
        chunks = [self.artifact.text[start:end] for start, end in spans]
        extracts = [chunk.summary(text) for text in chunks] if len(chunks) > 1 else []
        with self.journal.step("embed", chunks=len(chunks)):
            vectors.add(titled(self.artifact.title, text) for text in chunks)
            vectors.add(filter(None, summed or extracts))

    def _written(
        self,
        plan: Plan,
        dataset: Dataset | None,
        summed: Sequence[str],
        spans: Spans,
        vectors: Vectors,
        now: str,
    ) -> Remembered:
        draft = Draft(
            user_id=self.user_id,
            dataset=self.dataset,
            read=dataset,
            artifact=self.artifact,
            summaries=summed,
            extracted=self.caller is not None,
            entities=plan.entities,
            facts=plan.facts,
            closings=plan.closings,
            now=now,
        )
        with self.journal.step("write", entities=len(plan.entities), facts=len(plan.facts)):
            artifact_id, superseded = write(self.workspace.store, draft, vectors)
        return Remembered(
            artifact_id=artifact_id,
            chunks=len(spans),
            entities=len(plan.entities),
            edges=len(plan.facts),
            superseded=superseded,
            extracted=draft.extracted,
            session_id=self.artifact.session,
            notices=tuple(plan.notices),
        )
