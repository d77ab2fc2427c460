"""What a gate learns from: every labelled question asked once, and the features of what was found for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.errors import UsageError
from core.gate.considered import of_trace
from core.gate.features import FEATURES, values
from core.gate.findings import find
from core.profile import Profile, Value
from core.progress import Progress, quiet
from core.records import DEFAULT_USER
from core.store import CorpusKind
from core.trace import Recipe
from core.workspace import Workspace
from evals.cases import Case, Variant
from evals.metrics.abstention import Flags, Floats
from evals.runs import LabelledCase, failure, hidden_sources

IDF_OF: Mapping[Recipe, CorpusKind] = {"graph": "chunk", "memory": "node", "brain": "node"}
"""The corpus whose idf weighs a question's terms."""
OPENED: Mapping[str, Value] = {"gate.min_probability": 0.0, "gate.min_best_cosine": -1.0}
"""What a new gate replaces, at the value that lets everything through."""
WHOLE = 5
"""Datasets from which on whole ones are held out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Examples:
    """n questions as asked. ``values`` (n, f) float64, finite, columns as ``names``; ``answerable`` (n,); ``clusters``
    (n,) name what is held out together: questions that share a document, or the dataset where at least ``WHOLE`` were
    asked; ``variants`` (n,) say which kind of unanswerable each is asked as. ``passed`` (n,): the profile would answer
    without a gate. ``without`` counts questions for which nothing was found: a gate is not asked of them. ``failures``
    could not be asked."""

    names: tuple[str, ...]
    values: Floats
    answerable: Flags
    clusters: tuple[str, ...]
    variants: tuple[Variant, ...]
    cases: tuple[tuple[str, str], ...]
    passed: Flags
    without: int = 0
    failures: tuple[Mapping[str, str], ...] = ()

    def __len__(self) -> int:
        return len(self.answerable)

    def at(self, places: NDArray[np.int64] | Flags) -> Examples:
        """The examples at these places (positions, or a mask)."""
        chosen = np.arange(len(self))[places].tolist()
        return Examples(
            names=self.names,
            values=self.values[chosen],
            answerable=self.answerable[chosen],
            clusters=tuple(self.clusters[place] for place in chosen),
            variants=tuple(self.variants[place] for place in chosen),
            cases=tuple(self.cases[place] for place in chosen),
            passed=self.passed[chosen],
        )


def features_of(recipe: Recipe) -> tuple[str, ...]:
    """Names of the features a recipe's candidates have."""
    return tuple(one.name for one in FEATURES if recipe != "graph" or not one.lexical)


def collect(
    workspace: Workspace,
    cases: Sequence[LabelledCase],
    *,
    recipe: Recipe,
    profile: Profile,
    variants: Sequence[Variant] = ("near-miss", "absent"),
    levels: tuple[str, ...] | None = None,
    broken: Sequence[Mapping[str, str]] = (),
    user_id: str = DEFAULT_USER,
    progress: Progress = quiet,
) -> Examples:
    """Asks every case whose answerability is known: an unanswerable one in each of the variants that apply to it.

    A case that fails is a failure and no example. ``broken`` are cases that could not even be read.

    Raises:
        UsageError: there are not two classes to tell apart; the message says what was found.
    """
    names, bare = features_of(recipe), without_gate(profile)
    rows, passed, kept, without, failures = [], [], [], 0, [dict(one) for one in broken]
    for dataset, case, variant in _asked(cases, variants):
        try:
            read, answers = _row(workspace, case, dataset, variant, recipe, bare, levels, user_id)
        except Exception as error:  # noqa: BLE001 (one broken case never takes a training down)
            failures.append(failure(case.case_id, dataset, error))
        else:
            without += read is None
            if read is not None:
                rows.append([read[name] for name in names])
                passed.append(answers)
                kept.append((dataset, case, variant))
        progress(1)
    answerable = np.array([case.answerable for _, case, _ in kept], dtype=bool)
    if len(set(answerable.tolist())) < 2:
        said = f"; the first failure: {failures[0]['message']}" if failures else ""
        raise UsageError(
            f"a gate is learned from answerable and unanswerable questions; here are {int(answerable.sum())} and "
            f"{int((~answerable).sum())}{said}"
        )
    return Examples(
        names=names,
        values=np.array(rows, dtype=np.float64),
        answerable=answerable,
        clusters=_clusters([(dataset, case) for dataset, case, _ in kept]),
        variants=tuple(variant for _, _, variant in kept),
        cases=tuple((dataset, case.case_id) for dataset, case, _ in kept),
        passed=np.array(passed, dtype=bool),
        without=without,
        failures=tuple(failures),
    )


def without_gate(profile: Profile) -> Profile:
    """The profile without a learned gate, and without the hand-set floor on a whole question that a gate stands for."""
    opened = {name: value for name, value in OPENED.items() if name in profile.values}
    return replace(profile.with_values(opened), learned_gate=None)


def questions(cases: Sequence[LabelledCase], variants: Sequence[Variant]) -> int:
    """How many questions ``collect`` will ask."""
    return sum(1 for _ in _asked(cases, variants))


def _asked(cases: Sequence[LabelledCase], variants: Sequence[Variant]) -> Iterator[tuple[str, Case, Variant]]:
    for dataset, case in cases:
        if case.answerable is None:
            continue
        if case.answerable or "near-miss" in variants:
            yield dataset, case, "near-miss"
        if "absent" in variants and not case.answerable and case.hides:
            yield dataset, case, "absent"


def _clusters(kept: Sequence[LabelledCase]) -> tuple[str, ...]:
    """Datasets where many were asked (conversations, say), else groups of questions that share a document."""
    if len({dataset for dataset, _ in kept}) >= WHOLE:
        return tuple(dataset for dataset, _ in kept)
    group: dict[tuple[str, str], int] = {}
    for place, (dataset, case) in enumerate(kept):
        sources = {(dataset, source) for source in documents(case)}
        touched = {group[source] for source in sources if source in group}
        joined = min(touched, default=place)
        for source, number in group.items():
            if number in touched:
                group[source] = joined
        group.update(dict.fromkeys(sources, joined))
    return tuple(f"group {group[dataset, documents(case)[0]]}" for dataset, case in kept)


def documents(case: Case) -> tuple[str, ...]:
    """All documents a question is about: those of its evidence and those it would hide, else itself."""
    return tuple(dict.fromkeys((*(gold.source for gold in case.gold), *case.hides))) or (case.case_id,)


def _row(
    workspace: Workspace,
    case: Case,
    dataset: str,
    variant: Variant,
    recipe: Recipe,
    profile: Profile,
    levels: tuple[str, ...] | None,
    user_id: str,
) -> tuple[dict[str, float] | None, bool]:
    """The features of a question's candidates (None without any), and whether the profile answers it."""
    trace = workspace.ask(
        case.question,
        dataset=dataset,
        recipe=recipe,
        profile=profile,
        levels=levels,
        hide_sources=hidden_sources(case, variant, drop_same_id=False),
        as_of=case.as_of,
        known_at=case.known_at,
        user_id=user_id,
    )
    considered = of_trace(trace)
    if not len(considered):
        return None, False
    corpus = workspace.corpus(IDF_OF[recipe], workspace.store.matching(dataset, user_id))
    return values(find(case.question, considered, corpus.tfidf.idf)), not trace.answer.abstained
