"""`assay sweep`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from core import options
from core.errors import UsageError
from core.options import OutputFormat, RecipeName
from evals.cli import VariantName
from evals.tune_cli import SearchName

EXAMPLES = """Examples:\n
  assay sweep -d meridian --vary fusion.method=blend,rrf,convex --vary rerank.method=none,overlap --out out/sweep\n
  assay sweep -d meridian --vary chunk=600,1200 --vary overlap=0,150 --no-tune --objective ndcg@10 --out out/chunks\n
  assay sweep -d clapnq --vary embedder=minilm,wordllama,tfidf --tune floor=0:0.8 --budget 10m --out out/models
"""
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}


def sweep(
    dataset: options.DatasetName,
    vary: Annotated[
        list[str],
        typer.Option(
            "--vary",
            help="name=a,b,c: chunk, overlap, embedder (tfidf too), a method such as fusion.method or rerank.method, or "
            "a threshold that is held, such as rerank.depth; repeatable: every combination is an arm",
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", help="Folder for recordings, each arm's profile and rows, and the leaderboard"
        ),
    ],
    recipe: options.RecipeOption = RecipeName.brain,
    profile: options.ProfileOption = "seed",
    tune: Annotated[
        list[str] | None,
        typer.Option(
            "--tune",
            help="Thresholds tuned inside each arm, as --vary of `assay tune`. Default: what is usual for the recipe",
            show_default=False,
        ),
    ] = None,
    no_tune: Annotated[bool, typer.Option("--no-tune", help="Judge each arm as the profile has it")] = False,
    objective: Annotated[
        str, typer.Option("--objective", help="The figure arms are ranked by")
    ] = "balanced_correct",
    constraint: Annotated[
        list[str] | None,
        typer.Option("--constraint", help="e.g. 'false_answer_rate <= 0.05'; repeatable", show_default=False),
    ] = None,
    search: Annotated[
        SearchName, typer.Option("--search", help="How settings are proposed")
    ] = SearchName.sobol,
    trials: Annotated[
        int, typer.Option("--trials", min=1, max=100_000, help="Settings tried in each arm")
    ] = 256,
    tune_split: Annotated[
        str | None, typer.Option("--tune-split", help="Split to choose on", show_default=False)
    ] = None,
    report_split: Annotated[
        str | None,
        typer.Option(
            "--report-split", help="Split to judge on. Default: halves by document", show_default=False
        ),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option("--budget", help="No new arm begins after so long: 90s, 10m, 2h", show_default=False),
    ] = None,
    variant: Annotated[
        VariantName, typer.Option("--variant", help="Kind of unanswerable, as in `assay eval`")
    ] = VariantName.near_miss,
    levels: options.Levels = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of search, halves and resampling")] = 0,
    output: options.FormatOption = OutputFormat.text,
    db: options.Db = None,
    user: options.User = options.USER,
    embedder: options.EmbedderOption = None,
) -> None:
    """Sweep structure: chunks, embedder, fusion, reranker; one leaderboard with what cannot be told apart.

    Each combination is recorded once and its thresholds are tuned by replay. Stopped, the same command goes on.
    """
    from core import profile as profiles
    from core.progress import bar
    from evals.cli import stored_cases
    from evals.run_files import written
    from evals.sweep import leaderboard
    from evals.sweep.arms import arms_of, parse_axes
    from evals.sweep.corpora import Corpora
    from evals.sweep.sweep import Sweep, run
    from evals.tuning import space
    from evals.tuning.objective import parse_constraint, parse_objective

    arms = arms_of(parse_axes(vary, recipe.value))
    wanted = parse_objective(objective)
    if len(wanted.weights) != 1:
        raise UsageError(f"arms are ranked by one figure, got {objective!r}; weigh figures in `assay tune`")
    if (tune_split is None) != (report_split is None):
        raise UsageError("--tune-split and --report-split are given together, or neither")
    if tune_split is not None and tune_split == report_split:
        raise UsageError(f"--tune-split and --report-split are both {tune_split!r}: what chose cannot judge")
    request = Sweep(
        arms=arms, base=profiles.load(profile, recipe.value),
        axes=() if no_tune else space.parse_axes(tune or [], recipe.value),
        objective=wanted, constraints=tuple(parse_constraint(text) for text in constraint or []),
        search=search.value, trials=trials,
        splits=None if tune_split is None or report_split is None else (tune_split, report_split),
        variant=variant.value, levels=options.split_levels(levels), user=user, seed=seed, budget=seconds_of(budget),
    )  # fmt: skip
    with (
        Corpora(db, out, dataset, user, embedder) as corpora,
        bar("sweeping", total=len(arms), unit="arms") as progress,
    ):
        results, left = run(
            request,
            corpora,
            lambda workspace, name: stored_cases(workspace, name, user),
            out,
            progress=progress,
        )
    places = leaderboard.ranked(results, wanted, seed=seed)
    body = leaderboard.to_json(places, results, wanted, left)
    with written(out / "leaderboard.json") as file:
        file.write(body + "\n")
    print(body if output is OutputFormat.json else leaderboard.to_text(places, results, wanted, left))
    if not places and results:
        raise typer.Exit(1)


def seconds_of(budget: str | None) -> float | None:
    """``90s``, ``10m`` or ``2h`` in seconds.

    Raises:
        UsageError: it is none of these.
    """
    if budget is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", budget.strip())
    if found is None:
        raise UsageError(f"--budget is a time such as 90s, 10m or 2h, got {budget!r}")
    return float(found[1]) * _UNITS[found[2]]
