"""What a question leaves behind. Everything else reads Traces: the app draws them, the evals score them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from core.journal import Inference
from core.records import Fact, Level

if TYPE_CHECKING:
    from pydantic import TypeAdapter

CandidateKind = Literal["node", "chunk", "fact", "entity"]
Recipe = Literal["graph", "memory", "brain"]
RECIPES: tuple[Recipe, ...] = ("graph", "memory", "brain")
ReasonCode = Literal["no_evidence", "below_floor", "no_terms", "not_supported", "model_declined"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """Why a candidate fell: ``value`` in ``space`` did not reach ``cut``, the value of ``threshold``."""

    stage: str
    threshold: str
    cut: float
    value: float
    space: str | None = None

    @property
    def margin(self) -> float:
        """``value - cut``: negative where more was needed, positive where a cap was exceeded."""
        return self.value - self.cut


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One thing that was considered. ``scores`` maps a score space to a finite number; an absent space was not scored."""

    candidate_id: str
    kind: CandidateKind
    text: str
    source: str
    title: str = ""
    turn: str | None = None
    session: str | None = None
    speaker: str | None = None
    name: str | None = None
    level: Level | None = None
    position: int | None = None
    valid_at: str | None = None
    confidence: float | None = None
    fact: Fact | None = None
    scores: Mapping[str, float] = field(default_factory=dict)
    dropped: Drop | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One step: the candidate ids in order before and after it, the space that ordered them, what it was set to."""

    name: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    space: str | None = None
    settings: Mapping[str, float | int | str] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """An ancestor of a cited node; ``hops`` links away from it (0: the node itself)."""

    node_id: str
    level: Level
    source: str
    turn: str | None
    text: str
    hops: int
    child_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What a citation resolves to. ``quote == text[start:end]`` is the best-matching sentence.

    Of a passage, ``summary`` and ``shown`` say what a model was given of it: its text (and its summary, where the search
    found it), or only the summary.
    """

    candidate_id: str
    kind: CandidateKind
    citation: str
    text: str
    quote: str
    start: int
    end: int
    source: str
    title: str = ""
    turn: str | None = None
    session: str | None = None
    speaker: str | None = None
    name: str | None = None
    level: Level | None = None
    valid_at: str | None = None
    score: float | None = None
    fact: Fact | None = None
    provenance: tuple[Provenance, ...] = ()
    summary: str | None = None
    shown: Literal["text", "summary"] = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSentence:
    """A sentence of a model's answer, ``text[start:end]``, and the full ids cited for it."""

    start: int
    end: int
    citations: tuple[str, ...] = ()

    @property
    def supported(self) -> bool:
        """Whether anything is cited for it."""
        return bool(self.citations)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer with its evidence, or an abstention with its reason; never read from the wording of ``text``.

    ``confidence`` is the learned gate's probability where the profile has a gate, else the best score before any floor,
    in ``confidence_space``; None when nothing was found. ``closest``
    is what would have been cited had no floor or gate been set (equal to ``evidence`` when answered).
    ``writer`` is the model that wrote it, or ``deterministic``. Of a model's text, ``sentences`` say what is cited for
    each (none: unsupported) and ``invalid_citations`` what it cited that was not sent, taken out of the text;
    ``draft`` is the reply that could not be supported.
    """

    text: str
    abstained: bool
    reason: ReasonCode | None = None
    explanation: str = ""
    evidence: tuple[Evidence, ...] = ()
    closest: tuple[Evidence, ...] = ()
    confidence: float | None = None
    confidence_space: str | None = None
    writer: str = "deterministic"
    sentences: tuple[AnswerSentence, ...] = ()
    invalid_citations: tuple[str, ...] = ()
    draft: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """A place that was searched around, in degrees. ``entity_id`` None: it was resolved and is not stored."""

    name: str
    latitude: float
    longitude: float
    entity_id: int | None = None
    about: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NearbyEntity:
    """An entity within the radius, and the anchor (by name) it lies nearest to, ``distance_km`` along a great circle."""

    entity_id: int
    name: str
    type: str
    latitude: float
    longitude: float
    distance_km: float
    anchor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearby:
    """What lies near the places of a question: at least one anchor, and the nearest of the ``within`` entities that lie
    in the radius, by (distance, row number)."""

    radius_km: float
    anchors: tuple[Anchor, ...]
    found: tuple[NearbyEntity, ...] = ()
    within: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What a learned gate made of a question: ``probability`` in [0, 1] that the evidence suffices, in ``space``,
    against ``cut``; the ``values`` of its features, what each added to the log-odds (positive: for answering), and why in
    words."""

    probability: float
    space: str
    cut: float
    values: Mapping[str, float]
    contributions: Mapping[str, float]
    said: str

    @property
    def suffices(self) -> bool:
        """Whether the probability reaches the cut."""
        return self.probability >= self.cut


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """The whole way of one question. ``ranking`` is the order retrieval metrics are taken on: after fusion and
    reranking, before floor, diversification and selection. ``notices`` tell the user what was done on their behalf.
    ``nearby`` is None where it was not asked for, or the question has no place; ``judgement`` where the profile has no
    learned gate, or nothing was found. ``times_ms`` is wall time by stage,
    ``calls`` are the models' calls on the way: with their latencies the only parts that differ between equal runs."""

    trace_id: str
    question: str
    datasets: tuple[str, ...]
    recipe: Recipe
    profile: str
    fingerprint: str
    values: Mapping[str, float | int | str]
    spaces: Mapping[str, str]
    candidates: tuple[Candidate, ...]
    stages: tuple[Stage, ...]
    ranking: tuple[str, ...]
    answer: Answer
    notices: tuple[str, ...] = ()
    nearby: Nearby | None = None
    judgement: Judgement | None = None
    times_ms: Mapping[str, float] = field(default_factory=dict)
    calls: tuple[Inference, ...] = ()

    def candidate(self, candidate_id: str) -> Candidate:
        """The candidate of that id; KeyError if it was never considered."""
        for candidate in self.candidates:
            if candidate.candidate_id == candidate_id:
                return candidate
        raise KeyError(candidate_id)

    def stage(self, name: str) -> Stage | None:
        """The stage of that name, None if the recipe has none."""
        return next((stage for stage in self.stages if stage.name == name), None)

    def with_notices(self, notices: Iterable[str]) -> Trace:
        """A copy that also says ``notices``, before its own and each once."""
        return replace(self, notices=tuple(dict.fromkeys((*notices, *self.notices))))

    def to_json(self) -> str:
        """JSON without loss: ``Trace.from_json(trace.to_json()) == trace``. NaN never occurs in it."""
        return _codec().dump_json(self).decode()

    def to_dict(self) -> dict[str, Any]:
        """The JSON object as Python values."""
        dumped: dict[str, Any] = _codec().dump_python(self, mode="json")
        return dumped

    @staticmethod
    def from_json(text: str | bytes) -> Trace:
        """Raises ``pydantic.ValidationError`` when ``text`` is not a Trace."""
        return _codec().validate_json(text)


@cache
def _codec() -> TypeAdapter[Trace]:
    from pydantic import TypeAdapter

    return TypeAdapter(Trace)
