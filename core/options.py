"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from core.records import DEFAULT_USER


class RecipeName(StrEnum):
    """The three recipes."""

    graph = "graph"
    memory = "memory"
    brain = "brain"


class ReasoningLevel(StrEnum):
    """How much a model may think."""

    none = "none"
    low = "low"
    medium = "medium"
    high = "high"


class OutputFormat(StrEnum):
    """For people or for programs."""

    text = "text"
    json = "json"


Db = Annotated[
    str | None,
    typer.Option(
        "--db",
        help="Database: a file, or postgresql://USER@HOST/DATABASE. Default: ASSAY_DB, else .assay/assay.db",
        metavar="PATH|URL",
        show_default=False,
    ),
]
DatasetName = Annotated[str, typer.Option("--dataset", "-d", help="Dataset name, e.g. main")]
DatasetPattern = Annotated[
    str, typer.Option("--dataset", "-d", help="Dataset name, or a pattern such as 'locomo/*'")
]
User = Annotated[str, typer.Option("--user", help="Whose dataset it is")]
RecipeOption = Annotated[RecipeName, typer.Option("--recipe", "-r", help="How the question is answered")]
ProfileOption = Annotated[str, typer.Option("--profile", "-p", help="Shipped profile, or a TOML file")]
EmbedderOption = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        help="minilm (unless ASSAY_EMBEDDER says otherwise), wordllama, openai:MODEL, sentence-transformers:NAME",
        show_default=False,
    ),
]
IndexOption = Annotated[
    str | None,
    typer.Option(
        "--index",
        help="Vector index: faiss, pgvector, milvus:FILE or milvus://HOST:PORT, each with ?setting=value&…. "
        "Default: ASSAY_INDEX, else pgvector where --db names a server, faiss elsewhere",
        show_default=False,
    ),
]
Levels = Annotated[
    str | None,
    typer.Option(
        "--levels",
        help="Levels of nodes, e.g. L0 or L1,L2. Default: memory L1,L2; brain all",
        show_default=False,
    ),
]
ChatOption = Annotated[
    str | None,
    typer.Option(
        "--chat",
        help="Model that writes: anthropic[:MODEL], openai:MODEL, scripted:FILE. Default: none, the evidence is listed",
        show_default=False,
    ),
]
ReasoningOption = Annotated[
    ReasoningLevel,
    typer.Option("--reasoning", help="How much the model may think; none pays for no thinking"),
]
Session = Annotated[
    str | None, typer.Option("--session", help="Session the call belongs to", show_default=False)
]
GeoOption = Annotated[
    str | None,
    typer.Option(
        "--geo", help="What resolves places: gazetteer (offline). Default: none", show_default=False
    ),
]
NearbyKm = Annotated[
    float | None,
    typer.Option(
        "--nearby-km",
        help="Also what lies within so many km of the question's places (graph; needs --geo)",
        show_default=False,
    ),
]
Nearby = Annotated[
    bool, typer.Option("--nearby", help="The same, within the profile's geo.radius_km (seed: 50)")
]
FormatOption = Annotated[OutputFormat, typer.Option("--format", help="text for people, json for programs")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Check everything, write nothing")]
Strict = Annotated[bool, typer.Option("--strict", help="Refuse the whole input if anything in it is wrong")]
NoEmbed = Annotated[bool, typer.Option("--no-embed", help="Leave embedding to the first question")]

USER = DEFAULT_USER


def split_levels(levels: str | None) -> tuple[str, ...] | None:
    """``"L1,L2"`` as a tuple; None stays None."""
    return None if levels is None else tuple(part.strip() for part in levels.split(",") if part.strip())
