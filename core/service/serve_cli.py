"""`assay serve` and `assay token create`."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from core import options
from core.errors import UsageError
from core.models.registry import CHATS, DETERMINISTIC

if TYPE_CHECKING:
    from core.profile import Profile
    from core.service.tokens import Tokens
    from core.trace import Recipe
    from core.workspace import Workspace

GRAPH_PROFILE = "seed"
"""Profile of `/v1/gb/query` unless another is named: what its document describes."""
BRAIN_PROFILE = "default"

token = typer.Typer(
    no_args_is_help=True, pretty_exceptions_enable=False, help="Tokens for `assay serve --tokens`."
)


@token.callback()
def _group() -> None:
    """Tokens for `assay serve --tokens`."""


@token.command("create", epilog="Example:  assay token create --user u1 --user u2")
def create(
    user: Annotated[
        list[str], typer.Option("--user", help="A user id the token speaks for; may be repeated")
    ],
) -> None:
    """Make a token: it is shown once, and the line that knows it goes into the tokens file."""
    from core.service.tokens import new_token

    secret, line = new_token(user)
    print(
        f"token, for the caller, shown only now:\n{secret}\nline, for the tokens file of the server:\n{line}"
    )


def serve(
    db: options.Db = None,
    host: Annotated[
        str, typer.Option("--host", help="Address; one of another machine needs --tokens")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port; 0 for any free one")] = 7878,
    tokens: Annotated[
        Path | None, typer.Option("--tokens", help="File of hashed tokens; see `assay token create`")
    ] = None,
    answerer: Annotated[
        str | None,
        typer.Option(
            "--answerer",
            help=f"Who writes: {CHATS}. Default: ASSAY_CHAT, else anthropic where ANTHROPIC_API_KEY is set; "
            "without any the graph's routes answer 503",
            show_default=False,
        ),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(
            "--profile",
            help=f"Profile of every route. Default: {GRAPH_PROFILE} for the graph, {BRAIN_PROFILE} for the brain",
            show_default=False,
        ),
    ] = None,
    threads: Annotated[int, typer.Option("--threads", min=1, max=64, help="Requests worked on at once")] = 8,
    timeout: Annotated[float, typer.Option("--timeout", min=1, help="Seconds a request may take")] = 180.0,
    embedder: options.EmbedderOption = None,
    geo: options.GeoOption = None,
    index: options.IndexOption = None,
) -> None:
    """Answer over HTTP: /v1/gb/query, /v1/gb/remember, /v1/brain/ask, /healthz; /docs describes them."""
    from core.models.registry import chat
    from core.service.answering import Answering
    from core.service.app import create_app
    from core.service.server import listen
    from core.service.server import serve as serve_app
    from core.service.workers import Workers
    from core.workspace import Workspace

    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s")
    known, loopback = _known_callers(host, tokens)
    name = _answerer(answerer)
    writer = chat(name)
    with (
        listen(host, port) as listening,
        Workspace.open(db, embedder=embedder, geo=geo, index=index) as workspace,
    ):
        answering = Answering(
            workspace=workspace,
            profiles=_profiles(workspace, profile),
            chat=writer,
            deterministic=name == DETERMINISTIC,
        )
        workers = Workers(threads=threads, seconds=timeout)
        app = create_app(answering, workers=workers, tokens=known, loopback=loopback)
        shown = f"[{host}]" if ":" in host else host
        print(f"serving http://{shown}:{listening.getsockname()[1]} (described at /docs)", flush=True)
        serve_app(app, listening, grace=timeout)


def _known_callers(host: str, tokens: Path | None) -> tuple[Tokens | None, bool]:
    """The tokens to ask for, and whether only this machine can reach the server."""
    from core.service.guard import is_loopback
    from core.service.tokens import read_tokens

    loopback = is_loopback(host)
    if tokens is None and not loopback:
        raise UsageError(
            f"--host {host} can be reached from other machines: give --tokens FILE (`assay token create --user ID` "
            "makes a line of it), or listen on 127.0.0.1"
        )
    return (read_tokens(tokens) if tokens else None), loopback


def _answerer(name: str | None) -> str | None:
    """The chat model named, or the one whose key is there; None for none."""
    named = name or os.environ.get("ASSAY_CHAT")
    return named or ("anthropic" if os.environ.get("ANTHROPIC_API_KEY") else None)


def _profiles(workspace: Workspace, name: str | None) -> dict[Recipe, Profile]:
    """The profile of each recipe, refused at once where it was tuned in another score space."""
    from core import profile as profiles

    loaded: dict[Recipe, Profile] = {
        "graph": profiles.load(name or GRAPH_PROFILE, "graph"),
        "brain": profiles.load(name or BRAIN_PROFILE, "brain"),
    }
    for each in loaded.values():
        each.bind(workspace.spaces(each))
    return loaded
