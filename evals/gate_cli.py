"""`assay compare`, `assay gate` and `assay baseline update`."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from core import options
from core.errors import AssayError
from core.options import OutputFormat

if TYPE_CHECKING:
    from evals.gate import GateResult

Run = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of an `assay eval --out`")]
baseline = typer.Typer(no_args_is_help=True, help="Keep what later runs are held to.")


class InconclusiveName(StrEnum):
    """What becomes of a rule that the cases cannot settle."""

    passes = "pass"
    fails = "fail"


def compare(
    before: Annotated[Path, typer.Argument(metavar="A", help="Folder of a run, or a baseline file")],
    after: Annotated[Path, typer.Argument(metavar="B", help="Folder of a run on the same data")],
    figure: Annotated[
        list[str] | None,
        typer.Option(
            "--figure",
            help="Figure to list cases and tags for; repeatable. Default: ndcg@10, citation_f1, correct",
            show_default=False,
        ),
    ] = None,
    cases: Annotated[int, typer.Option("--cases", min=0, help="Cases to list of each kind in text")] = 10,
    seed: Annotated[int, typer.Option("--seed", help="Seed of bootstrap and permutations")] = 0,
    output: options.FormatOption = OutputFormat.text,
) -> None:
    """Compare two runs of the same data: what changed, by how much, and whether chance explains it."""
    from evals.baseline import load
    from evals.compare import HEADLINES, compare_runs
    from evals.compare_report import to_json, to_markdown

    comparison = compare_runs(load(before), load(after), figure or HEADLINES, seed=seed)
    print(to_json(comparison) if output is OutputFormat.json else to_markdown(comparison, cases=cases))


def gate(
    run: Run,
    against: Annotated[
        Path | None,
        typer.Option(
            "--baseline", "-b", help="Baseline file; default: the one the rules name", show_default=False
        ),
    ] = None,
    rules: Annotated[
        Path | None,
        typer.Option("--rules", help="TOML file of rules; default: the built-in ones", show_default=False),
    ] = None,
    inconclusive: Annotated[
        InconclusiveName | None,
        typer.Option(
            "--inconclusive",
            help="What becomes of a rule the cases cannot settle; default: what the rules say, else exit code 3",
            show_default=False,
        ),
    ] = None,
    junit: Annotated[Path | None, typer.Option("--junit", help="Write JUnit XML there")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write JSON there")] = None,
    markdown: Annotated[Path | None, typer.Option("--markdown", help="Write Markdown there")] = None,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the bootstrap")] = 0,
    output: options.FormatOption = OutputFormat.text,
) -> None:
    """Hold a run against a baseline. Exit codes: 0 pass, 1 regression, 2 misuse or bad data, 3 not enough evidence."""
    from evals import gate_report as report
    from evals.gate import MISUSE

    places = {"junit": junit, "json": json_file, "markdown": markdown}
    try:
        result = _judged(run, against, rules, inconclusive, seed)
    except AssayError as error:
        said = str(error)
        texts = {
            "junit": report.error_junit(str(run), said),
            "json": report.error_json(str(run), str(against), said, MISUSE),
            "markdown": report.error_markdown(said),
        }
        _write(places, texts)
        raise
    texts = {
        "junit": report.to_junit(result),
        "json": report.to_json(result),
        "markdown": report.to_markdown(result),
    }
    _write(places, texts)
    print(texts["json"] if output is OutputFormat.json else texts["markdown"])
    raise typer.Exit(result.exit_code)


@baseline.command("update", epilog="Example:  assay baseline update out/brain --out baselines/brain.json")
def update(
    run: Run,
    out: Annotated[Path, typer.Option("--out", "-o", help="The baseline file to write and commit")],
    allow_failures: Annotated[
        bool,
        typer.Option("--allow-failures", help="Take a run in which cases failed; they stay known as failed"),
    ] = False,
) -> None:
    """Write a run's baseline: the file that is committed and that `assay gate` reads."""
    from evals import baseline as baselines
    from evals.run_folder import load_run

    taken = load_run(run)
    baselines.update(taken, out, allow_failures=allow_failures)
    print(f"{out}: baseline of {len(taken.rows)} cases")


def _judged(
    run: Path, against: Path | None, rules: Path | None, inconclusive: InconclusiveName | None, seed: int
) -> GateResult:
    from dataclasses import replace

    from core.errors import UsageError
    from evals.baseline import load_baseline
    from evals.gate import judge
    from evals.gate_rules import DEFAULT, load_rules
    from evals.run_folder import load_run

    wanted = DEFAULT if rules is None else load_rules(rules)
    if inconclusive is not None:
        wanted = replace(wanted, inconclusive=inconclusive.value)
    place = against or wanted.baseline
    if place is None:
        raise UsageError("no baseline: give --baseline FILE, or `baseline = ...` in the rules")
    return judge(load_run(run), load_baseline(place), wanted, seed=seed)


def _write(places: dict[str, Path | None], texts: dict[str, str]) -> None:
    """Each report where it is wanted, and the Markdown on the page of the GitHub run where there is one."""
    from evals.run_files import written

    for kind, place in places.items():
        if place is not None:
            place.parent.mkdir(parents=True, exist_ok=True)
            with written(place) as file:
                file.write(texts[kind])
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary:
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(texts["markdown"])
