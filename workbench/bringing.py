"""Bringing data in on the page: a look into files before anything is stored, and the work itself as a job."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path
from typing import Any, Protocol

from core.errors import UsageError
from core.ingest.embed import embed_missing
from core.ingest.folder import read_paths
from core.ingest.ingestor import ingest
from core.ingest.items import CaseItem, Item, Problem
from core.progress import Progress
from core.show.plain import shortened
from core.store import Store
from core.workspace import Workspace
from evals.contents import contents
from evals.formats import FORMATS, loader
from evals.validate import Finding, validate

NATIVE = "Markdown, text, JSON Lines"
"""What `assay ingest` reads; the others are the formats of `assay import`."""
FORMAT_NAMES = (NATIVE, *FORMATS)
SAMPLE = 50
TEXT = 200
Row = tuple[str, str, Item | Problem]


class Uploaded(Protocol):
    """A file that came through the browser."""

    name: str

    def getvalue(self) -> bytes:
        """Its bytes."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What files would bring. ``counts`` by data set and kind; ``sample``: the first items; ``findings`` by line."""

    counts: dict[str, dict[str, int]]
    sample: list[dict[str, str]]
    findings: list[Finding]

    @property
    def taken(self) -> int:
        """Items that can be stored."""
        return sum(sum(kinds.values()) for kinds in self.counts.values())


def kept(files: Sequence[Uploaded], folder: Path) -> Path:
    """Writes uploaded files into ``folder`` under their own names, without whatever path they claim.

    Raises:
        UsageError: two files of one name, or a name that is none.
    """
    for file in files:
        name = Path(file.name.replace("\\", "/")).name
        target = folder / name
        if name in ("", ".", "..") or target.exists():
            raise UsageError(f"two files are called {name!r}, or the name is none; rename one")
        target.write_bytes(file.getvalue())
    return folder


def upload_folder() -> Path:
    """A new folder of its own for uploaded files."""
    return Path(tempfile.mkdtemp(prefix="assay-upload-"))


def read(path: Path, format_: str, name: str) -> Iterator[tuple[str, Iterator[tuple[str, Item | Problem]]]]:
    """The items of a path by data set; ``name`` is that of the data set, to which formats of several add.

    Raises:
        AssayError: nothing is there, or the format is another.
    """
    rows: Iterator[Row] = (
        (("", where, item) for where, item in read_paths([path]))
        if format_ == NATIVE
        else loader(format_)(path)
    )
    for suffix, group in groupby(rows, key=lambda row: row[0]):
        yield name + suffix, ((where, item) for _, where, item in group)


def preview(path: Path, format_: str, name: str, progress: Progress) -> Preview:
    """Reads everything into a store that is gone afterwards; the database is not touched.

    Raises:
        AssayError: nothing is there, or the format is another.
    """
    counts: dict[str, dict[str, int]] = {}
    sample: list[dict[str, str]] = []
    findings: list[Finding] = []
    with Store.open(Path(":memory:")) as store:
        for dataset, rows in read(path, format_, name):
            places: dict[str, str] = {}
            items = _noted(rows, sample, places, path)
            report = ingest(store, dataset, items, progress=progress)
            counts[dataset] = dict(Counter(report.added) + Counter(report.updated))
            known = {found.name for found in store.datasets()}
            problems = [_short(problem, path) for problem in report.problems]
            if dataset in known:
                findings += validate(contents(store, store.dataset(dataset), places), problems)
            else:
                findings += [
                    Finding(check="input", dataset=dataset, where=p.where, what=p.what) for p in problems
                ]
    return Preview(counts=counts, sample=sample, findings=findings)


def bring(workspace: Workspace, path: Path, format_: str, name: str, progress: Progress) -> str:
    """Stores everything and embeds it; what it said. Each batch is committed, so a cancelled one goes on when repeated.

    Raises:
        AssayError: nothing is there, or the format is another.
    """
    added: Counter[str] = Counter()
    problems, datasets = 0, []
    for dataset, rows in read(path, format_, name):
        report = ingest(workspace.store, dataset, rows, progress=progress)
        added.update(Counter(report.added) + Counter(report.updated))
        problems += len(report.problems)
        datasets.append(dataset)
    known = {found.name: found.dataset_id for found in workspace.store.datasets()}
    ids = [known[each] for each in datasets if each in known]
    embedded = embed_missing(workspace.store, workspace.embedder, ids, progress=progress)
    what = ", ".join(f"{count:,} {kind}" for kind, count in added.items()) or "nothing new"
    return f"{what}; {embedded.embedded:,} texts embedded; {problems:,} problems left out"


def _noted(
    rows: Iterator[tuple[str, Item | Problem]],
    sample: list[dict[str, str]],
    places: dict[str, str],
    path: Path,
) -> Iterator[tuple[str, Item | Problem]]:
    """The rows as they are, while the first are kept to be shown."""
    for where, item in rows:
        short = _below(where, path)
        if isinstance(item, CaseItem):
            places.setdefault(item.case_id, short)
        if len(sample) < SAMPLE and not isinstance(item, Problem):
            sample.append({"where": short, "kind": _kind(item), "holds": _words(item)})
        yield where, item


def _short(problem: Problem, path: Path) -> Problem:
    return Problem(where=_below(problem.where, path), what=problem.what, action=problem.action)


def _below(where: str, path: Path) -> str:
    """``file:line`` as the one who brought it knows it: without the folder it was put into."""
    return where.removeprefix(f"{path}/") if path.is_dir() else where.removeprefix(f"{path.parent}/")


def _kind(item: Item) -> str:
    return type(item).__name__.removesuffix("Item").lower()


def _words(item: Item) -> str:
    body: dict[str, Any] = item.body if isinstance(item, CaseItem) else {}  # type: ignore[assignment]
    names = [name for name in type(item).__slots__ if isinstance(name, str)]
    values = body or {name: getattr(item, name, None) for name in names}
    said = [f"{name}: {value}" for name, value in values.items() if isinstance(value, str) and value]
    return shortened("; ".join(islice((shortened(one, TEXT) for one in said), 6)), 2 * TEXT)
