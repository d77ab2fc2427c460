"""What tests of record and replay share: the shipped dataset in a workspace, and profiles drawn over their ranges."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from core import profile as profiles
from core.index.base import Scores
from core.ingest.folder import read_paths
from core.ingest.ingestor import ingest
from core.ingest.items import Item
from core.profile import Profile
from core.thresholds import Threshold, for_recipe
from core.trace import Recipe
from core.workspace import Workspace
from evals.cases import Case
from evals.runs import LabelledCase
from tests.conftest import BagEmbedder
from tests.shipped import part


class WordReranker:
    """Deterministic and fast: the share of letters' pairs that question and passage have in common."""

    space = "rerank/pairs"

    def scores(self, question: str, passages: Sequence[str]) -> Scores:
        asked = _pairs(question)
        return np.array([len(asked & _pairs(one)) / len(asked | _pairs(one)) for one in passages], np.float32)


def _pairs(text: str) -> set[str]:
    return {text[place : place + 2].lower() for place in range(max(1, len(text) - 1))}


def meridian(folder: Path) -> tuple[Workspace, list[LabelledCase]]:
    """A part of the shipped dataset, stored in ``folder`` under its name, and its labelled questions."""
    workspace = Workspace.open(folder / "assay.db", embedder=BagEmbedder())
    workspace._rerankers["maxsim"] = WordReranker()
    rows = [(where, item) for where, item in read_paths([part(folder)]) if isinstance(item, Item)]
    ingest(workspace.store, "meridian", rows)
    stored = workspace.store.cases([workspace.store.dataset("meridian").dataset_id])
    return workspace, [("meridian", Case.from_body(item.body)) for _, item in stored]


def seed(recipe: Recipe, **settings: str | float) -> Profile:
    """The documents' numbers, whose cuts bind to any embedder, with settings such as ``fusion__method``."""
    values = {name.replace("__", "."): value for name, value in settings.items()}
    return profiles.load("seed", recipe).with_values(values)


def drawn(base: Profile, rng: np.random.Generator, **limits: float) -> Profile:
    """``base`` with every threshold drawn: as it is, anywhere in its declared range, or at one of its ends.

    A range thousands wide is drawn by the logarithm too, else nearly every draw would keep all or nothing.
    """
    values: dict[str, float] = {}
    for knob in for_recipe(base.recipe):
        if not isinstance(knob, Threshold):
            continue
        high = min(knob.high, limits.get(knob.name.replace(".", "__"), knob.high))
        kind = rng.choice(["base", "range", "near", "low", "high"], p=[0.3, 0.35, 0.25, 0.05, 0.05])
        value = {
            "base": base.number(knob.name),
            "range": rng.uniform(knob.low, high),
            "near": knob.low + (high - knob.low) ** rng.uniform() - (high - knob.low > 1),
            "low": knob.low,
            "high": high,
        }[str(kind)]
        value = float(np.clip(value, knob.low, high))
        values[knob.name] = round(value) if knob.integer else value
    return base.with_values(values)
