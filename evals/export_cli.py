"""`assay export`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from core import options
from core.errors import DataError, UsageError
from evals.datasets_cli import stored_contents
from evals.run_files import written


class Target(StrEnum):
    """What to write."""

    trec = "trec"
    ragas = "ragas"
    csv = "csv"


def export(
    what: Annotated[
        str, typer.Argument(metavar="DATASET_OR_RUN", help="Dataset (or pattern), or a run's folder")
    ],
    to: Annotated[
        Target, typer.Option("--to", help="trec: qrels of a dataset, the ranking of a run; ragas; csv")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write")],
    db: options.Db = None,
    user: options.User = options.USER,
) -> None:
    """Write labelled questions, or a run of `assay eval`, for other tools."""
    folder = Path(what)
    lines = list(
        _run_lines(folder, to, db, user)
        if (folder / "rows.jsonl").is_file()
        else _case_lines(what, to, db, user)
    )
    with written(out) as file:
        file.writelines(lines)
    header = 1 if to is Target.csv else 0
    print(f"wrote {len(lines) - header} lines to {out}")


def _case_lines(pattern: str, to: Target, db: str | None, user: str) -> Iterator[str]:
    from evals import export as exports

    stored = stored_contents(pattern, db, user)
    broken = [why for one in stored for why in one.broken.values()]
    if broken:
        raise DataError(f"{len(broken)} labelled questions are no case; the first: {broken[0]}")
    cases = [case for one in stored for case in one.cases]
    if not cases:
        raise UsageError(f"dataset {pattern!r} holds no labelled questions; there is nothing to export")
    ids = [case.case_id for case in cases]
    if len(set(ids)) < len(ids):
        twice = next(one for one in ids if ids.count(one) > 1)
        raise UsageError(f"{twice!r} is a case of several of these datasets; export each on its own")
    if to is Target.trec:
        return exports.trec_qrels(cases)
    return exports.cases_csv(cases) if to is Target.csv else exports.ragas_samples(stored)


def _run_lines(folder: Path, to: Target, db: str | None, user: str) -> Iterator[str]:
    from evals import export as exports

    rows = _rows(folder / "rows.jsonl")
    if to is Target.trec:
        _one_ranking_each(rows, folder)
        return exports.trec_run(rows, _tag(folder))
    if to is Target.csv:
        return exports.rows_csv(rows)
    stored = [
        one for name in sorted({row["dataset"] for row in rows}) for one in stored_contents(name, db, user)
    ]
    known = {(one.name, case.case_id) for one in stored for case in one.cases}
    gone = [row["case_id"] for row in rows if (row["dataset"], row["case_id"]) not in known]
    if gone:
        raise DataError(f"{folder}: {len(gone)} of its cases are not stored any more, e.g. {gone[0]!r}")
    return exports.ragas_samples(stored, rows)


def _one_ranking_each(rows: list[dict[str, Any]], folder: Path) -> None:
    """Raises UsageError: two rows of one name, as from several datasets; a topic has one ranking."""
    ids = [row["case_id"] for row in rows if not row.get("repeat")]
    if len(set(ids)) < len(ids):
        twice = next(one for one in ids if ids.count(one) > 1)
        raise UsageError(f"{folder}: {twice!r} is a case of several datasets; evaluate each on its own")


def _rows(file: Path) -> list[dict[str, Any]]:
    """Raises DataError: a line that is no row of a run."""
    from core.ingest.items import Problem
    from evals.formats.lines import json_lines

    rows = []
    for where, row in json_lines(file):
        if isinstance(row, Problem):
            raise DataError(f"{where}: {row.what}; run `assay eval` again")
        texts = isinstance(row.get("case_id"), str) and isinstance(row.get("dataset"), str)
        ranking = row.get("ranking")
        if not texts or not isinstance(ranking, list) or not all(isinstance(one, str) for one in ranking):
            raise DataError(f"{where}: expected case_id, dataset and ranking; run `assay eval` again")
        rows.append(row)
    return rows


def _tag(folder: Path) -> str:
    """What made the run, from its summary; its folder's name where there is none."""
    try:
        manifest = json.loads((folder / "summary.json").read_text(encoding="utf-8"))["manifest"]
        return f"assay-{manifest['recipe']}-{manifest['profile']}"
    except (OSError, ValueError, KeyError, TypeError):
        return folder.name or "assay"
