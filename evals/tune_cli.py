"""`assay tune`."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from core import options
from core.errors import UsageError
from core.options import OutputFormat, RecipeName
from evals.cli import Filter, Limit, VariantName

EXAMPLES = """Examples:\n
  assay tune --dataset meridian --recipe brain\n
  assay tune -d meridian -r brain --vary floor=0.2:0.6 --vary mmr.lambda=0.5:1:0.1 --search grid --trials 500\n
  assay tune -d meridian -r memory --objective '0.5*ndcg@10+0.5*citation_f1' --constraint 'false_answer_rate <= 0.2'\n
  assay tune -d clapnq -r brain --promise 'false_answer_rate <= 0.05 @ 0.95' --out profiles/mine.toml\n
  assay tune -d clapnq -r brain --gate --coverage 0.9 --out profiles/gated.toml\n
  assay tune -d meridian -r brain --search nsga2 --objective answered_answerable --objective false_answer_rate
"""


class SearchName(StrEnum):
    """How settings are proposed."""

    grid = "grid"
    random = "random"
    lhs = "lhs"
    sobol = "sobol"
    tpe = "tpe"
    nsga2 = "nsga2"


def tune(
    dataset: Annotated[
        str | None,
        typer.Option("--dataset", "-d", help="Dataset name or pattern; left out with --recording", show_default=False),
    ] = None,
    recipe: Annotated[
        RecipeName | None,
        typer.Option("--recipe", "-r", help="How questions are answered; brain unless a recording says otherwise",
                     show_default=False),
    ] = None,
    recording: Annotated[
        Path | None,
        typer.Option("--recording", help="Folder of an `assay record`; default: it is recorded now", show_default=False),
    ] = None,
    profile: options.ProfileOption = "default",
    vary: Annotated[
        list[str] | None,
        typer.Option("--vary", help="name=low:high[:step] or name=a,b,c; `floor` is the cut on confidence; repeatable. "
                     "Default: what is usual for the recipe; with --promise alone: nothing else", show_default=False),
    ] = None,
    search: Annotated[
        SearchName, typer.Option("--search", help="How settings are proposed; tpe and nsga2 learn from what was found")
    ] = SearchName.sobol,
    trials: Annotated[
        int, typer.Option("--trials", min=1, max=100_000, help="Settings tried, beside those around the best")
    ] = 512,
    objective: Annotated[
        list[str] | None,
        typer.Option("--objective", help="A figure, or a sum such as 0.5*ndcg@10+0.5*citation_f1; twice for a front. "
                     "Default: balanced_correct", show_default=False),
    ] = None,
    constraint: Annotated[
        list[str] | None,
        typer.Option("--constraint", help="e.g. 'false_answer_rate <= 0.05'; repeatable", show_default=False),
    ] = None,
    promise: Annotated[
        str | None,
        typer.Option("--promise", help="A cut with a guarantee, e.g. 'false_answer_rate <= 0.05 @ 0.95'",
                     show_default=False),
    ] = None,
    tune_split: Annotated[
        str | None, typer.Option("--tune-split", help="Split to choose on. Default: dev, where there is one",
                                 show_default=False)
    ] = None,
    report_split: Annotated[
        str | None, typer.Option("--report-split", help="Split to judge on. Default: test, where there is one",
                                 show_default=False)
    ] = None,
    folds: Annotated[
        int | None, typer.Option("--folds", min=2, max=100, help="Nested cross-validation by document instead of splits",
                                 show_default=False)
    ] = None,
    gate: Annotated[
        bool, typer.Option("--gate", help="Learn a probability that the evidence suffices, instead of thresholds")
    ] = False,
    coverage: Annotated[
        float, typer.Option("--coverage", help="With --gate: share of the answerable that is still answered")
    ] = 0.9,
    variant: Annotated[
        VariantName | None,
        typer.Option("--variant", help="Kind of unanswerable, as in `assay eval`. Default: near-miss; with --gate: both",
                     show_default=False),
    ] = None,
    levels: options.Levels = None,
    filter_: Filter = None,
    limit: Limit = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of search, folds and resampling")] = 0,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write the profile there, a .toml file", show_default=False)
    ] = None,
    surface: Annotated[
        Path | None,
        typer.Option("--surface", help="Every setting and figure as .csv, .jsonl or .parquet. Default: beside --out",
                     show_default=False),
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="The same as --format json")] = False,
    output: options.FormatOption = OutputFormat.text,
    db: options.Db = None,
    user: options.User = options.USER,
    embedder: options.EmbedderOption = None,
) -> None:  # fmt: skip
    """Find better thresholds in a minute: search them over a recording, judge them on other cases, promise and save.

    Exit codes: 0 a profile was found; 1 no setting meets the constraints; 2 misuse; 3 the promise cannot be given.
    """
    if gate:
        from evals import gate_command

        _only_thresholds(
            {
                "--recording": recording, "--vary": vary, "--objective": objective, "--constraint": constraint,
                "--promise": promise, "--folds": folds, "--report-split": report_split, "--surface": surface,
            }
        )  # fmt: skip
        if dataset is None:
            raise UsageError("--gate reads the candidates' texts, which no recording holds: name a --dataset")
        wanted = gate_command.GateRequest(
            dataset=dataset, recipe="brain" if recipe is None else recipe.value, profile=profile, coverage=coverage,
            variant=None if variant is None else variant.value, levels=options.split_levels(levels), split=tune_split,
            filters=tuple(filter_ or ()), limit=limit, seed=seed, out=out, db=db, user=user, embedder=embedder,
        )  # fmt: skip
        print(gate_command.run(wanted, as_json=json_ or output is OutputFormat.json))
        return

    from evals.tuning.command import run
    from evals.tuning.request import Request

    request = Request(
        dataset=dataset, recipe=None if recipe is None else recipe.value, recording=recording, profile=profile,
        vary=tuple(vary or ()), search=search.value, trials=trials, objectives=tuple(objective or ()),
        constraints=tuple(constraint or ()), promise=promise, tune_split=tune_split, report_split=report_split,
        folds=folds, variant=(variant or VariantName.near_miss).value, levels=options.split_levels(levels),
        filters=tuple(filter_ or ()), limit=limit, seed=seed, out=out, surface=surface, db=db, user=user,
        embedder=embedder,
    )  # fmt: skip
    text, code = run(request, as_json=json_ or output is OutputFormat.json)
    print(text)
    raise typer.Exit(code)


def _only_thresholds(given: Mapping[str, object]) -> None:
    """Refuses what says how thresholds are searched, and would be passed over by a gate."""
    meaningless = [option for option, value in given.items() if value]
    if meaningless:
        raise UsageError(
            f"{meaningless[0]} has no meaning with --gate: tune the thresholds first with --out FILE.toml, then learn "
            "the gate with --profile FILE.toml"
        )
