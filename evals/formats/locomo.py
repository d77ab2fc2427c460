"""LoCoMo: ``locomo10.json``, ten conversations; each becomes a dataset of its own, since turn ids repeat across them.

Turns are L0, observations L1 linked to their turns, session summaries L2 linked to that session's observations.
Category 5 is adversarial: its questions should not be answered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from core import clock
from core.bounded import read_whole
from core.errors import DataError
from core.ingest.items import CaseItem, Item, NodeItem, Problem
from evals.cases import Case, Gold
from evals.formats import Row
from evals.formats.lines import identifier, parsed, words
from evals.formats.turn_ids import cited_turns

FILE = "locomo10.json"
ADVERSARIAL = 5
_SESSION = re.compile(r"^session_(\d+)$")

Placed = tuple[str, Item | Problem]
FAULTS = (KeyError, TypeError, AttributeError, ValueError)


def load(path: Path) -> Iterator[Row]:
    """Conversation by conversation: turns, observations, summaries, questions."""
    file = path / FILE if path.is_dir() else path
    try:
        conversations = parsed(read_whole(file).decode("utf-8-sig"))
    except OSError as error:
        raise DataError(f"{file}: cannot be read: {error.strerror}; expected LoCoMo's {FILE}") from error
    except ValueError as error:
        raise DataError(f"{file}: not JSON: {error}") from error
    if not isinstance(conversations, list):
        raise DataError(f"{file}: expected a list of conversations, got {type(conversations).__name__}")
    for number, conversation in enumerate(conversations):
        where = f"{file}:conversation {number}"
        try:
            name = identifier(conversation["sample_id"], "sample_id")
            rows = list(_Conversation(name, conversation, f"{file}:{name}").rows())
        except FAULTS as error:
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

    def rows(self) -> Iterator[Placed]:
        sessions = self._sessions()
        for number, turns in sessions.items():
            yield from self._date_fault(number)
            for position, turn in enumerate(turns):
                where = f"{self.where}:session_{number}[{position}]"
                yield from _sound(where, "a turn", self._turn(where, number, position, turn))
        yield from self._dates_without_sessions(sessions)
        yield from self._captions_without_images(sessions)
        for number in sessions:
            yield from self._observed(number)
        for number in sessions:
            where = f"{self.where}:session_{number}_summary"
            yield from _sound(where, "a summary", self._summary(number))
        yield from self._questions()

    def _sessions(self) -> dict[int, list[dict[str, Any]]]:
        found = {
            int(match.group(1)): turns
            for key, turns in self.body["conversation"].items()
            if (match := _SESSION.match(key)) and isinstance(turns, list)
        }
        return dict(sorted(found.items()))

    def _date_text(self, number: int) -> str:
        return str(self.body["conversation"].get(f"session_{number}_date_time"))

    def _date(self, number: int) -> str | None:
        try:
            return clock.to_text(datetime.strptime(self._date_text(number), "%I:%M %p on %d %B, %Y"))
        except ValueError:
            return None  # said once a session, by _date_fault

    def _date_fault(self, number: int) -> Iterator[tuple[str, Problem]]:
        if self._date(number) is None:
            where = f"{self.where}:session_{number}_date_time"
            what = (
                f"no date like '1:56 pm on 8 May, 2023': {self._date_text(number)!r}; the session is undated"
            )
            yield where, Problem(where=where, what=what, action="kept")

    def _turn(self, where: str, number: int, position: int, turn: Any) -> Iterator[Placed]:
        captioned = turn.get("img_url") and turn.get("blip_caption")
        caption = words(turn["blip_caption"], "blip_caption").strip() if captioned else ""
        dia_id, speaker, text = (
            words(turn["dia_id"], "dia_id"),
            words(turn["speaker"], "speaker"),
            turn["text"],
        )
        if text != "" or not caption:
            text = words(text, "text")
        self.turns.add(dia_id)
        yield (
            where,
            NodeItem(
                level="L0",
                text=f"{speaker}: {text}" + (f" [image: {caption}]" if caption else ""),
                source=self.name,
                turn=dia_id,
                session=f"session_{number}",
                position=position,
                speaker=speaker,
                name=dia_id,
                valid_at=self._date(number),
            ),
        )

    def _captions_without_images(
        self, sessions: dict[int, list[dict[str, Any]]]
    ) -> Iterator[tuple[str, Problem]]:
        bare = sum(
            isinstance(turn, dict) and bool(turn.get("blip_caption")) and not turn.get("img_url")
            for turns in sessions.values()
            for turn in turns
        )
        if bare:
            what = f"{bare} turns have a caption and no image: what nobody was shown is no part of their text"
            yield self.where, Problem(where=self.where, what=what)

    def _dates_without_sessions(self, sessions: dict[int, Any]) -> Iterator[tuple[str, Problem]]:
        for key in self.body["conversation"]:
            match = re.match(r"^session_(\d+)_date_time$", key)
            if match and int(match.group(1)) not in sessions:
                where = f"{self.where}:{key}"
                yield where, Problem(where=where, what="a date without a session")

    def _observed(self, number: int) -> Iterator[Placed]:
        by_speaker = (self.body.get("observation") or {}).get(f"session_{number}_observation") or {}
        for speaker, observations in by_speaker.items():
            for index, observation in enumerate(observations):
                where = f"{self.where}:session_{number}_observation:{speaker}:{index}"
                yield from _sound(
                    where, "an observation", self._observation(where, number, index, speaker, observation)
                )

    def _observation(
        self, where: str, number: int, index: int, speaker: str, observation: Any
    ) -> Iterator[Placed]:
        text, cited = observation
        text = words(text, "an observation")
        parents, problems = cited_turns(where, cited, self.turns)
        yield from ((where, problem) for problem in problems)
        name = f"session_{number}/{speaker}/{index}"
        self.observations.setdefault(f"session_{number}", []).append(name)
        yield where, NodeItem(
            level="L1", text=text, source=self.name, turn=parents[0] if parents else None,
            session=f"session_{number}", speaker=speaker, name=name, valid_at=self._date(number),
            parents=tuple(parents),
        )  # fmt: skip

    def _summary(self, number: int) -> Iterator[Placed]:
        text = (self.body.get("session_summary") or {}).get(f"session_{number}_summary")
        where = f"{self.where}:session_{number}_summary"
        if text is None or text == "":
            yield where, Problem(where=where, what="the session has no summary")
            return
        yield where, NodeItem(
            level="L2", text=words(text, "a summary"), source=self.name, session=f"session_{number}",
            name=f"session_{number}_summary", valid_at=self._date(number),
            parents=tuple(self.observations.get(f"session_{number}", ())),
        )  # fmt: skip

    def _questions(self) -> Iterator[Placed]:
        asked: set[str] = set()
        for index, question in enumerate(self.body["qa"]):
            where = f"{self.where}:qa[{index}]"
            yield from _sound(where, "a question", self._question(where, index, question, asked))

    def _question(self, where: str, index: int, question: Any, asked: set[str]) -> Iterator[Placed]:
        evidence, problems = cited_turns(where, question.get("evidence") or [], self.turns)
        case = self._case(index, question, evidence)
        if case.question in asked:
            yield where, Problem(where=where, what="the question was asked before", action="kept")
        asked.add(case.question)
        yield from ((where, problem) for problem in problems)
        if not question.get("evidence"):
            yield where, Problem(where=where, what="the question has no evidence", action="kept")
        yield where, CaseItem(case_id=case.case_id, body=case.to_body())

    def _case(self, index: int, question: dict[str, Any], evidence: list[str]) -> Case:
        adversarial = question["category"] == ADVERSARIAL
        answer = question.get("answer")
        return Case(
            case_id=f"{self.name}/q{index}",
            question=words(question["question"], "question"),
            answers=() if answer is None or adversarial else (identifier(answer, "answer"),),
            gold=tuple(Gold(source=self.name, turn=turn) for turn in evidence),
            answerable=not adversarial,
            why_unanswerable="adversarial" if adversarial else None,
            tags={"category": identifier(question["category"], "category")},
        )


def _sound(where: str, what: str, rows: Iterator[Placed]) -> Iterator[Placed]:
    """The rows of one record; a malformed record is a problem of its own and takes nothing else down."""
    try:
        yield from list(rows)
    except FAULTS as error:
        yield where, Problem(where=where, what=f"not {what}: {type(error).__name__} {error}")
