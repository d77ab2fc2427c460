"""Small sets of candidates to read features off by hand, and gates of a few features."""

from __future__ import annotations

import numpy as np

from core.gate.considered import Considered
from core.gate.features import values
from core.gate.findings import Findings, find
from core.gate.model import LearnedGate, Weighed


def flat(stem: str) -> float:
    """Every stem weighs the same."""
    return 1.0


def considered(*rows: dict) -> Considered:
    """Each row: text, and where given title, speaker, cosine, tfidf (all rows or none)."""
    lexical = all("tfidf" in row for row in rows)
    return Considered(
        texts=[row["text"] for row in rows],
        titles=[row.get("title", "") for row in rows],
        speakers=[row.get("speaker") for row in rows],
        cosine=np.array([row.get("cosine", 0.5) for row in rows], dtype=np.float32),
        tfidf=np.array([row["tfidf"] for row in rows], dtype=np.float32) if lexical else None,
    )


def found(question: str, *rows: dict) -> Findings:
    return find(question, considered(*rows), flat)


def read(question: str, *rows: dict) -> dict[str, float]:
    return values(found(question, *rows))


def gate_of(weights: dict[str, float], *, intercept: float = 0.0, recipe="brain", **other) -> LearnedGate:
    """A gate that reads its features as they are: mean 0, scale 1."""
    features = tuple(
        Weighed(name=name, mean=0.0, scale=1.0, weight=weight) for name, weight in weights.items()
    )
    reads = other.pop("reads", {"cosine": "cosine/bag-64"})
    return LearnedGate(recipe=recipe, features=features, intercept=intercept, reads=reads, **other)
