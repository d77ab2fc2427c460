"""Promises as a guarantee: how often the true risk is above what was promised, over seeded draws from known populations.

Each draw goes through ``promised.kept``, which `assay tune --promise` calls. 100 draws in the suite; `make bench` runs
500 of each population and size and prints how often the promise was broken, beside a scan that takes the last cut whose
observed risk is within the limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import beta, binom

from core import profile as profiles
from core.ingest.folder import read_paths
from core.ingest.ingestor import ingest
from core.ingest.items import Item
from core.workspace import Workspace
from evals.cases import Case
from evals.curves.of_recording import RecordingCurves
from evals.record import record
from evals.recording import RecordedCase
from evals.replayed import Replayed
from evals.tuning.promise import Promise, naive_scan, parse_promise
from evals.tuning.promised import kept

PROMISE = parse_promise("false_answer_rate <= 0.05 @ 0.95")
VALUES = tuple(float(value) for value in np.linspace(1, 0, 401))
"""Cuts from the strictest, as they are tested."""
ANSWERABLE = 100
MERIDIAN = Path(__file__).resolve().parents[2] / "datasets" / "meridian"


@dataclass(frozen=True, slots=True, kw_only=True)
class Population:
    """Documents with the scores of the unanswerable questions about each, all equally likely to be drawn; ``risks`` are
    the true shares answered at each of ``VALUES``, of a question drawn at random from a document drawn at random."""

    name: str
    documents: Sequence[np.ndarray]
    answerable: np.ndarray

    @property
    def risks(self) -> np.ndarray:
        shares = [(scores >= np.array(VALUES)[:, None]).mean(axis=1) for scores in self.documents]
        return np.asarray(np.mean(shares, axis=0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """Of the draws: in which the true risk at the promised cut, and at a scan's, is above the limit; in which anything
    was promised; and what a promised cut answers of the answerable, on average."""

    broken: float
    scanned: float
    promised: float
    answered: float


def synthetic() -> Population:
    """A question a document; Beta(2, 6) where nothing can be answered, Beta(5, 4) where something can. 20,000 of each, so
    that the population is what is drawn from."""
    random = np.random.default_rng(1)
    scores = beta(2, 6).rvs(20_000, random_state=random)
    return Population(
        name="one question a document", documents=scores[:, None],
        answerable=beta(5, 4).rvs(20_000, random_state=random),
    )  # fmt: skip


def dependent() -> Population:
    """One to eight questions about a document, all with its score: no more is known by eight than by one."""
    random = np.random.default_rng(2)
    scores = beta(2, 6).rvs(20_000, random_state=random)
    return Population(
        name="up to eight alike about a document",
        documents=[np.full(random.integers(1, 9), score) for score in scores],
        answerable=beta(5, 4).rvs(20_000, random_state=random),
    )  # fmt: skip


def shipped(folder: Path) -> Population:
    """What recipe `brain` has as confidence on the unanswerable and answerable questions of the shipped data."""
    with Workspace.open(folder / "assay.db") as workspace:
        rows = [(where, item) for where, item in read_paths([MERIDIAN]) if isinstance(item, Item)]
        ingest(workspace.store, "meridian", rows)
        stored = workspace.store.cases([workspace.store.dataset("meridian").dataset_id])
        cases = [("meridian", Case.from_body(item.body)) for _, item in stored]
        recording = record(workspace, cases, recipe="brain", profile=profiles.load("default", "brain"))
    scored = RecordingCurves(recording, profiles.load("default", "brain")).rows
    found: dict[str, list[float]] = {}
    for row in scored:
        if row["answerable"] is False:
            found.setdefault(row["cluster"], []).append(row["confidence"] or 0.0)
    can = np.array([row["confidence"] or 0.0 for row in scored if row["answerable"]])
    return Population(
        name="meridian, brain", documents=[np.array(one) for one in found.values()], answerable=can
    )


@cache
def named(place: int, turn: int, answerable: bool) -> RecordedCase:
    """A question about the document at a place of a draw."""
    case = Case(
        case_id=f"{answerable}-{place}-{turn}",
        question="?",
        answerable=answerable,
        hides=(f"{answerable} {place}",),
    )
    return RecordedCase(
        case=case, dataset="drawn", datasets=("drawn",), hide_sources=frozenset(), content="", searched=True
    )


def drawn(population: Population, n: int, random: np.random.Generator) -> Replayed:
    """``n`` documents with all their unanswerable questions, and some answerable ones, under every cut."""
    chosen = [population.documents[place] for place in random.integers(len(population.documents), size=n)]
    can = random.choice(population.answerable, size=ANSWERABLE)
    scores = np.concatenate([*chosen, can])
    cases = [named(place, turn, False) for place, one in enumerate(chosen) for turn in range(len(one))]
    cases += [named(place, 0, True) for place in range(ANSWERABLE)]
    abstained = scores < np.array(VALUES)[:, None]
    answerable = np.array([float(bool(one.case.answerable)) for one in cases])
    nothing = np.full(abstained.shape, np.nan)
    return Replayed(
        profiles=(), cases=tuple(cases), answerable=answerable, judgeable=np.ones(len(cases), dtype=bool),
        abstained=abstained, correct=abstained == (answerable == 0), would_be_right=abstained,
        confidence=nothing.astype(np.float32), citation_precision=nothing, citation_recall=nothing, retrieval={},
        ranking_of=np.zeros(len(VALUES), dtype=np.int64), confidence_space=None,
    )  # fmt: skip


def shares(population: Population, promise: Promise, n: int, draws: int, *, seed: int) -> Shares:
    """Draws ``draws`` times ``n`` documents and promises each time."""
    random, risks = np.random.default_rng(seed), population.risks
    broken, scanned, answered = [], [], []
    for number in range(draws):
        replayed = drawn(population, n, random)
        told = kept(promise, "floor.min_score", VALUES, replayed, seed=number)
        place = told.tested.chosen
        broken.append(place is not None and risks[place] > promise.limit)
        unanswerable = replayed.answerable == 0
        wrong = (~replayed.abstained[:, unanswerable]).sum(axis=1)
        naive = naive_scan(promise, wrong, np.full(len(VALUES), unanswerable.sum()))
        scanned.append(naive is not None and risks[naive] > promise.limit)
        answered.append(told.answered[place] if told.value is not None and place is not None else np.nan)
    given = ~np.isnan(answered)
    return Shares(
        broken=float(np.mean(broken)), scanned=float(np.mean(scanned)), promised=float(given.mean()),
        answered=float(np.mean(np.array(answered)[given])) if given.any() else float("nan"),
    )  # fmt: skip


def allowed(promise: Promise, draws: int) -> float:
    """What one share in ``1 − confidence`` may look like in so many draws: the 97.5 % quantile of the binomial."""
    return float(binom.ppf(0.975, draws, 1 - promise.confidence)) / draws


def held(population: Population, promise: Promise, n: int, draws: int) -> None:
    found = shares(population, promise, n, draws, seed=n)
    print(
        f"\n{population.name}, n = {n} documents, {promise.text}: of {draws} draws the promise was given in "
        f"{found.promised:.3f} (answering {found.answered:.3f} of the answerable), broken in {found.broken:.3f} (at most "
        f"{allowed(promise, draws):.3f}); a scan's in {found.scanned:.3f}"
    )
    assert found.broken <= allowed(promise, draws)
    assert found.scanned > 2 * allowed(promise, draws)


def test_a_promise_holds_where_a_scan_does_not() -> None:
    held(synthetic(), PROMISE, 100, 100)


@pytest.mark.bench
@pytest.mark.parametrize("n", [60, 100, 300, 1000])
@pytest.mark.parametrize("population", [synthetic, dependent], ids=["independent", "dependent"])
def test_promises_of_500_draws_hold(population, n: int) -> None:
    held(population(), PROMISE, n, 500)


@pytest.mark.bench
def test_promises_on_the_shipped_datas_own_scores_hold(tmp_path: Path) -> None:
    population = shipped(tmp_path)
    for n in (100, 300):
        held(population, parse_promise("false_answer_rate <= 0.2 @ 0.95"), n, 500)
