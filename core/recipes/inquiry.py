"""What a recipe is given, and how it keeps a record of its stages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from time import perf_counter
from typing import Protocol, TypeVar

from core.geo.places import GeoSearch
from core.index.base import Scores
from core.index.corpus import Corpus
from core.journal import Journal, Step
from core.models.base import Reranker
from core.models.chat import ChatError, ChatModel, ChatReply, ChatRequest, Reasoning
from core.profile import Profile
from core.records import Entity
from core.store import CorpusKind, Store
from core.trace import Answer, Candidate, Recipe, Stage, Trace

Read = TypeVar("Read")


class CorpusOpener(Protocol):
    """Opens the searchable rows of one kind: ``node``, ``chunk``, ``summary``, ``entity`` or ``fact``."""

    def __call__(self, kind: CorpusKind) -> Corpus: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Inquiry:
    """One question with everything it is asked of. ``vector`` (dim,) is its unit embedding, zeros without tokens;
    ``spaces`` maps a score family to the full space this run scores in. ``hide_sources`` are kept out of retrieval.
    ``chat`` writes the answer (None: it is written without a model), at the reasoning level and by the model given for
    its stage; ``journal`` is told of every stage. ``geo`` resolves places (None: it is switched off)."""

    question: str
    vector: Scores
    profile: Profile
    spaces: Mapping[str, str]
    datasets: Mapping[int, str]
    store: Store
    corpus: CorpusOpener
    entities: Callable[[], list[Entity]]
    reranker: Reranker | None = None
    levels: tuple[str, ...] | None = None
    hide_sources: frozenset[str] = frozenset()
    as_of: str | None = None
    known_at: str | None = None
    now: str
    content: str = ""
    chat: ChatModel | None = None
    reasoning: Mapping[str, Reasoning] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)
    journal: Journal | None = None
    geo: GeoSearch | None = None

    @property
    def dataset_ids(self) -> list[int]:
        """Row numbers of the datasets asked."""
        return list(self.datasets)

    def by_model(self, stage: str, system: str, prompt: str, read: Callable[[ChatReply], Read]) -> Read:
        """What ``read`` makes of the model's reply, asked at the level and of the model chosen for the stage.

        Raises:
            ChatError: the call failed, or ``read`` could not use the reply, which is written down as the call's outcome.
        """
        assert self.chat is not None, "only asked where there is a model"
        request = ChatRequest(
            system=system,
            prompt=prompt,
            stage=stage,
            model=self.models.get(stage),
            reasoning=self.reasoning.get(stage, "none"),
        )
        reply = self.chat.reply(request)
        try:
            return read(reply)
        except ChatError as error:
            if self.journal is not None:
                self.journal.failed(error.outcome)
            raise


@dataclass(slots=True)
class Record:
    """Collects stages, times and notices while a recipe runs, and makes the Trace of them."""

    inquiry: Inquiry
    stages: list[Stage] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    times_ms: dict[str, float] = field(default_factory=dict)
    _since: float = field(default_factory=perf_counter)

    def stage(
        self,
        name: str,
        before: Iterable[str],
        after: Iterable[str],
        *,
        space: str | None = None,
        settings: Sequence[str] = (),
        note: str = "",
    ) -> None:
        """Appends a stage; ``settings`` are names of the profile's values it read."""
        values = self.inquiry.profile.values
        self.stages.append(
            Stage(
                name=name,
                before=tuple(before),
                after=tuple(after),
                space=space,
                settings={key: values[key] for key in settings},
                note=note,
            )
        )
        stage = self.stages[-1]
        self.lap(name, stage.settings, before=len(stage.before), after=len(stage.after))

    def lap(self, name: str, inputs: Mapping[str, float | int | str] | None = None, **sizes: int) -> None:
        """Books the time since the last lap under ``name``; the journal is told what the step was given."""
        moment = perf_counter()
        ms = (moment - self._since) * 1000
        self.times_ms[name] = self.times_ms.get(name, 0.0) + ms
        self._since = moment
        if self.inquiry.journal is not None:
            self.inquiry.journal.steps.append(Step(name=name, inputs=inputs or {}, sizes=sizes, ms=ms))

    def trace(
        self, recipe: Recipe, candidates: Iterable[Candidate], ranking: Iterable[str], answer: Answer
    ) -> Trace:
        """The finished Trace. Its id is a hash of what was asked of what, so equal runs carry equal ids."""
        inquiry = self.inquiry
        asked = (
            inquiry.question,
            inquiry.content,
            inquiry.profile.fingerprint,
            inquiry.levels,
            answer.writer,
        )
        under = (
            sorted(inquiry.hide_sources),
            inquiry.as_of,
            inquiry.known_at,
            sorted(inquiry.spaces.items()),
        )
        searched = ("nearby",) if inquiry.geo and inquiry.geo.nearby else ()
        identity = repr((asked, under, *searched))
        return Trace(
            trace_id=sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:24],
            question=inquiry.question,
            datasets=tuple(inquiry.datasets.values()),
            recipe=recipe,
            profile=inquiry.profile.name,
            fingerprint=inquiry.profile.fingerprint,
            values=dict(inquiry.profile.values),
            spaces=dict(inquiry.spaces),
            candidates=tuple(candidates),
            stages=tuple(self.stages),
            ranking=tuple(ranking),
            answer=answer,
            notices=tuple(dict.fromkeys(self.notices)),
            times_ms=dict(self.times_ms),
        )
