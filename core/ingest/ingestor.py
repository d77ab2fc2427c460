"""Storing items: idempotent by content, batch by batch, so that a killed run and a rerun end where one run would."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from core.errors import DataError, UnstorableError
from core.ingest.case_rows import store_case
from core.ingest.graph_rows import store_entity, store_fact
from core.ingest.items import ArtifactItem, CaseItem, EntityItem, FactItem, Item, LinkItem, NodeItem, Problem
from core.ingest.node_rows import Links, store_artifact, store_node
from core.ingest.outcome import Early, Outcome, Refused, Target
from core.progress import Progress, quiet
from core.records import DEFAULT_USER
from core.store import Store
from core.store.base import Connection, dataset_scope
from core.store.datasets import check_name

BATCH = 500
"""Items that are acknowledged at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestReport:
    """Counts by kind of item, and everything that was wrong, by place."""

    added: Mapping[str, int]
    updated: Mapping[str, int]
    unchanged: Mapping[str, int]
    problems: tuple[Problem, ...]


class _RollBackError(Exception):
    """Ends a dry run."""


def ingest(
    store: Store,
    dataset_name: str,
    items: Iterable[tuple[str, Item | Problem]],
    *,
    user_id: str = DEFAULT_USER,
    dry_run: bool = False,
    strict: bool = False,
    batch: int = BATCH,
    progress: Progress = quiet,
) -> IngestReport:
    """Stores ``items`` in a dataset, made if needed. Each batch is one transaction, in input order.

    An artifact of a known source with another text replaces the old one's chunks and nodes.

    Raises:
        DataError: ``strict`` and anything wrong; nothing is written then. UsageError: no name for a dataset.
    """
    check_name(dataset_name)
    if strict:
        items = list(items)
        checked = ingest(store, dataset_name, items, user_id=user_id, dry_run=True)
        if checked.problems:
            first = "; ".join(map(str, checked.problems[:10]))
            raise DataError(f"{len(checked.problems)} problems and --strict: nothing was written. {first}")
    run = _Run(store, dataset_name, user_id)
    if dry_run:
        _try_out(run, items, progress)
    else:
        _store_in_batches(run, iter(items), batch, progress)
    return run.report()


def _try_out(run: _Run, items: Iterable[tuple[str, Item | Problem]], progress: Progress) -> None:
    try:
        with run.store.database.transaction(run.scope) as connection:
            run.open(connection)
            run.take(items, progress)
            run.finish()
            raise _RollBackError
    except _RollBackError:
        return


def _store_in_batches(
    run: _Run, items: Iterator[tuple[str, Item | Problem]], batch: int, progress: Progress
) -> None:
    made = False
    while part := list(islice(items, batch)):
        if not made and any(not isinstance(item, Problem) for _, item in part):
            run.store.ensure_dataset(run.name, run.user_id)
            made = True
        if made:
            with run.store.database.transaction(run.scope) as connection:
                run.open(connection)
                run.take(part, quiet)
                run.bump(connection)
        else:  # what cannot be read leaves no dataset behind
            run.take(part, quiet)
        progress(len(part))
    if made:
        with run.store.database.transaction(run.scope) as connection:
            run.open(connection)
            run.finish()
            run.bump(connection)


class _Run:
    """One ingest: what was seen, what came of it, and the links that wait for their ends."""

    def __init__(self, store: Store, dataset_name: str, user_id: str) -> None:
        self.name = dataset_name
        self.user_id = user_id
        self.store = store
        self.counts: Counter[tuple[str, Outcome]] = Counter()
        self.problems: list[Problem] = []
        self.links = Links()
        self.seen: dict[tuple[str, str], str] = {}
        self.target: Target
        self.dirty = False
        self.early: list[tuple[Problem, Item]] = []

    @property
    def scope(self) -> str:
        """What no other writer may overlap."""
        return dataset_scope(self.name, self.user_id)

    def open(self, connection: Connection) -> None:
        """Finds the dataset's row, which may have been deleted meanwhile."""
        found = "SELECT dataset_id FROM dataset WHERE user_id = ? AND name = ?"
        row = connection.execute(found, (self.user_id, self.name)).fetchone()
        if row is None:
            insert = "INSERT INTO dataset (user_id, name, uid, created_at) VALUES (?, ?, ?, '')"
            connection.execute(insert, (self.user_id, self.name, secrets.token_hex(16)))
            row = connection.execute(found, (self.user_id, self.name)).fetchone()
        self.target = Target(
            connection=connection, dataset_id=int(row[0]), dataset_name=self.name, seen=self.seen
        )

    def take(self, items: Iterable[tuple[str, Item | Problem]], progress: Progress) -> None:
        """Stores each item, or notes what is wrong with it."""
        for where, item in items:
            if isinstance(item, Problem):
                self.problems.append(item)
            else:
                self._store(where, item)
            progress(1)

    def finish(self) -> None:
        """What waited for something that came later; what still dangles is a problem."""
        early, self.early = self.early, []
        for problem, item in early:
            self._store(problem.where, item)
        self.problems += [problem for problem, _ in self.early]
        made, problems = self.links.settle(self.target)
        self._count("link", "added", made)
        self.problems += problems

    def bump(self, connection: Connection) -> None:
        """A new revision of the dataset if this transaction changed it."""
        if self.dirty:
            connection.execute(
                "UPDATE dataset SET revision = revision + 1 WHERE dataset_id = ?", (self.target.dataset_id,)
            )
            self.dirty = False

    def report(self) -> IngestReport:
        """What came of it."""

        def of(outcome: Outcome) -> dict[str, int]:
            return {kind: count for (kind, what), count in self.counts.items() if what == outcome and count}

        return IngestReport(
            added=of("added"), updated=of("updated"), unchanged=of("unchanged"), problems=tuple(self.problems)
        )

    def _store(self, where: str, item: Item) -> None:
        """All of an item or, where it is refused, nothing."""
        connection = self.target.connection
        connection.execute("SAVEPOINT item")
        try:
            self._store_kind(where, item)
        except Early as early:
            connection.execute("ROLLBACK TO item")
            self.early.append((Problem(where=where, what=str(early)), item))
        except (Refused, UnstorableError) as refusal:
            connection.execute("ROLLBACK TO item")
            self.problems.append(Problem(where=where, what=str(refusal)))
        connection.execute("RELEASE item")

    def _store_kind(self, where: str, item: Item) -> None:
        match item:
            case ArtifactItem():
                self._count("artifact", store_artifact(self.target, item))
            case EntityItem():
                self._count("entity", store_entity(self.target, item))
            case FactItem():
                self._count("fact", store_fact(self.target, item))
            case NodeItem():
                outcome, node = store_node(self.target, item)
                self._count("node", outcome)
                self._link(where, [(node, parent) for parent in item.parents])
            case LinkItem():
                self._link(where, [(item.child, item.parent)])
            case CaseItem():
                self._count("case", store_case(self.target, item))

    def _link(self, where: str, ends: list[tuple[str, str]]) -> None:
        made, kept, problems = self.links.add(self.target, where, ends)
        self._count("link", "added", made)
        self._count("link", "unchanged", kept)
        self.problems += problems

    def _count(self, kind: str, outcome: Outcome, count: int = 1) -> None:
        self.counts[kind, outcome] += count
        self.dirty = self.dirty or (count > 0 and outcome != "unchanged")
