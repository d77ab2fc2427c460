"""What `assay tune --gate` does: asks, fits, measures on documents held out, writes the profile."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from core import clock
from core import profile as profiles
from core.errors import UsageError
from core.options import USER
from core.progress import bar
from core.trace import Recipe
from core.workspace import Workspace
from evals.cases import VARIANTS, Variant
from evals.gate_examples import questions
from evals.gate_fit import FOLDS
from evals.gate_heldout import REPEATS
from evals.gate_training import COVERAGE, GateFit, fit_gate
from evals.gate_training_report import to_json, to_markdown
from evals.runs import select_cases
from evals.tuning.saved import save


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRequest:
    """The options of the command as they were given; ``variant`` None: both kinds of unanswerable are learned."""

    dataset: str
    recipe: Recipe = "brain"
    profile: str = "default"
    coverage: float = COVERAGE
    variant: Variant | None = None
    levels: tuple[str, ...] | None = None
    split: str | None = None
    filters: tuple[str, ...] = ()
    limit: int | None = None
    repeats: int = REPEATS
    seed: int = 0
    out: Path | None = None
    db: Path | str | None = None
    user: str = USER
    embedder: str | None = None


def run(request: GateRequest, *, as_json: bool = False) -> str:
    """What is to be printed; the profile is written where ``out`` says.

    Raises:
        AssayError: an option that cannot be taken, or data a gate cannot be learned from.
    """
    if request.out is not None and request.out.suffix != ".toml":
        raise UsageError(f"--out {request.out}: a profile's file ends in .toml")
    fit = fitted(request)
    told = to_json(fit) if as_json else to_markdown(fit)
    if request.out is None:
        return told
    _save(fit, request, request.out)
    return told if as_json else f"{told}\nwrote {request.out}; try: assay ask 'QUESTION' --dataset {request.dataset} " \
        f"--recipe {request.recipe} --profile {request.out} --explain"  # fmt: skip


def fitted(request: GateRequest) -> GateFit:
    """The gate that the options ask for."""
    from evals.cli import stored_cases

    profile = profiles.load(request.profile, request.recipe)
    variants = VARIANTS if request.variant is None else (request.variant,)
    with Workspace.open(request.db, embedder=request.embedder, create=False) as workspace:
        stored, broken = stored_cases(workspace, request.dataset, request.user)
        cases = select_cases(stored, split=request.split, filters=request.filters, limit=request.limit)
        total = questions(cases, variants) + request.repeats * FOLDS
        with bar("asking and fitting", total=total, unit="steps") as progress:
            return fit_gate(
                workspace,
                cases,
                recipe=request.recipe,
                profile=profile,
                coverage=request.coverage,
                variants=variants,
                levels=request.levels,
                broken=broken,
                user_id=request.user,
                repeats=request.repeats,
                seed=request.seed,
                progress=progress,
            )


def _save(fit: GateFit, request: GateRequest, out: Path) -> None:
    auroc = fit.figures["all"]["auroc"].value
    origin = {
        **fit.profile.origin,
        "made_by": "assay tune --gate",
        "dataset": request.dataset,
        "split": request.split or "all",
        "variant": request.variant or "both",
        "date": clock.now()[:10],
    }
    about = (
        f"{fit.profile.about} With a learned gate: {fit.fitted.kind}, trained on {len(fit.examples)} questions of "
        f"{request.dataset} (held out: AUROC {auroc:.3f})."
    )
    save(replace(fit.profile, origin={}), out, origin, about=about.strip())
