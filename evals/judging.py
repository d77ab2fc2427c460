"""Who judges a run beside the metrics that need no choice: an entailment model for support, ragas for its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import UsageError
from core.models import registry
from core.trace import Trace
from evals import ragas_adapter
from evals.cases import Case
from evals.legend import RAGAS, ragas_name
from evals.metrics.support import Supporter, entailed, support
from evals.scoring import Row, scored

OFFLINE = "offline"
"""Stands for all metrics of ragas that need no model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judges:
    """``entailment``: name of the model that judges support (None: words alone); ``ragas``: its metrics to take beside
    ours, those that a model judges by ``ragas_model``."""

    entailment: str | None = None
    ragas: tuple[str, ...] = ()
    ragas_model: str | None = None
    supporter: Supporter = support

    @classmethod
    def named(
        cls, entailment: str | None = None, ragas: str | None = None, ragas_model: str | None = None
    ) -> Judges:
        """``entailment`` as ``cross-encoder:NAME``, ``ragas`` as ``offline`` or names with commas between.

        Raises:
            UsageError: no such model or metric, or one that needs a model and none is named. ModelError: a model or its
                key is not there.
        """
        names = tuple(name.strip() for name in (ragas or "").split(",") if name.strip())
        chosen = tuple(dict.fromkeys(one for name in names for one in _meant(name)))
        if ragas is not None and not chosen:
            raise UsageError(f"no metric of ragas in {ragas!r}; there are {OFFLINE}, {', '.join(RAGAS)}")
        ragas_adapter.measured([], chosen, model=ragas_model)
        supporter = entailed(registry.entailment(entailment)) if entailment else support
        return cls(entailment=entailment, ragas=chosen, ragas_model=ragas_model, supporter=supporter)

    def row(self, case: Case, dataset: str, trace: Trace) -> Row:
        """``scored``, and a field ``ragas_…`` for each of ragas' metrics: None where it judges nothing, or broke on the
        case, which ``metric_errors`` then says."""
        row = scored(case, dataset, trace, supporter=self.supporter)
        if not self.ragas:
            return row
        found = ragas_adapter.measured(
            [ragas_adapter.sample(case, trace)], self.ragas, model=self.ragas_model
        )
        return {
            **row,
            **{ragas_name(name): figure.mean for name, figure in found.items()},
            "metric_errors": {
                **row["metric_errors"],
                **{ragas_name(name): figure.errors[0] for name, figure in found.items() if figure.errors},
            },
        }

    def manifest(self) -> Mapping[str, Any]:
        """Who judged; nothing where nobody was chosen."""
        return {
            **({"entailment": self.entailment} if self.entailment else {}),
            **({"ragas": list(self.ragas)} if self.ragas else {}),
            **({"ragas_model": self.ragas_model} if self.ragas and self.ragas_model else {}),
        }


def _meant(name: str) -> tuple[str, ...]:
    return tuple(ragas_adapter.OFFLINE) if name == OFFLINE else (name,)
