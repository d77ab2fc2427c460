"""`assay curves`: the curves of finished runs and of recordings as pictures for people and tables for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from core.errors import UsageError
from core.trace import Recipe

if TYPE_CHECKING:
    from evals.curves.drawings import Drawing
    from evals.curves.of_recording import RecordingCurves

EXAMPLES = """Examples:\n
  assay curves out/before out/after --figure roc --to png --out out/curves\n
  assay record --dataset meridian --recipe brain --out out/recording\n
  assay curves out/recording --split test --pair floor,mmr.lambda --out out/curves
"""


class CurveName(StrEnum):
    """What can be drawn; the last two of recordings only."""

    risk_coverage = "risk-coverage"
    roc = "roc"
    cuts = "cuts"
    distributions = "distributions"
    sensitivity = "sensitivity"
    interaction = "interaction"


class Target(StrEnum):
    """Kinds of files."""

    html = "html"
    png = "png"
    csv = "csv"
    json = "json"


def curves(
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="FOLDER...",
            help="Runs of `assay eval --out`, or recordings of `assay record --out`; several share the axes",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the files, one a curve and kind")],
    figure: Annotated[
        list[CurveName] | None, typer.Option("--figure", help="Which; repeatable. Default: all there are")
    ] = None,
    to: Annotated[
        list[Target] | None,
        typer.Option(
            "--to", help="Kinds of files; repeatable. Default: html and csv. png needs Chrome or Chromium"
        ),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option("--profile", "-p", help="Of a recording: shipped profile, or a TOML file. Default: default",
                     show_default=False),
    ] = None,
    split: Annotated[
        str | None, typer.Option("--split", help="Of a recording: only cases of this split", show_default=False)
    ] = None,
    objective: Annotated[
        str | None,
        typer.Option("--objective", help="Of a recording: the figure, or sum, that heat maps show and by which their "
                     "thresholds are chosen. Default: balanced_correct", show_default=False),
    ] = None,
    pair: Annotated[
        list[str] | None,
        typer.Option("--pair", help="Of a recording: two thresholds against each other, e.g. floor,mmr.lambda; "
                     "repeatable. Default: the two that move the objective most", show_default=False),
    ] = None,
    points: Annotated[
        int | None,
        typer.Option("--points", min=2, max=1001, help="Of a recording: values of each threshold. Default: 21, of the "
                     "cut 201; of recipe graph 7 and 21", show_default=False),
    ] = None,
) -> None:  # fmt: skip
    """Draw risk-coverage, ROC, what each cut answers, how confidence is distributed; of recordings also what every
    threshold does around a profile.

    Of a run, `cuts` reads its confidence; of a recording every value of the cut is replayed. Two recordings of the same
    data that differ in --variant put both kinds of unanswerable beside the answerable.
    """
    from evals.curves import files
    from evals.curves.drawings import OF_RECORDINGS, OF_RUNS, of_runs
    from evals.run_folder import load_run

    wanted = [name.value for name in dict.fromkeys(figure or [])]
    for path in sources:
        if not path.is_dir():
            raise UsageError(
                f"{path}: no such folder; give the --out of an `assay eval` or of an `assay record`"
            )
    recorded = [path for path in sources if (path / "header.json").is_file()]
    named = {_name(path, sources): path for path in sources}
    if recorded and len(recorded) < len(sources):
        raise UsageError(f"{recorded[0]} is a recording, others are runs; draw them one kind at a time")
    if recorded:
        given = _Given(
            profile=profile or "default", split=split, objective=objective, pairs=pair or [], points=points
        )  # fmt: skip
        drawings = _of_recordings(wanted or list(OF_RECORDINGS), named, given)
    else:
        _only_of_recordings(
            {"--profile": profile, "--split": split, "--objective": objective, "--pair": pair, "--points": points},
            wanted, sources[0],
        )  # fmt: skip
        drawings = of_runs(wanted or OF_RUNS, {name: load_run(path) for name, path in named.items()})
    files.folder(out)
    for drawing in drawings:
        for kind in dict.fromkeys(to or (Target.html, Target.csv)):
            print(files.write(drawing, out, kind.value))
    for drawing in drawings:
        if drawing.said:
            print(drawing.said)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Given:
    """The options of recordings."""

    profile: str
    split: str | None
    objective: str | None
    pairs: Sequence[str]
    points: int | None


def _of_recordings(wanted: Sequence[str], named: Mapping[str, Path], given: _Given) -> list[Drawing]:
    from core import profile as profiles
    from core.progress import bar
    from evals.curves.drawings import of_recordings
    from evals.curves.of_recording import OBJECTIVE, RecordingCurves
    from evals.recording_files import load
    from evals.tuning.objective import parse_objective

    objective = given.objective or OBJECTIVE
    parse_objective(objective)
    loaded = {name: load(path) for name, path in named.items()}
    recipes = {recording.header.recipe for recording in loaded.values()}
    if len(recipes) > 1:
        raise UsageError(
            f"recordings of {' and '.join(sorted(recipes))} have no axes in common; draw each recipe by itself"
        )
    recipe = recipes.pop()
    profile, pairs = profiles.load(given.profile, recipe), [_pair(text, recipe) for text in given.pairs]
    with bar("replaying", unit="cases") as progress:
        around: dict[str, RecordingCurves] = {
            name: RecordingCurves(recording, profile, split=given.split, progress=progress)
            for name, recording in loaded.items()
        }
        return of_recordings(wanted, around, objective=objective, pairs=pairs, points=given.points)


def _pair(text: str, recipe: Recipe) -> tuple[str, str]:
    from evals.tuning.space import threshold_named

    names = [part.strip() for part in text.split(",")]
    if len(names) != 2:
        raise UsageError(f"--pair {text!r}: name two thresholds, such as floor,mmr.lambda")
    first, second = (threshold_named(name, recipe, option="--pair").name for name in names)
    if first == second:
        raise UsageError(f"--pair {text!r}: two thresholds are needed, got {first!r} twice")
    return first, second


def _only_of_recordings(options: Mapping[str, object], wanted: Sequence[str], run: Path) -> None:
    """Refuses what a run cannot give, since its thresholds were fixed."""
    meaningless = [option for option, value in options.items() if value]
    meaningless += [f"--figure {name}" for name in wanted if name in ("sensitivity", "interaction")]
    if meaningless:
        raise UsageError(
            f"{meaningless[0]} is of a recording, and {run} is none; make one: assay record --dataset NAME --recipe NAME "
            "--out FOLDER"
        )


def _name(path: Path, sources: Sequence[Path]) -> str:
    """A folder's name, its whole path where two have the same."""
    return path.name if sum(other.name == path.name for other in sources) == 1 else str(path)
