"""`assay datasets list|show|validate`."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from core import cli as core_cli
from core import options
from core.errors import DataError
from core.options import OutputFormat

if TYPE_CHECKING:
    from evals.contents import Contents
    from evals.validate import Finding

FOUND = 1
"""Exit code where `validate` finds something."""
SHOWN = 10
"""Findings of one check that people are shown; programs get all."""


datasets = typer.Typer(help="List the datasets there are, look into one, check whether one is sound.")


@datasets.callback(invoke_without_command=True)
def bare(
    context: typer.Context,
    output: options.FormatOption = OutputFormat.text,
    db: options.Db = None,
    user: options.User = options.USER,
) -> None:
    """List the datasets there are, with what they hold; `show` and `validate` look into one."""
    if context.invoked_subcommand is None:
        core_cli.projects(output, db, user)


@datasets.command("list", epilog="Example:  assay datasets list --format json")
def list_(
    output: options.FormatOption = OutputFormat.text, db: options.Db = None, user: options.User = options.USER
) -> None:
    """List the datasets there are, with what they hold."""
    core_cli.projects(output, db, user)


@datasets.command(epilog="Example:  assay datasets show meridian")
def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Dataset, or a pattern such as 'locomo/*'")],
    output: options.FormatOption = OutputFormat.text,
    db: options.Db = None,
    user: options.User = options.USER,
) -> None:
    """Show what a dataset is made of: counts, splits, kinds of unanswerable, tags."""
    from evals.overview import overview, to_text

    bodies = [overview(one) for one in stored_contents(name, db, user)]
    print(_json(bodies) if output is OutputFormat.json else "\n".join(map(to_text, bodies)))


@datasets.command(epilog="Example:  assay datasets validate datasets/meridian")
def validate(
    what: Annotated[
        str, typer.Argument(metavar="NAME_OR_PATH", help="Dataset (or pattern), or a folder or file")
    ],
    as_: Annotated[
        str | None,
        typer.Option("--as", help="Format of the folder, e.g. scifact. Default: native JSON Lines"),
    ] = None,
    output: options.FormatOption = OutputFormat.text,
    db: options.Db = None,
    user: options.User = options.USER,
) -> None:
    """Check labels and evidence. Ends with 0 where all is sound, with 1 where something is found.

    A path is read into a store of its own, which is gone afterwards; your database is not touched.
    """
    from evals.validate import validate as checked

    if as_ is not None or os.sep in what or Path(what).exists():
        findings = findings_of_path(Path(what), as_)
    else:
        findings = [one for dataset in stored_contents(what, db, user) for one in checked(dataset)]
    print(_findings_json(findings) if output is OutputFormat.json else _findings_text(what, findings))
    if findings:
        raise typer.Exit(FOUND)


def stored_contents(pattern: str, db: str | None, user: str) -> list[Contents]:
    """The datasets of a name or pattern, read whole."""
    from core.store import Store, default_path
    from evals.contents import contents

    with Store.open(db or default_path(), create=False) as store:
        return [contents(store, dataset) for dataset in store.matching(pattern, user)]


def findings_of_path(path: Path, format_: str | None) -> list[Finding]:
    """The findings of a folder or file, read into a store that is gone afterwards."""
    from core.ingest.ingestor import ingest
    from core.ingest.items import CaseItem, Problem
    from core.store import Store
    from evals.contents import contents
    from evals.validate import validate as checked

    findings: list[Finding] = []
    with Store.open(Path(":memory:")) as store:
        for name, rows in _read(path, format_).items():
            places: dict[str, str] = {}
            for where, item in rows:
                if isinstance(item, CaseItem):
                    places.setdefault(item.case_id, where)
            report = ingest(store, name, rows)
            if all(isinstance(item, Problem) for _, item in rows):
                raise DataError(f"{path}: nothing could be read: {report.problems[0]}")
            findings += checked(contents(store, store.dataset(name), places), report.problems)
    return findings


def _read(path: Path, format_: str | None) -> dict[str, list[tuple[str, Any]]]:
    """The items of a path by dataset."""
    from core.ingest.folder import read_paths
    from evals.formats import loader

    name = path.resolve().name
    if format_ is None:
        return {name: list(read_paths([path]))}
    found: dict[str, list[tuple[str, Any]]] = defaultdict(list)
    for suffix, where, item in loader(format_)(path):
        found[name + suffix].append((where, item))
    return found


def _findings_json(findings: list[Finding]) -> str:
    from evals.validate import counted

    return _json(
        {"sound": not findings, "counts": counted(findings), "findings": [one.to_dict() for one in findings]}
    )


def _findings_text(what: str, findings: list[Finding]) -> str:
    from core.render import printable
    from evals.validate import ABOUT, counted

    if not findings:
        return printable(f"{what}: sound")
    lines = []
    for check, count in counted(findings).items():
        lines.append(f"{check}: {count} ({ABOUT[check]})")
        lines += [f"  {printable(one.where)}: {printable(one.what)}" for one in _first(findings, check)]
        if count > SHOWN:
            lines.append(f"  and {count - SHOWN} more; --format json lists all")
    return "\n".join([*lines, printable(f"{what}: {len(findings)} findings")])


def _first(findings: Iterable[Finding], check: str) -> list[Finding]:
    return [one for one in findings if one.check == check][:SHOWN]


def _json(body: Any) -> str:
    return json.dumps(body, ensure_ascii=False, indent=2, allow_nan=False)
