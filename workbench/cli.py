"""`assay`: the one command of the workbench. It only puts together what the packages offer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from core import calls_cli, options
from core import cli as core_cli
from core.command import run
from core.options import RecipeName
from core.remember import cli as remember_cli
from core.service import serve_cli
from evals import cli as evals_cli
from evals import curves_cli, datasets_cli, export_cli, gate_cli, labels_cli, record_cli, sweep_cli, tune_cli

EXAMPLES = """Examples:\n
  assay app\n
  assay ingest notes/ --dataset mine\n
  assay ask 'Who approves outbound followups?' --dataset meridian --recipe brain --explain\n
  assay import scifact $ASSAY_DATA/scifact --dataset scifact\n
  assay eval --dataset scifact --split dev --recipe brain --out out/scifact
"""

assay = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    epilog=EXAMPLES,
    help="Find out what a memory's answers are made of: ask, see why, score, and find better thresholds.",
)
assay.command(
    "ask",
    epilog="Example:  assay ask 'What does Sounder Basic cost?' --dataset meridian --recipe graph --as-of 2022-03-01",
)(core_cli.ask)
assay.command("ingest", epilog="Example:  assay ingest handbook/ log.jsonl --dataset mine --dry-run")(
    core_cli.ingest
)
assay.command("remember", epilog="Example:  assay remember 'Alice joined Acme in 2023.' --dataset mine")(
    remember_cli.remember
)
assay.command("synthesize", epilog="Example:  assay synthesize --dataset meridian --level L1")(
    remember_cli.synthesize
)
assay.command("embed", epilog="Example:  assay embed --dataset meridian --embedder wordllama")(core_cli.embed)
assay.command("inferences", epilog="Example:  assay inferences --session chat-42 --format json")(
    calls_cli.inferences
)
assay.command("trajectory", epilog="Example:  assay trajectory 3f2a")(calls_cli.trajectory)
assay.command("serve", epilog="Example:  assay serve --answerer deterministic --port 7878")(serve_cli.serve)
assay.add_typer(serve_cli.token, name="token")
assay.command("import", epilog="Example:  assay import locomo $ASSAY_DATA/locomo --dataset locomo")(
    evals_cli.import_
)
assay.command(
    "eval",
    epilog="Example:  assay eval --dataset 'locomo/*' --recipe memory --levels L0 --filter category=1,2 --out out/run",
)(evals_cli.eval_)
assay.command("record", epilog="Example:  assay record --dataset meridian --recipe brain --out out/recorded")(
    record_cli.record
)
assay.command("replay", epilog="Example:  assay replay out/recorded --profile seed")(record_cli.replay)
assay.command(
    "score",
    epilog="Example:  assay score answers.jsonl --dataset meridian --split test --out out/other",
)(evals_cli.score)
assay.add_typer(
    datasets_cli.datasets,
    name="datasets",
    epilog="Example:  assay datasets validate datasets/meridian",
)
assay.command("export", epilog="Example:  assay export meridian --to ragas --out meridian.ragas.jsonl")(
    export_cli.export
)
assay.command("compare", epilog="Example:  assay compare out/before out/after --figure recall@10")(
    gate_cli.compare
)
assay.command("gate", epilog="Example:  assay gate out/run --baseline evals/baselines/meridian-brain.json")(
    gate_cli.gate
)
assay.add_typer(gate_cli.baseline, name="baseline")
assay.add_typer(labels_cli.labels, name="labels")


assay.command("curves", epilog=curves_cli.EXAMPLES)(curves_cli.curves)


assay.command("tune", epilog=tune_cli.EXAMPLES)(tune_cli.tune)
assay.command("sweep", epilog=sweep_cli.EXAMPLES)(sweep_cli.sweep)


@assay.command(epilog="Example:  assay app --port 8600")
def app(
    db: options.Db = None,
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="Port on this machine")] = 8501,
    headless: Annotated[bool, typer.Option("--headless", help="Do not open a browser")] = False,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="For sharing: nothing can be labelled, brought in or deleted")
    ] = False,
    runs: Annotated[
        Path | None, typer.Option("--runs", help="Folder of evaluations. Default: ASSAY_RUNS, else out")
    ] = None,
) -> None:
    """Open the workbench in a browser (only on this machine)."""
    from workbench.launch import launch

    launch(db, port=port, headless=headless, read_only=read_only, runs=runs)


@assay.command(epilog="Example:  assay profiles brain --profile default > mine.toml")
def profiles(
    recipe: Annotated[
        RecipeName | None, typer.Argument(help="Show the profile of this recipe as TOML")
    ] = None,
    profile: options.ProfileOption = "default",
) -> None:
    """List the shipped profiles, or print one as a file to start from."""
    from core import profile as loaded

    if recipe is not None:
        print(loaded.to_toml(loaded.load(profile, recipe.value)))
        return
    for name in loaded.shipped():
        print(f"{name}: {loaded.load(name, 'brain').about}")


def main() -> None:
    """Entry point of `assay`."""
    run(assay)
