"""`mem`: ask a levelled memory, with provenance. Also `ask` and `ingest`, which `assay` offers too."""

from __future__ import annotations

import json
import os
import tomllib
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from core import options
from core.bounded import MAX_SETTINGS, read_whole
from core.command import run
from core.errors import UsageError
from core.ingest.chunk import CHUNK_SIZE
from core.options import OutputFormat, ReasoningLevel, RecipeName
from core.remember import cli as remember_cli

if TYPE_CHECKING:
    from core.store import Store
    from core.trace import Evidence, Trace

mem = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Ask a levelled memory and see where its answers come from.",
)
mem.command("synthesize", epilog="Example:  mem synthesize --project meridian --level L1")(
    remember_cli.synthesize
)
PROJECT_FILE = ".assay.toml"


@mem.callback()
def _group() -> None:
    """Ask a levelled memory and see where its answers come from."""


@mem.command(
    epilog="Example:  mem query --project meridian --levels L1,L2 --k 10 'why did requests over 10KB fail?'"
)
def query(
    question: Annotated[str, typer.Argument(help="What to ask")],
    project: Annotated[
        str | None, typer.Option("--project", help="Project (dataset); default: from the folder")
    ] = None,
    levels: options.Levels = None,
    k: Annotated[
        int | None, typer.Option("--k", min=1, max=100, help="Hits to return; default: the profile's")
    ] = None,
    profile: options.ProfileOption = "default",
    explain: Annotated[
        bool, typer.Option("--explain", help="Print the recall candidates and their scores before reranking")
    ] = False,
    output: options.FormatOption = OutputFormat.text,
    db: options.Db = None,
    user: options.User = options.USER,
    embedder: options.EmbedderOption = None,
    index: options.IndexOption = None,
) -> None:
    """Ask the memory a question; every hit is traced back to the turn it came from."""
    from core import profile as profiles
    from core import render
    from core.workspace import Workspace

    with Workspace.open(db, embedder=embedder, create=False, index=index) as workspace:
        name = project or inferred_project(workspace.store, Path.cwd(), user)
        chosen = profiles.load(profile, "memory")
        if k is not None:
            chosen = chosen.with_values({"select.k": k})
        trace = workspace.ask(
            question,
            dataset=name,
            recipe="memory",
            profile=chosen,
            levels=options.split_levels(levels),
            user_id=user,
        )
    if output is OutputFormat.json:
        print(json.dumps(hits_json(trace, explain=explain), ensure_ascii=False, indent=2, allow_nan=False))
        return
    print(render.hits(trace))
    if explain:
        print("\n" + render.explanation(trace))


@mem.command()
def projects(
    output: options.FormatOption = OutputFormat.text, db: options.Db = None, user: options.User = options.USER
) -> None:
    """List the projects (datasets) there are, with what they hold."""
    from core.store import Store, default_path

    with Store.open(db or default_path(), create=False) as store:
        rows = [{"project": found.name, **store.counts(found.dataset_id)} for found in store.datasets(user)]
    if output is OutputFormat.json:
        print(json.dumps(rows, ensure_ascii=False, indent=2))
    elif not rows:
        print("no projects yet; `assay ingest PATH --dataset NAME` makes one")
    for row in rows if output is OutputFormat.text else ():
        print(
            f"{row['project']}: "
            + ", ".join(f"{count} {kind}" for kind, count in row.items() if kind != "project" and count)
        )


def ask(
    question: Annotated[str, typer.Argument(help="What to ask")],
    dataset: options.DatasetPattern = "main",
    recipe: options.RecipeOption = RecipeName.brain,
    profile: options.ProfileOption = "default",
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Print each stage, its order before and after, and what fell where"),
    ] = False,
    output: options.FormatOption = OutputFormat.text,
    levels: options.Levels = None,
    as_of: Annotated[
        str | None, typer.Option("--as-of", help="Valid time to ask about, e.g. 2024-03-01 (graph)")
    ] = None,
    known_at: Annotated[
        str | None, typer.Option("--known-at", help="Transaction time: what was known then (graph)")
    ] = None,
    chat: options.ChatOption = None,
    reasoning: options.ReasoningOption = ReasoningLevel.none,
    session: options.Session = None,
    geo: options.GeoOption = None,
    nearby: options.Nearby = False,
    nearby_km: options.NearbyKm = None,
    db: options.Db = None,
    user: options.User = options.USER,
    embedder: options.EmbedderOption = None,
    index: options.IndexOption = None,
) -> None:
    """Ask a question; get an answer whose evidence resolves, or an abstention that says why."""
    from core import profile as profiles
    from core import render
    from core.answer.by_model import STAGE
    from core.geo.sphere import MAX_RADIUS_KM
    from core.models.registry import chat as chat_named
    from core.workspace import Workspace

    writer = chat_named(chat)
    chosen = profiles.load(profile, recipe.value)
    if nearby and nearby_km is None:
        nearby_km = float(chosen.values.get("geo.radius_km", MAX_RADIUS_KM))
    with (
        Workspace.open(db, embedder=embedder, create=False, geo=geo, index=index) as workspace,
        workspace.journal("query", user_id=user, dataset=dataset, session_id=session)
        if writer or workspace.store.database.writable
        else nullcontext() as journal,
    ):
        trace = workspace.ask(
            question,
            dataset=dataset,
            recipe=recipe.value,
            profile=chosen,
            levels=options.split_levels(levels),
            as_of=as_of,
            known_at=known_at,
            user_id=user,
            chat=writer,
            reasoning={STAGE: reasoning.value},
            journal=journal,
            nearby_km=nearby_km,
        )
    if output is OutputFormat.json:
        print(trace.to_json())
        return
    print(render.answer_text(trace))
    if explain:
        print("\n" + render.explanation(trace))


