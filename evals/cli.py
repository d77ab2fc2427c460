"""`assay import` and `assay eval`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from core import options
from core.errors import DataError, UsageError
from core.options import OutputFormat, ReasoningLevel, RecipeName
from evals.formats import FORMATS
from evals.writer import Writer

if TYPE_CHECKING:
    from core.profile import Profile
    from core.trace import Trace
    from core.workspace import Workspace
    from evals.cases import Case
    from evals.runs import EvalRequest


Split = Annotated[str | None, typer.Option("--split", help="Only cases of this split, e.g. dev")]
Filter = Annotated[
    list[str] | None,
    typer.Option(
        "--filter", help="Only cases whose tag has one of these values, e.g. category=1,2,3,4; repeatable"
    ),
]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="Only the first N cases")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of the bootstrap intervals")]


EntailmentOption = Annotated[
    str | None,
    typer.Option(
        "--entailment",
        help="Model that judges whether sentences are supported: cross-encoder:NAME. Default: none, by their words",
        show_default=False,
    ),
]
RagasOption = Annotated[
    str | None,
    typer.Option(
        "--ragas",
        help="ragas' own metrics beside ours: offline, or names such as non_llm_context_recall,faithfulness",
        show_default=False,
    ),
]
RagasModel = Annotated[
    str | None,
    typer.Option(
        "--ragas-model", help="OpenAI model that judges those of ragas that need one", show_default=False
    ),
]


class VariantName(StrEnum):
    """Kinds of unanswerable."""

    near_miss = "near-miss"
    absent = "absent"


def import_(
    format_: Annotated[
        str, typer.Argument(metavar="FORMAT", help=f"The format: {', '.join(FORMATS)}", show_default=False)
    ],
    path: Annotated[Path, typer.Argument(help="Folder (or file) of that format")],
    dataset: options.DatasetName,
    dry_run: options.DryRun = False,
    strict: options.Strict = False,
    no_embed: options.NoEmbed = False,
    output: options.FormatOption = OutputFormat.text,
    db: options.Db = None,
    user: options.User = options.USER,
    embedder: options.EmbedderOption = None,
) -> None:
    """Bring in a public data set with its labelled questions."""
    from core.ingest.bringing import bring_in
    from evals.formats import loader

    brought = bring_in(
        _by_dataset(dataset, loader(format_)(path)),
        db=db,
        user_id=user,
        dry_run=dry_run,
        strict=strict,
        embed=not no_embed,
        embedder=embedder,
    )
    print(brought.to_json() if output is OutputFormat.json else brought.to_text())


def eval_(
    dataset: options.DatasetPattern,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="Folder for rows.jsonl, summary.json, summary.md, failures.jsonl"),
    ],
    recipe: options.RecipeOption = RecipeName.brain,
    profile: options.ProfileOption = "default",
    split: Split = None,
    variant: Annotated[
        VariantName,
        typer.Option(
            "--variant",
            help="near-miss: the corpus as it is; absent: an unanswerable question's own passage is hidden from it",
        ),
    ] = VariantName.near_miss,
    levels: options.Levels = None,
    filter_: Filter = None,
    limit: Limit = None,
    drop_same_id: Annotated[
        bool,
        typer.Option("--drop-same-id", help="Hide the document whose id is the question's (ArguAna, Quora)"),
    ] = False,
    seed: Seed = 0,
    chat: options.ChatOption = None,
    reasoning: options.ReasoningOption = ReasoningLevel.none,
    cache: Annotated[
        Path | None,
        typer.Option("--cache", help="Folder of kept replies; the same request is not paid for twice"),
    ] = None,
    concurrency: Annotated[
        int, typer.Option("--concurrency", min=1, max=64, help="Cases asked at once where a model writes")
    ] = 4,
    repeats: Annotated[int, typer.Option("--repeats", min=1, max=100, help="Ask each case this often")] = 1,
    max_cost: Annotated[
        float | None, typer.Option("--max-cost", min=0, help="US dollars that model calls may cost")
    ] = None,
    entailment: EntailmentOption = None,
    ragas: RagasOption = None,
    ragas_model: RagasModel = None,
    output: options.FormatOption = OutputFormat.text,
    db: options.Db = None,
    user: options.User = options.USER,
    embedder: options.EmbedderOption = None,
    index: options.IndexOption = None,
) -> None:
    """Score a labelled data set: retrieval, abstention and citations, with intervals."""
    from core import profile as profiles
    from core.models.prices import cost
    from core.progress import bar
    from core.workspace import Workspace
    from evals import manifest
    from evals.judging import Judges
    from evals.runs import evaluate, select_cases

    chosen = profiles.load(profile, recipe.value)
    judges = Judges.named(entailment, ragas, ragas_model)
    writer = Writer.named(chat, reasoning.value, cache=cache, max_cost=max_cost)
    with Workspace.open(db, embedder=embedder, create=False, index=index) as workspace:
        stored, broken = stored_cases(workspace, dataset, user)
        cases = select_cases(stored, split=split, filters=filter_ or [], limit=limit)
        with bar("evaluating", total=len(cases) * repeats, unit="cases") as progress:
            summary = evaluate(
                cases,
                _asker(workspace, recipe, chosen, user, writer),
                out,
                manifest={
                    **manifest.of_data(workspace, dataset, user),
                    **manifest.of_pipeline(workspace, recipe.value, chosen),
                    **manifest.of_writer(writer.model, writer.reasoning),
                },
                variant=variant.value,
                drop_same_id=drop_same_id,
                levels=options.split_levels(levels),
                broken=broken,
                progress=progress,
                seed=seed,
                repeats=repeats,
                concurrency=concurrency if writer.model else 1,
                cost=cost,
                judges=judges,
            )
    print(summary.to_json() if output is OutputFormat.json else summary.to_markdown())


def _by_dataset(name: str, rows: Iterable[tuple[str, str, Any]]) -> Iterator[tuple[str, Any]]:
    """The loader's rows as one stream a dataset, in the loader's order."""
    for suffix, group in groupby(rows, key=lambda row: row[0]):
        yield name + suffix, ((where, item) for _, where, item in group)


def stored_cases(
    workspace: Workspace, pattern: str, user: str
) -> tuple[list[tuple[str, Case]], list[dict[str, str]]]:
    """The labelled questions, and a failure for each that is no case."""
    from evals.cases import Case
    from evals.runs import failure

    cases, broken = [], []
    for dataset in workspace.store.matching(pattern, user):
        for _, item in workspace.store.cases([dataset.dataset_id]):
            try:
                cases.append((dataset.name, Case.from_body(item.body)))
            except DataError as error:
                broken.append(failure(item.case_id, dataset.name, error))
    if not cases and not broken:
        raise UsageError(
            f"dataset {pattern!r} holds no labelled questions; import a labelled set, or ingest `case` lines"
        )
    if not cases:
        raise DataError(
            f"none of the {len(broken)} labelled questions is one; the first: {broken[0]['message']}"
        )
    return cases, broken


def _asker(workspace: Workspace, recipe: RecipeName, profile: Profile, user: str, writer: Writer) -> Any:
    from core.answer.by_model import STAGE

    def ask(request: EvalRequest) -> Trace:
        return workspace.ask(
            request.case.question,
            dataset=request.dataset,
            recipe=recipe.value,
            profile=profile,
            levels=request.levels,
            hide_sources=request.hide_sources,
            as_of=request.case.as_of,
            known_at=request.case.known_at,
            user_id=user,
            chat=writer.of(request.repeat),
            reasoning={STAGE: writer.reasoning},
        )

    return ask


def score(
    answers: Annotated[
        Path, typer.Argument(help="JSON lines: case_id, answer, citations, abstained, ranking")
    ],
    dataset: options.DatasetPattern,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for rows.jsonl, summary.json, summary.md")],
    split: Split = None,
    filter_: Filter = None,
    limit: Limit = None,
    seed: Seed = 0,
    entailment: EntailmentOption = None,
    ragas: RagasOption = None,
    ragas_model: RagasModel = None,
    output: options.FormatOption = OutputFormat.text,
    db: options.Db = None,
    user: options.User = options.USER,
) -> None:
    """Score the answers, citations and refusals of any other system.

    Each line of ANSWERS is a JSON object: case_id; answer (null: none); abstained (true: a refusal, never read from the
    wording); citations (a source, "source#turn", a node id, or {"source", "turn", "quote"}); ranking (best first);
    confidence (a number). A case without a line is a failure, never an abstention.
    """
    from core.progress import bar
    from core.workspace import Workspace
    from evals import manifest
    from evals.judging import Judges
    from evals.runs import evaluate, select_cases
    from evals.score import by_file, file_hash

    judges = Judges.named(entailment, ragas, ragas_model)
    with Workspace.open(db, create=False) as workspace:
        stored, broken = stored_cases(workspace, dataset, user)
        cases = select_cases(stored, split=split, filters=filter_ or [], limit=limit)
        ask = by_file(workspace, answers, stored, user)
        whole = {**manifest.of_data(workspace, dataset, user), "answers": file_hash(answers)}
        with bar("scoring", total=len(cases), unit="cases") as progress:
            summary = evaluate(
                cases, ask, out, manifest=whole, broken=broken, progress=progress, seed=seed, judges=judges
            )
    print(summary.to_json() if output is OutputFormat.json else summary.to_markdown())
