"""ragas' metrics on our cases and Traces, beside our own: those that need no model, and those an OpenAI model judges.

ragas is imported where it is asked for, since that takes seconds, and is told to report no usage anywhere. What it
cannot judge is NaN and counted, what breaks is said for its case; neither is averaged away.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelError, UsageError
from core.trace import Trace
from evals.cases import Case
from evals.concurrent import in_order
from evals.metrics.citation import finest
from evals.metrics.grounding import plain
from evals.scoring import keys_judged, ranking_keys

if TYPE_CHECKING:
    import httpx2

DEPTH = 10
"""Contexts of a sample."""
SECONDS = 120.0
"""What one judgement of a model may take in all."""
AT_ONCE = 8
Score = Callable[["httpx2.AsyncClient", "Sample"], Awaitable[float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A case under ragas' names. ``response`` is None where nothing was answered, ``reference`` is the first gold answer.

    Contexts are the ``DEPTH`` best by rank, their ids those that retrieval is judged by; the gold contexts are the gold
    evidence's words where the case has them, else the text that was found under its id, else nothing.
    """

    user_input: str
    retrieved_contexts: list[str]
    reference_contexts: list[str]
    retrieved_context_ids: list[str]
    reference_context_ids: list[str]
    response: str | None
    reference: str | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RagasFigure:
    """``values`` (n,) in the order of the samples, NaN where ragas judges nothing; ``errors``: what broke, by place."""

    values: NDArray[np.float64]
    errors: Mapping[int, str]

    @property
    def mean(self) -> float | None:
        """Over the cases that were judged; None for none."""
        known = self.values[~np.isnan(self.values)]
        return float(known.mean()) if len(known) else None

    @property
    def not_judged(self) -> int:
        """How many samples ragas has no number for, without those that broke."""
        return int(np.isnan(self.values).sum()) - len(self.errors)


def sample(case: Case, trace: Trace) -> Sample:
    """What ragas is given of a case and what was made of it."""
    answer = trace.answer
    texts: dict[str, str] = {}
    key_of = keys_judged(case.gold)
    candidates = {candidate.candidate_id: candidate for candidate in trace.candidates}
    for candidate_id in trace.ranking:
        found = candidates[candidate_id]
        texts.setdefault(key_of(found), found.text)
    ids = ranking_keys(trace, case.gold)[:DEPTH]
    gold_texts = (gold.quote or texts.get(gold.key) for gold in finest(case))
    return Sample(
        user_input=case.question,
        retrieved_contexts=[texts[key] for key in ids],
        reference_contexts=list(dict.fromkeys(text for text in gold_texts if text)),
        retrieved_context_ids=ids,
        reference_context_ids=[gold.key for gold in case.gold if gold.relevance > 0],
        response=None if answer.abstained else plain(answer.text),
        reference=next(iter(case.answers), None),
    )


def measured(
    samples: Sequence[Sample], names: Sequence[str] | None = None, *, model: str | None = None
) -> dict[str, RagasFigure]:
    """Each metric of every sample. ``names`` None: all that need no model, and with ``model`` (an OpenAI model's name,
    ``OPENAI_BASE_URL`` as usual) those it judges too, several at once.

    Raises:
        UsageError: an unknown metric, or one that needs a model and none is named. ModelError: ``OPENAI_API_KEY`` is not
            set, or a library that ragas needs is missing.
    """
    chosen = list(names) if names is not None else [*OFFLINE, *(BY_MODEL if model else ())]
    for name in chosen:
        if name not in OFFLINE and name not in BY_MODEL:
            raise UsageError(f"no ragas metric {name!r}; there are {', '.join((*OFFLINE, *BY_MODEL))}")
        if name in BY_MODEL and not model:
            raise UsageError(
                f"ragas' {name} is judged by a model; name one, or choose from {', '.join(OFFLINE)}"
            )
    if any(name in BY_MODEL for name in chosen) and not os.environ.get("OPENAI_API_KEY"):
        raise ModelError(f"OPENAI_API_KEY is not set; set it, or choose from {', '.join(OFFLINE)}")
    return {name: _figure(name, samples, model) for name in chosen}