def ingest(
    paths: Annotated[list[Path], typer.Argument(help="Folders or files: Markdown, text, native JSONL")],
    dataset: options.DatasetName,
    chunk_size: Annotated[
        int, typer.Option("--chunk-size", min=50, max=100_000, help="Characters a chunk of a text may have")
    ] = CHUNK_SIZE,
    chunk_overlap: Annotated[
        int,
        typer.Option("--chunk-overlap", min=0, help="Characters of the chunk before that may be repeated"),
    ] = 0,
    dry_run: options.DryRun = False,
    strict: options.Strict = False,
    no_embed: options.NoEmbed = False,
    output: options.FormatOption = OutputFormat.text,
    db: options.Db = None,
    user: options.User = options.USER,
    embedder: options.EmbedderOption = None,
) -> None:
    """Bring files into a dataset; the same content a second time changes nothing."""
    from core.ingest.bringing import bring_in
    from core.ingest.chunk import rechunked
    from core.ingest.folder import read_paths

    brought = bring_in(
        [(dataset, rechunked(read_paths(paths), chunk_size, chunk_overlap))],
        db=db,
        user_id=user,
        dry_run=dry_run,
        strict=strict,
        embed=not no_embed,
        embedder=embedder,
    )
    print(brought.to_json() if output is OutputFormat.json else brought.to_text())


def embed(
    dataset: options.DatasetPattern,
    db: options.Db = None,
    user: options.User = options.USER,
    embedder: options.EmbedderOption = None,
) -> None:
    """Give every text of a dataset a vector of a model; what has one already is left alone."""
    from core.ingest.embed import embed_missing
    from core.models.registry import embedder as embedder_named
    from core.progress import bar
    from core.store import Store, default_path

    with Store.open(db or default_path(), create=False) as store:
        ids = [found.dataset_id for found in store.matching(dataset, user)]
        with bar("embedding", total=store.text_count(ids), unit="texts") as progress:
            report = embed_missing(store, embedder_named(embedder), ids, progress=progress)
    print(
        f"embedded {report.embedded} texts, {report.cached} already were, "
        f"{report.without_tokens} have no words to embed"
    )


def inferred_project(store: Store, folder: Path, user_id: str) -> str:
    """The project of a folder: ``project`` in the nearest `.assay.toml` upward, else the folder's own name if known.

    Raises:
        UsageError: neither; the message lists the projects there are.
    """
    known = [found.name for found in store.datasets(user_id)]
    for parent in (folder, *folder.parents):
        file = parent / PROJECT_FILE
        if file.is_file():
            return _project_in(file)
    if folder.name in known:
        return folder.name
    listed = ", ".join(known) or "none; `assay ingest PATH --dataset NAME` makes one"
    raise UsageError(
        f"no project for {os.fspath(folder)}: no {PROJECT_FILE} here or above, and no project is called "
        f"{folder.name!r}; give --project NAME. Projects: {listed}"
    )


def _project_in(file: Path) -> str:
    try:
        name = tomllib.loads(read_whole(file, MAX_SETTINGS).decode("utf-8")).get("project")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise UsageError(f'{file}: cannot be read: {error}; it should hold project = "NAME"') from error
    if not isinstance(name, str) or not name:
        raise UsageError(f'{file}: project must be a name, got {name!r}; write project = "NAME"')
    return name


def hits_json(trace: Trace, *, explain: bool) -> dict[str, object]:
    """What `mem query --format json` prints."""
    result: dict[str, object] = {
        "query_id": trace.trace_id,
        "question": trace.question,
        "projects": list(trace.datasets),
        "abstained": trace.answer.abstained,
        "reason": trace.answer.reason,
        "explanation": trace.answer.explanation,
        "hits": [_hit_json(rank, item) for rank, item in enumerate(trace.answer.evidence, start=1)],
        "notices": list(trace.notices),
    }
    if explain:
        result["candidates"] = trace.to_dict()["candidates"]
        result["stages"] = trace.to_dict()["stages"]
    return result


def _hit_json(rank: int, item: Evidence) -> dict[str, object]:
    return {
        "rank": rank,
        "score": item.score,
        "level": item.level,
        "id": item.candidate_id,
        "name": item.name,
        "text": item.text,
        "source": item.source,
        "turn": item.turn,
        "provenance": [
            {
                "id": entry.node_id,
                "level": entry.level,
                "source": entry.source,
                "turn": entry.turn,
                "hops": entry.hops,
            }
            for entry in item.provenance
        ],
    }


def main() -> None:
    """Entry point of `mem`."""
    run(mem)
