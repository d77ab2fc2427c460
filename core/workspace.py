"""A workspace: one store with its models and indexes, ready to be asked."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from threading import RLock
from time import perf_counter
from types import TracebackType

import numpy as np

from core import clock
from core.errors import UsageError
from core.geo.places import GeoResolver, GeoSearch, resolver_named
from core.index.base import Scores
from core.index.choice import FaissSettings, IndexChoice, chosen
from core.index.corpus import Corpus
from core.index.opening import Serving
from core.index.source import StoreCorpus
from core.ingest.place_rows import with_places_stored
from core.journal import CallKind, Inference, Journal
from core.models.base import Embedder, Reranker
from core.models.chat import ChatModel, Outcome, Reasoning, Usage
from core.models.registry import embedder as embedder_named
from core.models.registry import reranker as reranker_named
from core.profile import Profile
from core.recipes.brain import brain
from core.recipes.graph import graph
from core.recipes.inquiry import Inquiry
from core.recipes.memory import DEFAULT_LEVELS, memory
from core.recipes.nearby import with_radius
from core.records import DEFAULT_DATASET, DEFAULT_USER, LEVELS, Dataset
from core.store import CorpusKind, Store, default_path
from core.store.location import index_folder, is_server
from core.trace import Recipe, Trace

RECIPE_FUNCTIONS: dict[Recipe, Callable[[Inquiry], Trace]] = {
    "graph": graph,
    "memory": memory,
    "brain": brain,
}
MAX_QUESTION = 64 * 1024
"""Bytes a question may have."""
NO_TIMES = "as_of and known_at choose among facts, which recipe graph asks: {recipe} searched the memories of all times."
_KEPT_CORPORA = 24
_KEPT_QUESTIONS = 4096


class Workspace:
    """Asks questions of a store. Models and indexes are opened at first use and kept; safe to share between threads."""

    def __init__(
        self,
        store: Store,
        *,
        embedder: Embedder,
        index_dir: Path | None,
        geo: GeoResolver | None = None,
        index: IndexChoice | None = None,
    ) -> None:
        self.store = store
        self.embedder = embedder
        self.geo = geo
        self._index_dir = index_dir
        self.index = index or IndexChoice(settings=FaissSettings())
        self._corpora: OrderedDict[tuple[str, str], Corpus] = OrderedDict()
        self._questions: OrderedDict[str, Scores] = OrderedDict()
        self._rerankers: dict[str, Reranker | None] = {}
        self._notices: dict[tuple[str, str], list[str]] = {}
        self._lock = RLock()

    @classmethod
    def open(
        cls,
        db: Path | str | None = None,
        *,
        embedder: str | Embedder | None = None,
        create: bool = True,
        geo: str | GeoResolver | None = None,
        index: str | None = None,
    ) -> Workspace:
        """Opens (or, unless ``create`` is False, makes) the store at ``db``: ``ASSAY_DB``, else ``.assay/assay.db``.

        ``db`` is a file or the address of a PostgreSQL server (``postgresql://USER@HOST/DATABASE``).

        ``embedder`` is a name such as ``minilm`` (the default), ``wordllama`` or ``openai:MODEL``, or an Embedder.
        ``index`` names the vector index as ``core.index.choice`` reads it (``faiss``, ``pgvector``, ``milvus:FILE`` …);
        None: ``ASSAY_INDEX``, else pgvector on a server and FAISS beside a file.
        ``geo`` switches on what resolves places: ``gazetteer``, or a GeoResolver; None: off.

        Raises:
            StoreError: the database cannot be opened. ModelError, UsageError: the embedder or the resolver cannot be had.
        """
        resolver = resolver_named(geo) if isinstance(geo, str) else geo
        path = db if db is not None else default_path()
        choice = chosen(index, on_server=is_server(path))
        store = Store.open(path, create=create)
        model = embedder_named(embedder) if embedder is None or isinstance(embedder, str) else embedder
        return cls(store, embedder=model, index_dir=index_folder(path), geo=resolver, index=choice)

    def __enter__(self) -> Workspace:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the store."""
        self.store.close()

    def spaces(self, profile: Profile) -> dict[str, str]:
        """Score family → the full space this workspace scores it in, under this profile."""
        model = self.embedder.model_id
        spaces = {
            "overlap": "overlap",
            "cosine": f"cosine/{model}",
            "tfidf+cosine": f"tfidf+cosine/{model}",
            "graph-points": "graph-points",
        }
        reranker = self._reranker(profile)
        gate = profile.learned_gate
        return (
            spaces
            | ({"rerank": reranker.space} if reranker else {})
            | ({"probability": gate.space} if gate else {})
        )

    def ask(
        self,
        question: str,
        *,
        dataset: str,
        recipe: Recipe,
        profile: Profile,
        levels: Iterable[str] | None = None,
        hide_sources: frozenset[str] = frozenset(),
        as_of: str | None = None,
        known_at: str | None = None,
        user_id: str = DEFAULT_USER,
        chat: ChatModel | None = None,
        reasoning: Mapping[str, Reasoning] | None = None,
        models: Mapping[str, str] | None = None,
        journal: Journal | None = None,
        nearby_km: float | None = None,
    ) -> Trace:
        """Answers ``question`` from ``dataset`` (a name, or a pattern such as ``locomo/*``), or abstains.

        ``chat`` writes the answer out of the evidence, at the level and by the model that ``reasoning`` and ``models``
        give for its stage; without it the answer lists the evidence. ``journal`` is told of stages and model calls.

        ``nearby_km`` (greater than 0, at most 20015; instead of the profile's ``geo.radius_km``) adds what lies that near
        to the places of the question, and stores those places that were resolved as entities of the dataset. It needs
        recipe ``graph`` and ``geo`` on.

        Raises:
            UsageError: an empty or too long question, an unknown level, a profile of another recipe; nearby without geo.
            NotFoundError: no such dataset. ScoreSpaceError: a profile of another score space. StoreError.
            ChatError: the model failed, or its reply cannot be used.
        """
        journal = journal or Journal(kind="query", user_id=user_id, dataset=dataset)
        calls_before = len(journal.inferences)
        inquiry = self.inquiry(
            question,
            dataset=dataset,
            recipe=recipe,
            profile=profile,
            levels=levels,
            hide_sources=hide_sources,
            as_of=as_of,
            known_at=known_at,
            user_id=user_id,
            chat=chat,
            reasoning=reasoning,
            models=models,
            journal=journal,
            nearby_km=nearby_km,
        )
        datasets = self.store.matching(dataset, user_id)
        trace = RECIPE_FUNCTIONS[recipe](inquiry)
        if trace.answer.abstained:
            journal.said("abstained", trace.answer.reason or "")
        trace = with_places_stored(trace, self.store, datasets)
        fingerprint = _fingerprint(datasets)
        with self._lock:  # another question may open a corpus meanwhile
            opened = [
                text for (_, key), texts in self._notices.items() if key == fingerprint for text in texts
            ]
        notices = inquiry_notices(inquiry, recipe)
        return replace(
            trace.with_notices([*notices, *opened]), calls=tuple(journal.inferences[calls_before:])
        )

    def inquiry(
        self,
        question: str,
        *,
        dataset: str,
        recipe: Recipe,
        profile: Profile,
        levels: Iterable[str] | None = None,
        hide_sources: frozenset[str] = frozenset(),
        as_of: str | None = None,
        known_at: str | None = None,
        user_id: str = DEFAULT_USER,
        chat: ChatModel | None = None,
        reasoning: Mapping[str, Reasoning] | None = None,
        models: Mapping[str, str] | None = None,
        journal: Journal | None = None,
        nearby_km: float | None = None,
    ) -> Inquiry:
        """What ``ask`` hands to a recipe, checked; takes and raises what ``ask`` does."""
        _check(question, recipe, profile)
        journal = journal or Journal(kind="query", user_id=user_id, dataset=dataset)
        if nearby_km is not None:
            profile = with_radius(profile, self.geo, nearby_km)
        datasets = self.store.matching(dataset, user_id)
        spaces = self.spaces(profile)
        profile.bind(spaces)
        return Inquiry(
            question=question,
            vector=self._question_vector(question, journal),
            profile=profile,
            spaces=spaces,
            datasets={found.dataset_id: found.name for found in datasets},
            store=self.store,
            corpus=lambda kind: self.corpus(kind, datasets),
            entities=lambda: self.store.all_entities([found.dataset_id for found in datasets]),
            reranker=self._reranker(profile),
            levels=_levels(levels, recipe),
            hide_sources=hide_sources,
            as_of=_moment("as_of", as_of),
            known_at=_moment("known_at", known_at),
            now=clock.now(),
            content="\x1f".join(self.store.content_hash(found.dataset_id) for found in datasets),
            chat=journal.chat(chat) if chat else None,
            reasoning=reasoning or {},
            models=models or {},
            journal=journal,
            geo=GeoSearch(resolver=self.geo, nearby=nearby_km is not None) if self.geo else None,
        )

    @contextmanager
    def journal(
        self,
        kind: CallKind,
        *,
        user_id: str = DEFAULT_USER,
        dataset: str = DEFAULT_DATASET,
        session_id: str | None = None,
    ) -> Iterator[Journal]:
        """A journal for one call, kept in the store when the block ends, whether it succeeded or failed."""
        from core.models.prices import cost

        journal = Journal(kind=kind, user_id=user_id, dataset=dataset, session_id=session_id)
        try:
            yield journal
        except BaseException as error:
            journal.said("error", f"{type(error).__name__}: {error}"[:500])
            raise
        finally:
            journal.end()
            self.store.journals.save(journal, cost)

    def corpus(self, kind: CorpusKind, datasets: list[Dataset]) -> Corpus:
        """The searchable rows of ``kind`` in ``datasets``, opened once for each revision of them."""
        key = (kind, _fingerprint(datasets))
        with self._lock:
            if key not in self._corpora:
                notices = self._notices.setdefault(key, [])
                source = StoreCorpus(self.store, kind, datasets)
                self._corpora[key] = self._corpus(source, notices)
                self._forget()
            self._corpora.move_to_end(key)
            return self._corpora[key]

    def _corpus(self, source: StoreCorpus, notices: list[str]) -> Corpus:
        if isinstance(settings := self.index.settings, FaissSettings):
            return Corpus(source, self._index_dir, self.embedder, notices, faiss=settings)
        serving = Serving(self.store, self.index)
        served = partial(serving.opened, source, self.embedder)
        return Corpus(source, self._index_dir, self.embedder, notices, served=served)

    def _forget(self) -> None:
        while len(self._corpora) > _KEPT_CORPORA:
            key, _ = self._corpora.popitem(last=False)
            self._notices.pop(key, None)

    def _question_vector(self, question: str, journal: Journal) -> Scores:
        with self._lock:
            if question not in self._questions:
                self._questions[question] = self._embedded(question, journal)
                while len(self._questions) > _KEPT_QUESTIONS:
                    self._questions.popitem(last=False)
            vector = self._questions[question]
        return vector if np.isfinite(vector).all() else np.zeros_like(vector)

    def _embedded(self, question: str, journal: Journal) -> Scores:
        """The question's vector; the journal is told of the call, also where it failed."""
        since, model = perf_counter(), self.embedder.model_id
        outcome: Outcome = "unavailable"
        try:
            with journal.step("embed", {"question": question, "model": model}, dim=self.embedder.dim):
                vector: Scores = self.embedder.embed([question])[0]
            outcome = "ok"
            return vector
        finally:
            journal.inferences.append(_embedding(model, since, outcome))

    def _reranker(self, profile: Profile) -> Reranker | None:
        if "rerank.method" not in profile.values:
            return None
        method = profile.choice("rerank.method")
        with self._lock:
            if method not in self._rerankers:
                self._rerankers[method] = reranker_named(method)
            return self._rerankers[method]


def inquiry_notices(inquiry: Inquiry, recipe: Recipe) -> list[str]:
    """What is said of a question whatever comes out: spaces that bind by wildcard, times that choose nothing."""
    notices = list(inquiry.profile.bind(inquiry.spaces))
    if (inquiry.as_of or inquiry.known_at) and recipe != "graph":
        notices.append(NO_TIMES.format(recipe=recipe))
    return notices


def _embedding(model: str, since: float, outcome: Outcome) -> Inference:
    return Inference(
        stage="embed",
        model=model,
        reasoning="none",
        usage=Usage(),
        latency_ms=(perf_counter() - since) * 1000,
        outcome=outcome,
        created_at=clock.now(),
    )


def _check(question: str, recipe: Recipe, profile: Profile) -> None:
    if not question.strip():
        raise UsageError("the question is empty; write what you want to know")
    if any("\ud800" <= mark <= "\udfff" for mark in question):
        raise UsageError("the question holds half of a character (a lone surrogate); type it again")
    size = len(question.encode("utf-8", "surrogatepass"))
    if size > MAX_QUESTION:
        raise UsageError(f"the question has {size} bytes; at most {MAX_QUESTION} are taken")
    if recipe not in RECIPE_FUNCTIONS:
        raise UsageError(f"no recipe {recipe!r}; there are {', '.join(RECIPE_FUNCTIONS)}")
    if profile.recipe != recipe:
        raise UsageError(f"profile {profile.name!r} was loaded for recipe {profile.recipe}, not {recipe}")


def _moment(name: str, text: str | None) -> str | None:
    try:
        return clock.parse(text) if text else None
    except ValueError as error:
        raise UsageError(f"{name}: {error}") from error


def _levels(levels: Iterable[str] | None, recipe: Recipe) -> tuple[str, ...] | None:
    if levels is None:
        return DEFAULT_LEVELS if recipe == "memory" else None
    wanted = tuple(dict.fromkeys(levels))
    unknown = [level for level in wanted if level not in LEVELS]
    if unknown or not wanted:
        raise UsageError(f"no level {', '.join(unknown) or '(none given)'}; there are {', '.join(LEVELS)}")
    return wanted


def _fingerprint(datasets: list[Dataset]) -> str:
    parts = sorted(f"{dataset.uid}@{dataset.revision}" for dataset in datasets)
    return sha256("\x1f".join(parts).encode()).hexdigest()[:24]
