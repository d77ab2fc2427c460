"""One run of making notes: what is left to do, what it gave, what it takes the place of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from core.models.chat import ChatError, Outcome
from core.progress import Progress
from core.records import Dataset, Node
from core.remember.calls import Caller
from core.remember.central import Rarity
from core.remember.notes import Notes, extractive, written
from core.remember.synth_write import Batch, Kept, kept_notes, note_texts, remove_notes, write_notes
from core.remember.texts import Vectors
from core.remember.windows import BELOW, By, Made, Window
from core.workspace import Workspace

AT_ONCE = 256
"""Windows whose extractive notes are embedded and stored at once; a model's are stored window by window."""
OF_ONE_WINDOW: tuple[Outcome, ...] = ("unparsable", "truncated", "empty", "refused")
"""Failures that say nothing of the next window; any other ends the run, with what was stored kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthesized:
    """What came of it: ``windows`` there are, of which ``kept`` had their notes and ``failed`` gave none this time;
    ``notes`` and ``links`` stored, ``removed`` notes taken away as others took their place; ``dropped`` notes of a model
    named nothing they were made from, ``invented`` numbers of nodes it was not shown."""

    level: Made
    windows: int
    kept: int
    failed: int
    notes: int
    links: int
    removed: int
    dropped: int
    invented: int
    by_model: bool
    notices: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class Run:
    """One call, and what came of it so far."""

    workspace: Workspace
    dataset: Dataset
    level: Made
    by: By
    caller: Caller | None
    vectors: Vectors
    rarity: Rarity
    progress: Progress
    notes: int = 0
    links: int = 0
    removed: int = 0
    kept: int = 0
    alone: int = 0
    dropped: int = 0
    invented: int = 0
    failures: list[tuple[Window, ChatError]] = field(default_factory=list)

    def make(self, windows: Sequence[Window]) -> None:
        """Stores the notes of every window that has none of the wanted kind."""
        todo = iter(self._todo(windows))
        size = AT_ONCE if self.caller is None else 1
        while part := list(islice(todo, size)):
            made = [(window, notes.notes) for window in part if (notes := self._notes(window))]
            self.vectors.add(note_texts(made))
            batch = Batch(
                dataset=self.dataset,
                level=self.level,
                by=self.by,
                by_model=self.caller is not None,
                made=made,
            )
            added, linked = write_notes(self.workspace.store, batch, self.vectors)
            self.vectors.made.clear()
            self.notes, self.links = self.notes + added, self.links + linked
            self.progress(len(part))

    def replace(self, windows: Sequence[Window], *, whole: bool) -> None:
        """Takes away notes of windows that are no more, and extractive ones a model's took the place of; a group one of
        whose windows failed keeps what it has. ``whole``: also the notes of groups that are no more."""
        failed = {_place(window) for window, _ in self.failures}
        current: dict[tuple[str, str | None], set[str]] = {}
        for window in windows:
            current.setdefault(_place(window), set()).add(window.key)
        there = self._kept()
        by_model = {kept.key for kept in there if kept.by_model}
        gone = [
            kept.node_id
            for kept in there
            if (kept.source, kept.session) not in failed
            and (whole or (kept.source, kept.session) in current)
            and (
                kept.key not in current.get((kept.source, kept.session), ())
                or (not kept.by_model and kept.key in by_model)
            )
        ]
        self.removed = remove_notes(self.workspace.store, self.dataset, gone)

    def report(self, nodes: Sequence[Node], windows: Sequence[Window]) -> Synthesized:
        """What came of it."""
        return Synthesized(
            level=self.level,
            windows=len(windows),
            kept=self.kept,
            failed=len(self.failures),
            notes=self.notes,
            links=self.links,
            removed=self.removed,
            dropped=self.dropped,
            invented=self.invented,
            by_model=self.caller is not None,
            notices=tuple(self._notices(nodes, windows)),
        )

    def _todo(self, windows: Sequence[Window]) -> Iterator[Window]:
        there = self._kept()
        done = {kept.key for kept in there if kept.by_model or self.caller is None}
        for window in windows:
            if self.level == "L2" and len(window.nodes) < 2:
                self.alone += 1
            elif window.key in done:
                self.kept += 1
            else:
                yield window
                continue
            self.progress(1)

    def _kept(self) -> list[Kept]:
        return kept_notes(self.workspace.store, self.dataset, self.level, self.by)

    def _notes(self, window: Window) -> Notes | None:
        if self.caller is None:
            return extractive(window, self.rarity)
        try:
            notes = written(self.caller, window)
        except ChatError as error:
            if error.outcome not in OF_ONE_WINDOW:
                raise
            self.failures.append((window, error))
            return None
        self.dropped += notes.dropped
        self.invented += notes.invented
        return notes

    def _notices(self, nodes: Sequence[Node], windows: Sequence[Window]) -> Iterator[str]:
        below = BELOW[self.level]
        if not nodes:
            yield f"There are no {below} nodes in {self.dataset.name!r} to make {self.level} notes of."
        elif not windows:
            yield "No window is of that source and session."
        if self.caller is None:
            yield "No model wrote these notes: each is the sentences that say most of its window, as they stand there."
        if self.alone:
            yield f"{self.alone} groups have a single {below} note: there is nothing to bring together."
            if self.level == "L2" and self.by != "topic":
                yield "--by topic brings near notes of several sources together."
        for window, error in self.failures[:3]:
            yield f"{window.source} from {window.nodes[0].turn or 'the start'}: no notes: {error}"
        if len(self.failures) > 3:
            yield f"{len(self.failures) - 3} more windows gave no notes; run it again to try them again."


def _place(window: Window) -> tuple[str, str | None]:
    return window.source, window.session
