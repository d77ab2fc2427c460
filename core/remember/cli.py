"""`assay remember` and `mem synthesize`: bringing in what is said, and making notes of it."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from core import options
from core.bounded import read_stream, read_whole
from core.errors import UsageError
from core.options import OutputFormat, ReasoningLevel
from core.records import DEFAULT_DATASET
from core.remember import REMEMBER_STAGES, SYNTHESIZE_STAGES
from core.render import printable

if TYPE_CHECKING:
    from core.remember.remember import Remembered
    from core.remember.synthesize import Synthesized


class MadeLevel(StrEnum):
    """Levels that are made of the one below."""

    L1 = "L1"
    L2 = "L2"


class GroupedBy(StrEnum):
    """What syntheses bring together."""

    source = "source"
    topic = "topic"


def remember(
    text: Annotated[str | None, typer.Argument(help="What to remember; - reads it from stdin")] = None,
    file: Annotated[Path | None, typer.Option("--file", help="Read the text from a file instead")] = None,
    dataset: Annotated[
        str, typer.Option("--dataset", "-d", help="Dataset, made if needed")
    ] = DEFAULT_DATASET,
    session: options.Session = None,
    valid_at: Annotated[
        str | None, typer.Option("--valid-at", help="When it was said, e.g. 2024-03-01. Default: now")
    ] = None,
    source: Annotated[
        str | None,
        typer.Option("--source", help="Name of the text; another text under it replaces its chunks"),
    ] = None,
    same_entity: Annotated[
        float | None,
        typer.Option("--same-entity", help="Least cosine of two names of one entity. Default: 0.75"),
    ] = None,
    chat: options.ChatOption = None,
    reasoning: options.ReasoningOption = ReasoningLevel.none,
    output: options.FormatOption = OutputFormat.text,
    db: options.Db = None,
    user: options.User = options.USER,
    embedder: options.EmbedderOption = None,
) -> None:
    """Remember a text: chunks with summaries and vectors, and with a model also entities and facts."""
    from core.models.registry import chat as chat_named
    from core.remember.cut import RESOLVE, SAME_ENTITY, Cut
    from core.remember.remember import remember as remembered
    from core.workspace import Workspace

    words = _words(text, file)
    model = chat_named(chat)
    with (
        Workspace.open(db, embedder=embedder) as workspace,
        workspace.journal("remember", user_id=user, dataset=dataset, session_id=session) as journal,
    ):
        done = remembered(
            workspace,
            words,
            user_id=user,
            dataset=dataset,
            session_id=session,
            valid_at=valid_at,
            source=source,
            chat=model,
            reasoning=dict.fromkeys(REMEMBER_STAGES, reasoning.value),
            same_entity=SAME_ENTITY if same_entity is None else Cut(knob=RESOLVE, value=same_entity),
            journal=journal,
        )
    print(_json(asdict(done)) if output is OutputFormat.json else _remembered(done, dataset))


def synthesize(
    project: Annotated[
        str | None,
        typer.Option("--project", "--dataset", "-d", help="Project (dataset); default: from the folder"),
    ] = None,
    level: Annotated[MadeLevel, typer.Option("--level", help="L1 out of L0, or L2 out of L1")] = MadeLevel.L1,
    by: Annotated[
        GroupedBy, typer.Option("--by", help="What L2 brings together: notes of a source, or of a topic")
    ] = GroupedBy.source,
    source: Annotated[str | None, typer.Option("--source", help="Only of this source")] = None,
    session: Annotated[str | None, typer.Option("--session", help="Only of this session (L1)")] = None,
    chat: options.ChatOption = None,
    reasoning: options.ReasoningOption = ReasoningLevel.none,
    output: options.FormatOption = OutputFormat.text,
    db: options.Db = None,
    user: options.User = options.USER,
    embedder: options.EmbedderOption = None,
) -> None:
    """Make the notes that are missing, each linked to what it was made from; a run broken off goes on."""
    from core.cli import inferred_project
    from core.models.registry import chat as chat_named
    from core.progress import bar
    from core.remember.synthesize import synthesize as synthesized
    from core.workspace import Workspace

    model = chat_named(chat)
    with Workspace.open(db, embedder=embedder, create=False) as workspace:
        name = project or inferred_project(workspace.store, Path.cwd(), user)
        with (
            workspace.journal("synthesize", user_id=user, dataset=name, session_id=session) as journal,
            bar(f"notes {level.value}", unit="windows") as progress,
        ):
            done = synthesized(
                workspace,
                dataset=name,
                level=level.value,
                by=by.value,
                user_id=user,
                source=source,
                session=session,
                chat=model,
                reasoning=dict.fromkeys(SYNTHESIZE_STAGES, reasoning.value),
                journal=journal,
                progress=progress,
            )
    print(_json(asdict(done)) if output is OutputFormat.json else _synthesized(done, name))
    if done.failed:
        raise typer.Exit(1)


def _words(text: str | None, file: Path | None) -> str:
    from core.remember.request import MAX_TEXT

    if (text is None) == (file is None):
        raise UsageError("give the text, - to read it from stdin, or --file FILE; one of them")
    if file is None:
        given = read_stream(sys.stdin.buffer, "stdin", MAX_TEXT) if text == "-" else None
        return str(text) if given is None else _decoded(given, "stdin")
    return _decoded(read_whole(file, MAX_TEXT), str(file))


def _decoded(data: bytes, where: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{where}: not UTF-8 at byte {error.start + 1}; save it as UTF-8") from error


def _json(body: dict[str, Any]) -> str:
    return json.dumps(body, ensure_ascii=False, indent=2, allow_nan=False)


def _remembered(done: Remembered, dataset: str) -> str:
    head = (
        f"artifact {done.artifact_id} in {dataset}: {done.chunks} chunks, {done.entities} entities, "
        f"{done.edges} facts, {done.superseded} superseded"
    )
    return "\n".join([printable(head), *(f"note: {printable(notice)}" for notice in done.notices)])


def _synthesized(done: Synthesized, dataset: str) -> str:
    head = (
        f"{done.level} of {dataset}: {done.notes} notes with {done.links} links from {done.windows} windows, "
        f"{done.kept} had theirs, {done.failed} failed, {done.removed} notes replaced"
    )
    lines = [printable(head), *(f"note: {printable(notice)}" for notice in done.notices)]
    if done.dropped or done.invented:
        lines.append(
            f"passed over: {done.dropped} notes of nothing, {done.invented} numbers that were not sent"
        )
    return "\n".join(lines)
