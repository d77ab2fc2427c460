"""Bringing data in, whole: read, check, store, embed; one report for all the datasets an input makes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from core.errors import DataError
from core.ingest.embed import EmbedReport, embed_missing
from core.ingest.ingestor import IngestReport, ingest
from core.ingest.items import Item, Problem
from core.models.registry import embedder as embedder_named
from core.progress import bar
from core.render import printable
from core.store import Store, default_path
from core.store.location import is_server

Stream = Iterable[tuple[str, Item | Problem]]
SHOWN_PROBLEMS = 20
COUNTED = 100_000
"""Items that are read ahead to tell how long the rest will take; a longer input shows its rate alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    """What an import did, by dataset, and what was embedded (None: embedding was left out)."""

    reports: dict[str, IngestReport]
    embedded: EmbedReport | None
    dry_run: bool

    @property
    def problems(self) -> list[Problem]:
        """Every problem of every dataset, in input order."""
        return [problem for report in self.reports.values() for problem in report.problems]

    def to_text(self) -> str:
        """Counts, then each problem by its place."""
        lines = [f"{'would add' if self.dry_run else 'added'} to {len(self.reports)} dataset(s)"]
        if len(self.reports) <= 20:
            lines += [f"  {name}: {_counted(report)}" for name, report in self.reports.items()]
        total = _total(self.reports.values())
        lines.append(
            f"  total: {', '.join(f'{count} {what}' for what, count in total.items()) or 'nothing new'}"
        )
        if self.embedded:
            lines.append(
                f"  embedded {self.embedded.embedded} texts, {self.embedded.cached} already were, "
                f"{self.embedded.without_tokens} have no words to embed"
            )
        lines += [printable(f"problem: {problem}") for problem in self.problems]
        return "\n".join(lines)

    def to_json(self) -> str:
        """The same for programs."""
        body = {
            "dry_run": self.dry_run,
            "datasets": {
                name: {"added": dict(r.added), "updated": dict(r.updated), "unchanged": dict(r.unchanged)}
                for name, r in self.reports.items()
            },
            "embedded": self.embedded.embedded if self.embedded else None,
            "problems": [{"where": p.where, "what": p.what, "action": p.action} for p in self.problems],
        }
        return json.dumps(body, ensure_ascii=False, indent=2)


def bring_in(
    streams: Iterable[tuple[str, Stream]],
    *,
    db: Path | str | None,
    user_id: str,
    dry_run: bool = False,
    strict: bool = False,
    embed: bool = True,
    embedder: str | None = None,
) -> Brought:
    """Stores each stream in the dataset it is named with, then embeds what has no vector yet.

    An interrupted call is resumed by the same call: what was acknowledged is kept and found unchanged.

    Raises:
        DataError: ``strict`` and anything wrong (nothing is written), or nothing could be read at all.
    """
    path = db or default_path()
    if strict:
        streams = [(name, list(stream)) for name, stream in streams]
        with _opened(path, dry_run=True) as store:
            _refuse_problems(_stored(store, streams, user_id, dry_run=True))
    with _opened(path, dry_run=dry_run) as store:
        reports = _stored(store, streams, user_id, dry_run=dry_run)
        _refuse_nothing(reports)
        embedded = None
        if embed and not dry_run:
            ids = [found.dataset_id for found in store.datasets(user_id) if found.name in reports]
            with bar("embedding", total=store.text_count(ids), unit="texts") as progress:
                embedded = embed_missing(store, embedder_named(embedder), ids, progress=progress)
    return Brought(reports=reports, embedded=embedded, dry_run=dry_run)


def _opened(path: Path | str, *, dry_run: bool) -> Store:
    """The store; a dry run makes no file."""
    new = dry_run and not is_server(path) and not Path(path).exists()
    return Store.open(Path(":memory:") if new else path)


def _stored(
    store: Store, streams: Iterable[tuple[str, Stream]], user_id: str, *, dry_run: bool
) -> dict[str, IngestReport]:
    reports = {}
    for name, stream in streams:
        rest = iter(stream)
        head = list(islice(rest, COUNTED))
        total = len(head) if len(head) < COUNTED else None
        with bar(f"storing {name}", total=total, unit="items") as progress:
            items = chain(head, rest)
            reports[name] = ingest(store, name, items, user_id=user_id, dry_run=dry_run, progress=progress)
    return reports


def _refuse_problems(reports: dict[str, IngestReport]) -> None:
    problems = [problem for report in reports.values() for problem in report.problems]
    if problems:
        first = "; ".join(map(str, problems[:SHOWN_PROBLEMS]))
        raise DataError(f"{len(problems)} problems and --strict: nothing was written. {first}")


def _refuse_nothing(reports: dict[str, IngestReport]) -> None:
    taken = sum(
        sum((*r.added.values(), *r.updated.values(), *r.unchanged.values())) for r in reports.values()
    )
    if not taken:
        problems = [problem for report in reports.values() for problem in report.problems]
        first = f": {problems[0]}" if problems else ""
        raise DataError(f"nothing could be read from the input{first}")


def _counted(report: IngestReport) -> str:
    total = _total([report])
    return ", ".join(f"{count} {what}" for what, count in total.items()) or "nothing new"


def _total(reports: Iterable[IngestReport]) -> Counter[str]:
    total: Counter[str] = Counter()
    for report in reports:
        total.update({_plural(kind): count for kind, count in report.added.items() if count})
        total.update({f"{_plural(kind)} updated": count for kind, count in report.updated.items() if count})
        total.update(
            {f"{_plural(kind)} unchanged": count for kind, count in report.unchanged.items() if count}
        )
    return total


def _plural(kind: str) -> str:
    return "entities" if kind == "entity" else f"{kind}s"
