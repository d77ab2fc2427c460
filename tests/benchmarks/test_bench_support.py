"""The support score on WiCE's claims: what each feature tells, what they tell together, and where its weights are from.

Each claim is scored against the sentences an annotator marked, the best-matching of the alternatives counts. A claim
that is not supported has none: it is scored against the one or two sentences of its article that share most with it.
"""

from __future__ import annotations

import gzip
import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from core.models.minilm import MiniLM
from core.text import stems
from evals.metrics import support
from evals.metrics.abstention import auroc
from evals.metrics.support import Features, features

PUBLISHED = {"GPT-3.5": 0.569, "GPT-4": 0.802}
Rarity = Callable[[str], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    text: str
    label: str
    alternatives: list[list[str]]


def rarity_of(texts: Sequence[str]) -> Rarity:
    counts = Counter(stem for text in texts for stem in set(stems(text)))
    whole = math.log(len(texts) + 1)
    return lambda stem: 1 - math.log(counts[stem] + 1) / whole


def read(public_data: Path, split: str) -> tuple[list[Claim], Rarity]:
    with gzip.open(public_data / "wice" / "claim" / f"{split}.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    rarity = rarity_of([sentence for row in rows for sentence in row["evidence"]])
    return [claim_of(row, rarity) for row in rows], rarity


def claim_of(row: dict, rarity: Rarity) -> Claim:
    sentences = row["evidence"]
    marked = [[sentences[place] for place in places] for places in row["supporting_sentences"] if places]
    if not marked or row["label"] == "not_supported":
        wanted = set(stems(row["claim"]))
        nearest = sorted(
            sentences, key=lambda sentence: -sum(rarity(stem) for stem in wanted & set(stems(sentence)))
        )
        marked = [nearest[:1], nearest[:2]]
    return Claim(text=row["claim"], label=row["label"], alternatives=marked)


@pytest.fixture(scope="module")
def dev(public_data: Path) -> tuple[list[Claim], Rarity]:
    return read(public_data, "dev")


@pytest.fixture(scope="module")
def test(public_data: Path) -> tuple[list[Claim], Rarity]:
    return read(public_data, "test")


def told(claims: Sequence[Claim], score: Callable[[str, list[str]], float]) -> float:
    """AUROC of supported against the rest, by the best alternative."""
    best = np.array([max(score(claim.text, texts) for texts in claim.alternatives) for claim in claims])
    return auroc(best, np.array([claim.label == "supported" for claim in claims]))


@pytest.mark.data
def test_the_score_tells_supported_claims(test: tuple[list[Claim], Rarity]) -> None:
    claims, rarity = test
    scores = [
        [support.support(claim.text, texts, rarity) for texts in claim.alternatives] for claim in claims
    ]
    supported = np.array([claim.label == "supported" for claim in claims])
    some = np.array([claim.label != "not_supported" for claim in claims])
    best, first = np.array([max(each) for each in scores]), np.array([each[0] for each in scores])
    whole, of_first = auroc(best, supported), auroc(first, supported)
    of_some = auroc(best[some], supported[some])
    without_corpus = told(claims, support.support)
    print(
        f"\nWiCE test, {len(claims)} claims: AUROC {whole:.3f}; every term equally rare {without_corpus:.3f}; "
        f"supported against partially supported only {of_some:.3f}; the first alternative only {of_first:.3f}; "
        "published: " + ", ".join(f"{name} {figure}" for name, figure in PUBLISHED.items())
    )
    assert len(claims) == 358
    assert whole > 0.83
    assert without_corpus > 0.82
    assert min(of_some, of_first) > PUBLISHED["GPT-4"]


@pytest.mark.bench
def test_what_each_feature_tells(dev: tuple[list[Claim], Rarity], test: tuple[list[Claim], Rarity]) -> None:
    less_is_more = {"missing_mass", "missing_numbers", "missing_names"}
    print()
    for field in fields(Features):
        sign = -1 if field.name in less_is_more else 1
        line = [
            told(
                claims,
                lambda claim, texts, r=rarity, f=field.name, s=sign: (
                    s * getattr(features(claim, texts, r), f)
                ),
            )
            for claims, rarity in (dev, test)
        ]
        print(f"{field.name:16} AUROC dev {line[0]:.3f}  test {line[1]:.3f}")
        assert min(line) > 0.55, field.name
    both = [
        told(claims, lambda claim, texts, r=rarity: support.support(claim, texts, r))
        for claims, rarity in (dev, test)
    ]
    print(f"{'support':16} AUROC dev {both[0]:.3f}  test {both[1]:.3f}")


@pytest.mark.bench
def test_what_a_model_of_meaning_tells(test: tuple[list[Claim], Rarity]) -> None:
    """MiniLM's cosine and MaxSim (the mean and the least of the claim's tokens), alone."""
    claims, _ = test
    model = MiniLM()
    texts = list(
        {*(c.text for c in claims), *(text for c in claims for texts in c.alternatives for text in texts)}
    )
    tokens = dict(zip(texts, model.token_vectors(texts), strict=True))
    vectors = dict(zip(texts, model.embed(texts), strict=True))

    def nearest(claim: str, given: list[str]) -> np.ndarray:
        return (tokens[claim] @ np.vstack([tokens[text] for text in given]).T).max(axis=1)

    print()
    for name, score in (
        ("cosine", lambda claim, given: max(float(vectors[claim] @ vectors[text]) for text in given)),
        ("MaxSim, mean", lambda claim, given: float(nearest(claim, given).mean())),
        ("MaxSim, least", lambda claim, given: float(nearest(claim, given).min())),
    ):
        print(f"{name:16} AUROC test {told(claims, score):.3f}")


@pytest.mark.bench
def test_the_weights_are_those_of_a_logistic_regression_on_dev(dev: tuple[list[Claim], Rarity]) -> None:
    """Fitted on each claim's best alternative by the weights so far, five times over."""
    claims, rarity = dev
    of = [[features(claim.text, texts, rarity) for texts in claim.alternatives] for claim in claims]
    names = ("coverage", "missing_mass", "missing_numbers", "missing_names")
    rows = [np.array([[getattr(each, name) for name in names] for each in found], float) for found in of]
    labels = [claim.label == "supported" for claim in claims]
    every = np.vstack(rows)
    centre, scale = every.mean(axis=0), every.std(axis=0)
    direction = np.array([1, -1, -1, -1]) / scale
    for _ in range(5):
        best = np.array([found[np.argmax(found @ direction)] for found in rows])
        fitted = LogisticRegression(C=1.0).fit((best - centre) / scale, labels)
        direction = fitted.coef_[0] / scale
    intercept = float(fitted.intercept_[0] - direction @ centre)
    print(f"\nintercept {intercept:.3f}", dict(zip(names, direction.round(3).tolist(), strict=True)))
    shipped = [support.COVERAGE, support.MISSING_MASS, support.MISSING_NUMBER, support.MISSING_NAME]
    assert direction == pytest.approx(shipped, rel=0.02)
    assert intercept == pytest.approx(support.INTERCEPT, rel=0.02)
