"""`assay record` and `assay replay`."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from core import options
from core.errors import UsageError
from core.options import OutputFormat, RecipeName
from evals import cli
from evals.cli import Filter, Limit, Seed, Split, VariantName


def record(
    dataset: options.DatasetPattern,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the recording")],
    recipe: options.RecipeOption = RecipeName.brain,
    profile: options.ProfileOption = "default",
    split: Split = None,
    variant: Annotated[
        VariantName, typer.Option("--variant", help="Which kind of unanswerable, see `assay eval`")
    ] = VariantName.near_miss,
    levels: options.Levels = None,
    filter_: Filter = None,
    limit: Limit = None,
    drop_same_id: Annotated[
        bool, typer.Option("--drop-same-id", help="Hide the document whose id is the question's")
    ] = False,
    width: Annotated[
        list[str] | None,
        typer.Option(
            "--width", help="How wide is recorded, e.g. rerank.depth=200; repeatable", show_default=False
        ),
    ] = None,
    db: options.Db = None,
    user: options.User = options.USER,
    embedder: options.EmbedderOption = None,
    index: options.IndexOption = None,
) -> None:
    """Keep what no threshold changes of every labelled question, so that profiles can be tried without a search.

    The profile gives the methods; its thresholds may be replayed at any value. What was recorded when the command is
    stopped is kept: the same command goes on there.
    """
    from core import profile as profiles
    from core.progress import bar
    from core.workspace import Workspace
    from evals.record import record as recorded
    from evals.record_piece import forget
    from evals.recording_files import refuse_other, save
    from evals.runs import select_cases

    chosen = profiles.load(profile, recipe.value)
    refuse_other(out)
    with Workspace.open(db, embedder=embedder, create=False, index=index) as workspace:
        stored, broken = cli.stored_cases(workspace, dataset, user)
        cases = select_cases(stored, split=split, filters=filter_ or [], limit=limit)
        with bar("recording", total=len(cases), unit="cases") as progress:
            recording = recorded(
                workspace,
                cases,
                recipe=recipe.value,
                profile=chosen,
                variant=variant.value,
                levels=options.split_levels(levels),
                drop_same_id=drop_same_id,
                widths=_widths(width or []),
                broken=broken,
                user_id=user,
                progress=progress,
                out=out,
            )
    save(recording, out)
    forget(out)
    failed = len(recording.header.failures)
    print(
        f"{out}: {len(recording)} cases recorded" + (f", {failed} failed (see header.json)" if failed else "")
    )


def replay(
    recording: Annotated[Path, typer.Argument(help="Folder of a recording", show_default=False)],
    profile: options.ProfileOption = "default",
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder for rows.jsonl, summary.json …", show_default=False),
    ] = None,
    seed: Seed = 0,
    output: options.FormatOption = OutputFormat.text,
) -> None:
    """Score a recording under a profile: the table of `assay eval`, without a search or a model."""
    from core import profile as profiles
    from core.progress import bar
    from evals.recording_files import load
    from evals.replay import evaluated

    found = load(recording)
    chosen = profiles.load(profile, found.header.recipe)
    found.check(chosen)
    with TemporaryDirectory() as scratch, bar("replaying", total=len(found), unit="cases") as progress:
        summary = evaluated(found, chosen, out or Path(scratch) / "run", seed=seed, progress=progress)
    print(summary.to_json() if output is OutputFormat.json else summary.to_markdown())


def _widths(given: list[str]) -> dict[str, int]:
    widths = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or not value.isdigit():
            raise UsageError(f"a width is NAME=NUMBER, e.g. rerank.depth=200, got {each!r}")
        widths[name] = int(value)
    return widths
