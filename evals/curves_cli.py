"""`assay curves`: the curves of finished runs as pictures for people and tables for programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from core.errors import ModelError, UsageError

if TYPE_CHECKING:
    import pandas as pd

    from evals.run_folder import Run


class CurveName(StrEnum):
    """What can be drawn of a run."""

    risk_coverage = "risk-coverage"
    roc = "roc"
    cuts = "cuts"
    distributions = "distributions"


class Target(StrEnum):
    """Kinds of files."""

    html = "html"
    png = "png"
    csv = "csv"
    json = "json"


def curves(
    runs: Annotated[list[Path], typer.Argument(help="Folders of `assay eval --out`; several share the axes")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the files, one a curve and kind")],
    figure: Annotated[
        list[CurveName] | None, typer.Option("--figure", help="Which; repeatable. Default: all")
    ] = None,
    to: Annotated[
        list[Target] | None,
        typer.Option(
            "--to", help="Kinds of files; repeatable. Default: html and csv. png needs Chrome or Chromium"
        ),
    ] = None,
) -> None:
    """Draw risk-coverage, ROC, what each cut would answer, and how confidence is distributed.

    The picture of one run has one line for it; `cuts` and `distributions` are drawn for each run by itself.
    """
    from evals.run_folder import load_run

    loaded = {_name(path, runs): load_run(path) for path in runs}
    wanted = list(dict.fromkeys(figure or CurveName))
    kinds = list(dict.fromkeys(to or (Target.html, Target.csv)))
    _folder(out)
    for name in wanted:
        for stem, table, draw in _drawings(name, loaded):
            for kind in kinds:
                print(_written(out / f"{stem}.{kind.value}", kind, name, table, draw))


Drawing = tuple[str, "pd.DataFrame", Callable[[], Any]]
"""The name of a file, its table, and its figure when it is asked for."""


def _drawings(name: CurveName, runs: Mapping[str, Run]) -> list[Drawing]:
    from evals.curves import drawn, of_run

    rows = {run: loaded.rows for run, loaded in runs.items()}
    match name:
        case CurveName.risk_coverage:
            return [(name.value, _stacked(rows, of_run.risk_coverage), lambda: drawn.risk_coverage(rows))]
        case CurveName.roc:
            return [(name.value, _stacked(rows, of_run.answered), lambda: drawn.roc(rows))]
        case CurveName.cuts:
            return [_alone(name, runs, run, of_run.answered, drawn.cuts) for run in runs]
        case CurveName.distributions:
            return [_alone(name, runs, run, of_run.confidences, drawn.distributions) for run in runs]


def _alone(
    name: CurveName,
    runs: Mapping[str, Run],
    run: str,
    table: Callable[[Any], pd.DataFrame],
    draw: Callable[[Any, str], Any],
) -> Drawing:
    """One run by itself; numbered where there are several."""
    stem = name.value if len(runs) == 1 else f"{name.value}-{list(runs).index(run) + 1}"
    return stem, table(runs[run].rows), lambda: draw(runs[run].rows, _space(runs[run]))


def _stacked(
    rows: Mapping[str, Sequence[Mapping[str, Any]]], table: Callable[[Any], pd.DataFrame]
) -> pd.DataFrame:
    import pandas as pd

    return pd.concat([table(each).assign(run=run) for run, each in rows.items()], ignore_index=True)


def _space(run: Run) -> str:
    """The score space of the run's confidence."""
    return next((str(row["confidence_space"]) for row in run.rows if row.get("confidence_space")), "")


def _name(path: Path, runs: Sequence[Path]) -> str:
    """A run's folder's name, its whole path where two have the same."""
    return path.name if sum(other.name == path.name for other in runs) == 1 else str(path)


def _folder(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{out}: no folder for curves: {error.strerror}; choose another --out") from error


def _written(path: Path, kind: Target, name: CurveName, table: pd.DataFrame, draw: Callable[[], Any]) -> Path:
    from evals.curves.drawn import CAPTIONS

    match kind:
        case Target.csv:
            table.to_csv(path, index=False)
        case Target.json:
            table.to_json(path, orient="records", force_ascii=False, indent=1)
        case Target.html:
            captioned = draw().update_layout(title={"text": CAPTIONS[name.value], "font": {"size": 12}})
            captioned.write_html(path, include_plotlyjs=True, full_html=True)
        case Target.png:
            _picture(draw(), path)
    return path


def _picture(figure: Any, path: Path) -> None:
    try:
        figure.update_layout(paper_bgcolor="white", plot_bgcolor="white")
        figure.write_image(path, width=1000, height=figure.layout.height or 450, scale=2)
    except Exception as error:
        said = " ".join(str(error).split())[:200]
        raise ModelError(
            f"{path}: no picture: {said}; install Chrome or Chromium, or ask for --to html"
        ) from error
