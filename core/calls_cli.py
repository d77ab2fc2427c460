"""`assay inferences` and `assay trajectory`: what calls to models and to the system did, took and cost."""

from __future__ import annotations

import json
from collections.abc import Sequence
from textwrap import shorten
from typing import TYPE_CHECKING, Annotated, Any

import typer

from core import options
from core.options import OutputFormat
from core.render import printable

if TYPE_CHECKING:
    from core.store.journals import Trajectory

HEADS = (
    "created_at",
    "type",
    "stage",
    "model",
    "level",
    "in",
    "out",
    "thinking",
    "USD",
    "ms",
    "outcome",
    "trajectory",
)


def inferences(
    session: options.Session = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="The latest N")] = 50,
    output: options.FormatOption = OutputFormat.text,
    db: options.Db = None,
    user: options.User = options.USER,
) -> None:
    """List model calls, the latest first: what for, which model, tokens, cost, time and how each ended."""
    from core.store import Store, default_path

    with Store.open(db or default_path(), create=False) as store:
        rows = store.journals.inferences(user, session_id=session, limit=limit)
    if output is OutputFormat.json:
        print(json.dumps(rows, ensure_ascii=False, indent=2, allow_nan=False))
    elif not rows:
        print("no model was called yet; `assay ask … --chat NAME` or `assay serve --answerer NAME` calls one")
    else:
        print("\n".join([*_table(rows), "", _totals(rows)]))


def trajectory(
    trajectory_id: Annotated[
        str | None, typer.Argument(help="Its id or the first characters of it; without: list the latest")
    ] = None,
    session: options.Session = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="The latest N, where listed")] = 20,
    output: options.FormatOption = OutputFormat.text,
    db: options.Db = None,
    user: options.User = options.USER,
) -> None:
    """Show what one call did, step by step with sizes and times, or list the latest calls."""
    from core.store import Store, default_path
    from core.store.journals import as_json

    with Store.open(db or default_path(), create=False) as store:
        if trajectory_id is not None:
            found = store.journals.trajectory(trajectory_id, user)
            print(
                json.dumps(as_json(found), ensure_ascii=False, indent=2)
                if output is OutputFormat.json
                else _one(found)
            )
            return
        calls = store.journals.trajectories(user, session_id=session, limit=limit)
    if output is OutputFormat.json:
        print(json.dumps([as_json(call) for call in calls], ensure_ascii=False, indent=2))
    else:
        print("\n".join(map(_head, calls)) or "no call was written down yet; `assay ask …` makes one")


def _table(rows: Sequence[dict[str, Any]]) -> list[str]:
    cells = [HEADS, *(_cells(row) for row in rows)]
    widths = [max(len(line[place]) for line in cells) for place in range(len(HEADS))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in cells
    ]


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    return (
        row["created_at"], row["type"], row["stage"], row["model"], row["reasoning"], str(row["input_tokens"]),
        str(row["output_tokens"]), str(row["thinking_tokens"]), _usd(row["cost_usd"]), f"{row['latency_ms']:.0f}",
        row["outcome"], row["trajectory_id"][:10],
    )  # fmt: skip


def _totals(rows: Sequence[dict[str, Any]]) -> str:
    known = [row["cost_usd"] for row in rows if row["cost_usd"] is not None]
    unpriced = f" and {len(rows) - len(known)} without a price" if len(known) < len(rows) else ""
    tokens = sum(row["input_tokens"] for row in rows), sum(row["output_tokens"] for row in rows)
    return f"{len(rows)} calls, {tokens[0]} tokens in, {tokens[1]} out, {_usd(sum(known))} USD{unpriced}"


def _one(found: Trajectory) -> str:
    steps = [
        f"  {step['name']:<12} {step['ms']:>9.1f} ms  "
        + ", ".join(f"{k} {v}" for k, v in step["sizes"].items())
        + _inputs(step["inputs"])
        for step in found.steps
    ]
    calls = [f"  {line}" for line in _table(found.inferences)] if found.inferences else ["  none"]
    return "\n".join([_head(found), "steps:", *steps, "model calls:", *calls])


def _inputs(inputs: dict[str, Any]) -> str:
    """What a step was given, on a line of its own; questions cut short (JSON has them whole)."""
    said = ", ".join(f"{name}={shorten(printable(str(value)), 60)}" for name, value in inputs.items())
    return f"\n    {said}" if said else ""


def _head(call: Trajectory) -> str:
    session = f" session {call.session_id}" if call.session_id else ""
    detail = f": {call.detail}" if call.detail else ""
    when = f"{call.trajectory_id} {call.started_at} {call.kind} on {call.dataset}{session}"
    return f"{when}, {call.ms:.0f} ms, {call.outcome}{detail}"


def _usd(cost: float | None) -> str:
    return "?" if cost is None else f"{cost:.6f}"
