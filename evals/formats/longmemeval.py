"""LongMemEval: ``longmemeval_s.json`` (or ``_m``, ``_oracle``), a history of chat sessions for each question.

Each question has a history of its own and becomes a dataset of its own (``/question_id``). A turn is L0, its source the
session. Turns with ``has_answer`` are gold; an evidence session without any is gold as a whole. Questions whose id ends
in ``_abs`` should not be answered. Schema: Wu et al., LongMemEval, ICLR 2025, repository xiaowu0162/LongMemEval.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from core import clock
from core.ingest.items import CaseItem, NodeItem, Problem
from evals.cases import Case, Gold
from evals.formats import Row
from evals.formats.lines import identifier, words
from evals.formats.records import FAULTS, Placed, Record, files_of, listed, records

FILES = ("longmemeval_s.json", "longmemeval_s_cleaned.json", "longmemeval_m.json", "longmemeval_m_cleaned.json",
         "longmemeval_oracle.json")  # fmt: skip
ABSTENTION = "_abs"
_WEEKDAY = re.compile(r"\s*\([A-Za-z]+\)\s*")


def load(path: Path) -> Iterator[Row]:
    """Question by question: its history, then the question. Of a folder, the first file of ``FILES`` there is."""
    file = files_of(path, FILES, "LongMemEval")[0]
    names: set[str] = set()
    for where, row in records(file):
        if isinstance(row, Problem):
            yield "", where, row
            continue
        try:
            name = identifier(row["question_id"], "question_id")
            if name in names:
                raise ValueError(f"question {name} stands here again; the first is kept")
            rows = list(_question(where, name, row))
        except FAULTS as error:
            what = f"not a question of LongMemEval: {type(error).__name__} {error}"
            yield "", where, Problem(where=where, what=what)
            continue
        names.add(name)
        yield from ((f"/{name}", place, item) for place, item in rows)


def _question(where: str, name: str, row: Record) -> Iterator[Placed]:
    question = words(row["question"], "question")
    kind = words(row["question_type"], "question_type")
    answer = identifier(row["answer"], "answer")
    asked = _moment(row["question_date"], "question_date")
    evidence = [
        identifier(one, "answer_session_ids")
        for one in listed(row["answer_session_ids"], "answer_session_ids")
    ]
    columns = [
        listed(row[key], key) for key in ("haystack_session_ids", "haystack_dates", "haystack_sessions")
    ]
    history = _History(where, name)
    for session_id, date, turns in zip(*columns, strict=True):
        yield from history.session(session_id, date, turns)
    absent = name.endswith(ABSTENTION)
    gold: list[Gold] = []
    for session in dict.fromkeys(evidence):
        gold += history.marked.get(session) or ([Gold(source=session)] if session in history.sessions else [])
        if session not in history.sessions:
            what = f"question {name}: the evidence session {session!r} is not in its history"
            yield where, Problem(where=where, what=what)
    case = Case(
        case_id=name, question=question, answers=() if absent else (answer,), gold=() if absent else tuple(gold),
        answerable=not absent, why_unanswerable="not-in-history" if absent else None,
        hides=tuple(dict.fromkeys(one.source for one in gold)) if absent else (), as_of=asked, tags={"type": kind},
    )  # fmt: skip
    yield where, CaseItem(case_id=name, body=case.to_body())


class _History:
    def __init__(self, where: str, name: str) -> None:
        self.where = where
        self.name = name
        self.sessions: set[str] = set()
        self.marked: dict[str, list[Gold]] = {}

    def session(self, session_id: object, date: object, turns: object) -> Iterator[Placed]:
        """The turns of a session; a session whose id came before is left out."""
        session = identifier(session_id, "haystack_session_ids")
        if session in self.sessions:
            yield self._said(f"the session {session!r} stands in its history again", "kept once")
            return
        begun = _moment(date, "haystack_dates")
        self.sessions.add(session)
        for position, turn in enumerate(listed(turns, "a session")):
            try:
                node = _turn(session, position, turn, begun)
            except FAULTS as error:
                yield self._said(f"turn {position} of {session!r}: {type(error).__name__} {error}", "skipped")
                continue
            if turn.get("has_answer") is True:
                self.marked.setdefault(session, []).append(Gold(source=session, turn=node.turn))
            yield self.where, node

    def _said(self, what: str, action: str) -> tuple[str, Problem]:
        return self.where, Problem(where=self.where, what=f"question {self.name}: {what}", action=action)


def _turn(session: str, position: int, turn: Any, begun: str) -> NodeItem:
    role, content = words(turn["role"], "role"), words(turn["content"], "content")
    return NodeItem(
        level="L0", text=f"{role}: {content}", source=session, turn=f"t{position}", session=session,
        position=position, speaker=role, valid_at=begun,
    )  # fmt: skip


def _moment(value: object, what: str) -> str:
    """``2023/05/20 (Sat) 02:21`` as UTC text. ValueError: it is none such."""
    text = _WEEKDAY.sub(" ", words(value, what))
    return clock.to_text(datetime.strptime(text, "%Y/%m/%d %H:%M"))