def _figure(name: str, samples: Sequence[Sample], model: str | None) -> RagasFigure:
    needs, score = _metric(name, model)
    values = np.full(len(samples), np.nan)
    errors: dict[int, str] = {}
    asked = [place for place, one in enumerate(samples) if all(getattr(one, field) for field in needs)]
    found = in_order(
        partial(_judged, score), [samples[place] for place in asked], AT_ONCE if name in BY_MODEL else 1
    )
    for place, value in zip(asked, found, strict=True):
        if isinstance(value, str):
            errors[place] = value
        else:
            values[place] = value
    return RagasFigure(values=values, errors=errors)


def _judged(score: Score, given: Sample) -> float | str:
    """The value, or what went wrong."""
    from core.models.background import within
    from core.models.faults import said

    try:
        value = within(SECONDS, lambda http: score(http, given))
    except Exception as error:  # noqa: BLE001 (one broken case is said and takes nothing else down)
        return f"{type(error).__name__}: {said(error)}"
    return value if not math.isinf(value) else f"the figure is {value}"


def _metric(name: str, model: str | None) -> tuple[Sequence[str], Score]:
    """What of a sample the metric cannot do without, and how it is asked."""
    if name in BY_MODEL:
        needs = BY_MODEL[name]
        return needs, partial(_by_model, name, needs, str(model))
    needs, class_name = OFFLINE[name]
    try:
        metric = _ragas()[class_name]()
    except ImportError as error:
        raise ModelError(f"ragas' {name} needs rapidfuzz: pip install rapidfuzz ({error.name})") from error
    return needs, partial(_by_itself, metric)


async def _by_itself(metric: Any, http: httpx2.AsyncClient, given: Sample) -> float:
    from ragas.dataset_schema import SingleTurnSample

    fields = {field: getattr(given, field) for field in Sample.__slots__}
    return float(await metric.single_turn_ascore(SingleTurnSample(**fields)))


async def _by_model(
    name: str, needs: Sequence[str], model: str, http: httpx2.AsyncClient, given: Sample
) -> float:
    _ragas()
    from ragas.llms.base import llm_factory
    from ragas.metrics import collections

    from core.models import openai_client

    client = openai_client.asking(http, seconds=SECONDS, connect=10)
    metric = getattr(collections, _CLASSES[name])(llm=llm_factory(model, client=client, max_tokens=4096))
    return float((await metric.ascore(**{field: getattr(given, field) for field in needs})).value)


@cache
def _ragas() -> Mapping[str, Any]:
    """The classes of ``OFFLINE``; imported so that ragas reports nothing to its makers."""
    os.environ["RAGAS_DO_NOT_TRACK"] = "true"  # read once, at the first import
    import ragas.metrics

    with warnings.catch_warnings():
        # said of every name here; what ragas 0.4 has in its place lacks the metrics by id and without a model
        warnings.filterwarnings(
            "ignore", "Importing .* from 'ragas.metrics' is deprecated", DeprecationWarning
        )
        return {class_name: getattr(ragas.metrics, class_name) for _, class_name in OFFLINE.values()}


_IDS = ("retrieved_context_ids", "reference_context_ids")
_CONTEXTS = ("retrieved_contexts", "reference_contexts")
OFFLINE: Mapping[str, tuple[tuple[str, ...], str]] = {
    "id_based_context_precision": (_IDS, "IDBasedContextPrecision"),
    "id_based_context_recall": (("reference_context_ids",), "IDBasedContextRecall"),
    "non_llm_context_precision": (_CONTEXTS, "NonLLMContextPrecisionWithReference"),
    "non_llm_context_recall": (_CONTEXTS, "NonLLMContextRecall"),
    "rouge_score": (("response", "reference"), "RougeScore"),
}
"""Metrics without a model: what of a sample they cannot do without, and their class."""
BY_MODEL: Mapping[str, tuple[str, ...]] = {
    "faithfulness": ("user_input", "response", "retrieved_contexts"),
    "context_precision": ("user_input", "reference", "retrieved_contexts"),
    "context_recall": ("user_input", "retrieved_contexts", "reference"),
    "factual_correctness": ("response", "reference"),
}
"""Metrics that a model judges, by what they are given."""
_CLASSES = {
    "faithfulness": "Faithfulness",
    "context_precision": "ContextPrecision",
    "context_recall": "ContextRecall",
    "factual_correctness": "FactualCorrectness",
}
