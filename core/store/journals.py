"""Journals of calls: trajectories with their steps, inferences and a monitoring event for each call."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from core import clock
from core.errors import NotFoundError
from core.journal import Inference, Journal
from core.models.chat import Usage
from core.store.base import Connection, Database

EVENTS = logging.getLogger("assay.events")
"""Every saved call is also said here, as one line of JSON."""
Cost = Callable[[str, Usage], float | None]
"""US dollars of one call by model and tokens; None for a model without a price."""

_TRAJECTORY = "trajectory_id, kind, user_id, dataset, session_id, started_at, ms, outcome, detail"
_INFERENCE = """i.inference_id, i.trajectory_id, t.kind, i.stage, i.model, i.reasoning, i.input_tokens, i.output_tokens,
                i.thinking_tokens, i.cost_usd, i.latency_ms, i.outcome, i.created_at, t.dataset, t.session_id"""
_INFERENCE_KEYS = (
    "inference_id", "trajectory_id", "type", "stage", "model", "reasoning", "input_tokens", "output_tokens",
    "thinking_tokens", "cost_usd", "latency_ms", "outcome", "created_at", "dataset", "session_id",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectory:
    """One call as it was saved: who asked what of which dataset, how it ended, its steps and its inferences."""

    trajectory_id: str
    kind: str
    user_id: str
    dataset: str
    session_id: str | None
    started_at: str
    ms: float
    outcome: str
    detail: str
    steps: tuple[dict[str, Any], ...] = ()
    inferences: tuple[dict[str, Any], ...] = ()


class Journals:
    """The part of the store that keeps what calls did. A user sees only their own."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save(self, journal: Journal, cost: Cost) -> None:
        """Keeps a finished call, in one transaction, and says it as a monitoring event."""
        head = (
            journal.trajectory_id, journal.kind, journal.user_id, journal.dataset, journal.session_id,
            journal.started_at, journal.ms, journal.outcome, journal.detail,
        )  # fmt: skip
        event = dict(zip(_TRAJECTORY.split(", "), head, strict=True)) | {
            "steps": len(journal.steps),
            "inferences": len(journal.inferences),
            "cost_usd": _total([cost(one.model, one.usage) for one in journal.inferences]),
        }
        body = json.dumps(event, ensure_ascii=False, sort_keys=True, allow_nan=False)

        def keep(connection: Connection) -> None:
            connection.execute(
                f"INSERT INTO trajectory ({_TRAJECTORY}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", head
            )
            connection.executemany(
                """INSERT INTO trajectory_step (trajectory_id, position, name, inputs, sizes, ms)
                   VALUES (?, ?, ?, ?, ?, ?)""",
                [
                    (
                        journal.trajectory_id,
                        position,
                        step.name,
                        _json(step.inputs),
                        _json(step.sizes),
                        step.ms,
                    )
                    for position, step in enumerate(journal.steps)
                ],
            )
            connection.executemany(
                """INSERT INTO inference (trajectory_id, stage, model, reasoning, input_tokens, output_tokens,
                       thinking_tokens, cost_usd, latency_ms, outcome, created_at)
                   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
                [_inference_row(journal.trajectory_id, one, cost) for one in journal.inferences],
            )
            connection.execute(
                "INSERT INTO event (name, user_id, body, created_at) VALUES (?, ?, ?, ?)",
                (journal.kind, journal.user_id, body, clock.now()),
            )

        self._database.write(keep)
        EVENTS.info(body)

    def inferences(
        self,
        user_id: str,
        *,
        session_id: str | None = None,
        trajectory_id: str | None = None,
        limit: int = 100,
    ) -> list[dict[str, Any]]:
        """The user's latest inferences first, of one session or call where that is asked."""
        rows = self._database.rows(
            f"""SELECT {_INFERENCE} FROM inference i JOIN trajectory t USING (trajectory_id)
                WHERE t.user_id = ?1 AND (?2 IS NULL OR t.session_id = ?2) AND (?3 IS NULL OR t.trajectory_id = ?3)
                ORDER BY i.inference_id DESC LIMIT ?4""",
            (user_id, session_id, trajectory_id, limit),
        )
        return [dict(zip(_INFERENCE_KEYS, row, strict=True)) for row in rows]

    def trajectories(
        self, user_id: str, *, session_id: str | None = None, limit: int = 100
    ) -> list[Trajectory]:
        """The user's latest calls first, without their steps."""
        rows = self._database.rows(
            f"""SELECT {_TRAJECTORY} FROM trajectory WHERE user_id = ?1 AND (?2 IS NULL OR session_id = ?2)
                ORDER BY started_at DESC, trajectory_id LIMIT ?3""",
            (user_id, session_id, limit),
        )
        return [Trajectory(**dict(zip(_TRAJECTORY.split(", "), row, strict=True))) for row in rows]  # type: ignore[arg-type]

    def trajectory(self, trajectory_id: str, user_id: str) -> Trajectory:
        """One call, whole; the id may be cut short where that is enough to tell it.

        Raises:
            NotFoundError: no such call of this user, or several that begin so.
        """
        rows = self._database.rows(
            f"SELECT {_TRAJECTORY} FROM trajectory WHERE user_id = ? AND substr(trajectory_id, 1, ?) = ? LIMIT 2",
            (user_id, len(trajectory_id), trajectory_id),
        )
        if len(rows) != 1 or not trajectory_id:
            what = "several trajectories begin with" if rows else "no trajectory"
            raise NotFoundError(f"{what} {trajectory_id!r}; `assay inferences` lists the calls there were")
        head = dict(zip(_TRAJECTORY.split(", "), rows[0], strict=True))
        found = str(head["trajectory_id"])
        steps = self._database.rows(
            "SELECT name, inputs, sizes, ms FROM trajectory_step WHERE trajectory_id = ? ORDER BY position",
            (found,),
        )
        inferences = self.inferences(user_id, trajectory_id=found, limit=10_000)
        return Trajectory(
            **head,  # type: ignore[arg-type]
            steps=tuple(
                {"name": name, "inputs": json.loads(str(inputs)), "sizes": json.loads(str(sizes)), "ms": ms}
                for name, inputs, sizes, ms in steps
            ),
            inferences=tuple(reversed(inferences)),
        )

    def events(self, user_id: str, *, limit: int = 100) -> list[dict[str, Any]]:
        """The user's latest monitoring events first."""
        rows = self._database.rows(
            "SELECT body FROM event WHERE user_id = ? ORDER BY event_id DESC LIMIT ?", (user_id, limit)
        )
        return [json.loads(str(body)) for (body,) in rows]


def as_json(trajectory: Trajectory) -> dict[str, Any]:
    """The JSON object of a trajectory."""
    return asdict(trajectory)


def _inference_row(trajectory_id: str, one: Inference, cost: Cost) -> tuple[object, ...]:
    usage = one.usage
    return (
        trajectory_id, one.stage, one.model, one.reasoning, usage.input_tokens, usage.output_tokens,
        usage.thinking_tokens, cost(one.model, usage), one.latency_ms, one.outcome, one.created_at,
    )  # fmt: skip


def _json(values: Mapping[str, int | float | str]) -> str:
    return json.dumps(dict(values), ensure_ascii=False, allow_nan=False)


def _total(costs: list[float | None]) -> float | None:
    """The sum; None where any part of it is unknown."""
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None
