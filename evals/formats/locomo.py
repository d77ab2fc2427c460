"""LoCoMo: ``locomo10.json``, ten conversations; each becomes a dataset of its own, since turn ids repeat across them.

Turns are L0, observations L1 linked to their turns, session summaries L2 linked to that session's observations.
Category 5 is adversarial: its questions should not be answered.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from core import clock
from core.errors import DataError
from core.ingest.items import CaseItem, Item, NodeItem, Problem
from evals.cases import Case, Gold
from evals.formats import Row

FILE = "locomo10.json"
ADVERSARIAL = 5
_TURN = re.compile(r"D(\d+):(\d+)")
_REPAIRS = ((re.compile(r"^D:(\d+):(\d+)$"), r"D\1:\2"),)
_SESSION = re.compile(r"^session_(\d+)$")


def load(path: Path) -> Iterator[Row]:
    """Conversation by conversation: turns, observations, summaries, questions."""
    file = path / FILE if path.is_dir() else path
    try:
        conversations = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"{file}: cannot be read: {error.strerror}; expected LoCoMo's {FILE}") from error
    except ValueError as error:
        raise DataError(f"{file}: not JSON: {error}") from error
    if not isinstance(conversations, list):
        raise DataError(f"{file}: expected a list of conversations, got {type(conversations).__name__}")
    for number, conversation in enumerate(conversations):
        where = f"{file}:conversation {number}"
        try:
            name = str(conversation["sample_id"])
            rows = list(_Conversation(name, conversation, f"{file}:{name}").rows())
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            what = f"not a LoCoMo conversation: {type(error).__name__} {error}"
            yield f"/{number}", where, Problem(where=where, what=what)
            continue
        yield from ((f"/{name}", place, item) for place, item in rows)


class _Conversation:
    def __init__(self, name: str, body: dict[str, Any], where: str) -> None:
        self.name = name
        self.body = body
        self.where = where
        self.turns: set[str] = set()
        self.observations: dict[str, list[str]] = {}

    def rows(self) -> Iterator[tuple[str, Item | Problem]]:
        sessions = self._sessions()
        for number, turns in sessions.items():
            for position, turn in enumerate(turns):
                yield f"{self.where}:{turn['dia_id']}", self._turn(number, position, turn)
        yield from self._dates_without_sessions(sessions)
        for number in sessions:
            yield from self._observed(number)
        for number in sessions:
            yield from self._summary(number)
        yield from self._questions()

    def _sessions(self) -> dict[int, list[dict[str, Any]]]:
        found = {
            int(match.group(1)): turns
            for key, turns in self.body["conversation"].items()
            if (match := _SESSION.match(key)) and isinstance(turns, list)
        }
        return dict(sorted(found.items()))

    def _date(self, number: int) -> str | None:
        text = self.body["conversation"].get(f"session_{number}_date_time")
        return clock.to_text(datetime.strptime(text, "%I:%M %p on %d %B, %Y")) if text else None

    def _turn(self, number: int, position: int, turn: dict[str, Any]) -> NodeItem:
        caption = turn.get("blip_caption")
        image = f" [image: {caption}]" if caption else ""
        self.turns.add(turn["dia_id"])
        return NodeItem(
            level="L0",
            text=f"{turn['speaker']}: {turn['text']}{image}",
            source=self.name,
            turn=turn["dia_id"],
            session=f"session_{number}",
            position=position,
            speaker=turn["speaker"],
            name=turn["dia_id"],
            valid_at=self._date(number),
        )

    def _dates_without_sessions(self, sessions: dict[int, Any]) -> Iterator[tuple[str, Problem]]:
        for key in self.body["conversation"]:
            match = re.match(r"^session_(\d+)_date_time$", key)
            if match and int(match.group(1)) not in sessions:
                where = f"{self.where}:{key}"
                yield where, Problem(where=where, what="a date without a session")

    def _observed(self, number: int) -> Iterator[tuple[str, Item | Problem]]:
        by_speaker = (self.body.get("observation") or {}).get(f"session_{number}_observation") or {}
        for speaker, observations in by_speaker.items():
            for index, (text, cited) in enumerate(observations):
                where = f"{self.where}:session_{number}_observation:{speaker}:{index}"
                parents, problems = self._cited(where, cited)
                yield from ((where, problem) for problem in problems)
                name = f"session_{number}/{speaker}/{index}"
                self.observations.setdefault(f"session_{number}", []).append(name)
                yield where, NodeItem(
                    level="L1", text=text, source=self.name, turn=parents[0] if parents else None,
                    session=f"session_{number}", speaker=speaker, name=name, valid_at=self._date(number),
                    parents=tuple(parents),
                )  # fmt: skip

    def _summary(self, number: int) -> Iterator[tuple[str, Item | Problem]]:
        text = (self.body.get("session_summary") or {}).get(f"session_{number}_summary")
        where = f"{self.where}:session_{number}_summary"
        if not text or not text.strip():
            yield where, Problem(where=where, what="the session has no summary")
            return
        yield where, NodeItem(
            level="L2", text=text, source=self.name, session=f"session_{number}", name=f"session_{number}_summary",
            valid_at=self._date(number), parents=tuple(self.observations.get(f"session_{number}", ())),
        )  # fmt: skip

    def _questions(self) -> Iterator[tuple[str, Item | Problem]]:
        asked = Counter[str]()
        for index, question in enumerate(self.body["qa"]):
            where = f"{self.where}:qa[{index}]"
            asked[question["question"]] += 1
            if asked[question["question"]] > 1:
                yield where, Problem(where=where, what="the question was asked before", action="kept")
            evidence, problems = self._cited(where, question.get("evidence") or [])
            yield from ((where, problem) for problem in problems)
            if not question.get("evidence"):
                yield where, Problem(where=where, what="the question has no evidence", action="kept")
            case = self._case(index, question, evidence)
            yield where, CaseItem(case_id=case.case_id, body=case.to_body())

    def _case(self, index: int, question: dict[str, Any], evidence: list[str]) -> Case:
        adversarial = question["category"] == ADVERSARIAL
        answer = question.get("answer")
        return Case(
            case_id=f"{self.name}/q{index}",
            question=question["question"],
            answers=() if answer is None or adversarial else (str(answer),),
            gold=tuple(Gold(source=self.name, turn=turn) for turn in evidence),
            answerable=not adversarial,
            why_unanswerable="adversarial" if adversarial else None,
            tags={"category": str(question["category"])},
        )

    def _cited(self, where: str, cited: Any) -> tuple[list[str], list[Problem]]:
        """Turn ids as they should be, and a problem for each that had to be repaired or left out."""
        turns: list[str] = []
        problems = []
        for value in cited if isinstance(cited, list) else [cited]:
            repaired = self._repaired(str(value))
            turns += [turn for turn in repaired if turn in self.turns]
            if repaired != [value]:
                said = f"repaired to {', '.join(repaired)}" if repaired else "skipped"
                problems.append(Problem(where=where, what=f"malformed evidence id {value!r}", action=said))
            for turn in repaired:
                if turn not in self.turns:
                    problems.append(
                        Problem(where=where, what=f"evidence {turn!r} is no turn of the conversation")
                    )
        return list(dict.fromkeys(turns)), problems

    def _repaired(self, value: str) -> list[str]:
        """The turn ids a text can only mean; [] where it may mean anything."""
        if value in self.turns:
            return [value]
        for pattern, form in _REPAIRS:
            value = pattern.sub(form, value)
        return [f"D{int(session)}:{int(turn)}" for session, turn in _TURN.findall(value)]
