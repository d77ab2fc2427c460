"""What people say of answers: each judgement is a row that is never changed; a labeller's latest one of a case counts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, get_args

from core import clock
from core.errors import UsageError
from core.store.base import Database

Verdict = Literal["correct", "partly", "wrong", "should-abstain"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
MAX_LABELLER = 100
MAX_NOTE = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedCitation:
    """One piece of evidence as it was cited. ``supports`` None: not judged. ``quote`` None: the whole of it."""

    source: str
    turn: str | None = None
    quote: str | None = None
    supports: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """One labeller's judgement of the answer to a case. ``answer`` is empty where the system abstained; ``recipe`` and
    ``profile`` say what answered. ``created_at`` is set by the store (UTC)."""

    case_id: str
    labeller: str
    verdict: Verdict
    question: str
    answer: str = ""
    citations: tuple[JudgedCitation, ...] = ()
    recipe: str = ""
    profile: str = ""
    note: str = ""
    created_at: str = ""

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


class Labels:
    """The part of the store that keeps labels."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, dataset_id: int, label: Label) -> Label:
        """Keeps a judgement; when this returns, it is committed and survives a kill.

        Raises:
            UsageError: no labeller, an unknown verdict, or a note that is too long. StoreError: it could not be written.
        """
        checked = _checked(label)
        citations = json.dumps([asdict(one) for one in checked.citations], ensure_ascii=False)
        with self._database.transaction() as connection:
            connection.execute(
                """INSERT INTO label (dataset_id, case_id, labeller, verdict, question, answer, citations, recipe,
                       profile, note, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
                (
                    dataset_id, checked.case_id, checked.labeller, checked.verdict, checked.question, checked.answer,
                    citations, checked.recipe, checked.profile, checked.note, checked.created_at,
                ),
            )  # fmt: skip
        return checked

    def latest(self, dataset_ids: Sequence[int]) -> list[Label]:
        """Each labeller's latest judgement of each case, by case and labeller."""
        rows = self._database.rows(
            """SELECT case_id, labeller, verdict, question, answer, citations, recipe, profile, note, created_at
               FROM label WHERE label_id IN (
                   SELECT max(label_id) FROM label WHERE dataset_id IN (SELECT value FROM json_each(?))
                   GROUP BY dataset_id, case_id, labeller)
               ORDER BY dataset_id, case_id, labeller""",
            (json.dumps(list(dataset_ids)),),
        )
        return [_label(row) for row in rows]


def _checked(label: Label) -> Label:
    labeller = " ".join(label.labeller.split())
    if not labeller or len(labeller) > MAX_LABELLER or not labeller.isprintable():
        raise UsageError(
            f"a labeller's name is 1 to {MAX_LABELLER} printable characters, got {label.labeller[:50]!r}; say who judges"
        )
    if label.verdict not in VERDICTS:
        raise UsageError(f"a verdict is one of {', '.join(VERDICTS)}, got {label.verdict!r}")
    if len(label.note) > MAX_NOTE:
        raise UsageError(f"a note has at most {MAX_NOTE} characters, got {len(label.note)}; shorten it")

    return replace(label, labeller=labeller, created_at=label.created_at or clock.now())


def _label(row: Sequence[Any]) -> Label:
    case_id, labeller, verdict, question, answer, citations, recipe, profile, note, created_at = row
    return Label(
        case_id=case_id,
        labeller=labeller,
        verdict=verdict,
        question=question,
        answer=answer,
        citations=tuple(JudgedCitation(**one) for one in json.loads(citations)),
        recipe=recipe,
        profile=profile,
        note=note,
        created_at=created_at,
    )
