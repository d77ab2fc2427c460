"""`assay labels list|agreement|export`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from core import options
from core.options import OutputFormat

if TYPE_CHECKING:
    from core.store.labels import Label
    from evals.agreement import Agreement
    from evals.contents import Contents

Name = Annotated[str, typer.Argument(metavar="DATASET", help="Dataset whose answers were labelled")]
labels = typer.Typer(
    no_args_is_help=True, help="What people said of answers: list it, see whether they agree, take it away."
)


@labels.command("list", epilog="Example:  assay labels list meridian --format json")
def list_(
    dataset: Name,
    output: options.FormatOption = OutputFormat.text,
    db: options.Db = None,
    user: options.User = options.USER,
) -> None:
    """List each labeller's latest judgement of each case."""
    from core.render import printable

    _, found = _read(dataset, db, user)
    if output is OutputFormat.json:
        print(_json([label.to_dict() for label in found]))
    elif not found:
        print("no label yet; `assay app` has a page Cases to label on")
    for label in found if output is OutputFormat.text else ():
        note = f": {printable(label.note)}" if label.note else ""
        print(
            f"{label.created_at} {printable(label.case_id)} {label.verdict} by {printable(label.labeller)}{note}"
        )


@labels.command(epilog="Example:  assay labels agreement meridian")
def agreement(
    dataset: Name,
    output: options.FormatOption = OutputFormat.text,
    db: options.Db = None,
    user: options.User = options.USER,
) -> None:
    """Show how far every two labellers agree: Cohen's kappa on the cases both judged."""
    from evals.agreement import of_labels

    _, found = _read(dataset, db, user)
    pairs = of_labels(found)
    if output is OutputFormat.json:
        print(_json([_pair_json(pair) for pair in pairs]))
    else:
        print("\n".join(map(_pair_text, pairs)) or "agreement takes two labellers; there are fewer")


@labels.command(epilog="Example:  assay labels export meridian --out cases.jsonl")
def export(
    dataset: Name,
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write, native JSON Lines")],
    db: options.Db = None,
    user: options.User = options.USER,
) -> None:
    """Write the labelled cases as a labelled set: `assay ingest` takes it, `assay eval` scores on it.

    The verdict of most labellers counts; a case on which they differ with no majority is left out and named.
    """
    from core.errors import UsageError
    from core.render import printable
    from evals.labelled import labelled_cases, native_lines
    from evals.run_files import written

    contents, found = _read(dataset, db, user)
    if not found:
        raise UsageError(f"no answer of dataset {dataset!r} was labelled yet; label some on the page Cases")
    made = labelled_cases(contents.cases, found)
    with written(out) as file:
        file.writelines(native_lines(made.cases))
    print(
        f"wrote {len(made.cases)} cases to {out}; then: assay ingest {out} --dataset {printable(dataset)}, assay eval"
    )
    for case_id in made.disputed:
        print(f"left out, as labellers differ: {printable(case_id)}")


def _read(dataset: str, db: Path | str | None, user: str) -> tuple[Contents, list[Label]]:
    from core.store import Store, default_path
    from evals.contents import contents

    with Store.open(db or default_path(), create=False) as store:
        found = store.dataset(dataset, user)
        return contents(store, found), store.labels.latest([found.dataset_id])


def _pair_json(pair: Agreement) -> dict[str, Any]:
    table = [
        {"first": first, "second": second, "cases": count} for (first, second), count in pair.table.items()
    ]
    return {
        name: getattr(pair, name) for name in ("first", "second", "n", "observed", "expected", "kappa")
    } | {"table": table}


def _pair_text(pair: Agreement) -> str:
    from core.render import printable

    names = f"{printable(pair.first)} and {printable(pair.second)}"
    if pair.observed is None:
        return f"{names}: no case that both judged"
    kappa = "not defined (one verdict throughout)" if pair.kappa is None else f"{pair.kappa:.3f}"
    return f"{names}: kappa {kappa}, alike on {pair.observed:.1%} of {pair.n} cases"


def _json(body: Any) -> str:
    return json.dumps(body, ensure_ascii=False, indent=2, allow_nan=False)
