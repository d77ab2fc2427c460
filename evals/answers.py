"""Anybody's answers: the file another system's answers are brought in, and a Trace made of each so that it is scored.

A line of the file is a JSON object:

* ``case_id``: which question it answers; ``dataset`` too where several datasets are scored.
* ``answer``: the text; null or left out where nothing was answered.
* ``abstained``: true for a refusal; left out: whether ``answer`` is null. Never read from the wording of an answer.
* ``citations``: what it rests on, each a source (``"doc-7"``), a source and turn (``"chat#D1:3"``), a node's id, or
  ``{"source": …, "turn": …, "quote": …}``; a quote narrows it to a sentence, without one the whole text is cited.
* ``ranking``: sources, turns or node ids, best first, for retrieval metrics; left out: the citations in their order.
* ``confidence``: a finite number that orders the risk-coverage curve; null or left out: none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from core.errors import DataError, UsageError
from core.records import Node
from core.store import Store
from core.trace import Answer, Candidate, Evidence, Trace
from evals.cases import Case

MAX_LINE = 4 * 1024 * 1024
"""Bytes a line may have."""
WRITER = "external"


class Citation(BaseModel):
    """A stretch that is cited."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    source: str
    turn: str | None = None
    quote: str | None = None


class GivenAnswer(BaseModel):
    """One line of the file, or what a hook returns."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    case_id: str = ""
    dataset: str | None = None
    answer: str | None = None
    abstained: bool | None = None
    citations: list[str | Citation] = Field(default_factory=list)
    ranking: list[str] | None = None
    confidence: Annotated[float, Field(allow_inf_nan=False)] | None = None

    @model_validator(mode="after")
    def _means_one_thing(self) -> GivenAnswer:
        if self.abstained is False and self.answer is None:
            raise ValueError("abstained is false, but there is no answer")
        return self

    @property
    def refuses(self) -> bool:
        """Whether it is an abstention."""
        return self.answer is None if self.abstained is None else self.abstained


def read(path: Path) -> dict[tuple[str | None, str], GivenAnswer]:
    """The answers of a file by dataset (None where the line has none) and case.

    Raises:
        DataError: a line that is no answer, or two for one case (``file:line``). UsageError: the file cannot be read.
    """
    found: dict[tuple[str | None, str], GivenAnswer] = {}
    for where, text in _lines(path):
        try:
            given = GivenAnswer.model_validate_json(text)
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(map(str, first["loc"])) or "line"
            raise DataError(
                f"{where}: {field}: {first['msg']}; see `assay score --help` for the form"
            ) from None
        if not given.case_id:
            raise DataError(f"{where}: case_id is missing; it says which question is answered")
        key = (given.dataset, given.case_id)
        if key in found:
            raise DataError(f"{where}: case {given.case_id!r} is answered twice; leave one of the lines out")
        found[key] = given
    if not found:
        raise DataError(f"{path}: holds no answer; write one JSON object a line")
    return found


def _lines(path: Path) -> Iterator[tuple[str, bytes]]:
    try:
        with path.open("rb") as file:
            number = 0
            while text := file.readline(MAX_LINE + 1):
                number += 1
                if len(text) > MAX_LINE:
                    raise DataError(f"{path}:{number}: the line has more than {MAX_LINE} bytes")
                if text.strip():
                    yield f"{path}:{number}", text
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error


class Library:
    """What citations may name in one dataset: its nodes by id, by source and turn, and by source."""

    def __init__(self, store: Store, dataset_id: int) -> None:
        nodes = store.nodes(store.columns("node", [dataset_id]).row_ids.tolist())
        self._by_key: dict[str, Node] = {}
        for node in nodes:
            self._by_key.setdefault(node.source, node)
            if node.turn is not None:
                self._by_key.setdefault(f"{node.source}#{node.turn}", node)
        self._by_key |= {node.node_id: node for node in nodes}
        self._by_source: dict[str, list[Node]] = {}
        for node in nodes:
            self._by_source.setdefault(node.source, []).append(node)

    def find(self, name: str) -> Node | None:
        """The node of that id, or the first of that source and turn, or of that source."""
        return self._by_key.get(name)

    def quoted(self, cited: Citation) -> tuple[Node, int] | None:
        """The node of the source (and turn) that holds the quote, and where it begins there."""
        for node in self._by_source.get(cited.source, ()):
            start = node.text.find(cited.quote or "")
            if start >= 0 and (cited.turn is None or node.turn == cited.turn):
                return node, start
        return None


def traced(given: GivenAnswer, case: Case, dataset: str, library: Library) -> Trace:
    """The Trace that scoring reads: what was cited and exists as evidence, what does not as invalid citations."""
    evidence, invalid = _resolved(given.citations, library)
    names = given.ranking if given.ranking is not None else [item.candidate_id for item in evidence]
    ranked = {name: library.find(name) for name in dict.fromkeys(names)}
    candidates = {item.candidate_id: _candidate_of(item) for item in evidence}
    for name, node in ranked.items():
        candidates.setdefault(name, _candidate(name, node))
    answer = Answer(
        text=given.answer or "",
        abstained=given.refuses,
        reason="model_declined" if given.refuses else None,
        evidence=() if given.refuses else evidence,
        closest=evidence,
        confidence=given.confidence,
        confidence_space=WRITER if given.confidence is not None else None,
        writer=WRITER,
        invalid_citations=invalid,
    )
    return _trace(case, dataset, tuple(candidates.values()), tuple(ranked), answer)


def _resolved(
    citations: Sequence[str | Citation], library: Library
) -> tuple[tuple[Evidence, ...], tuple[str, ...]]:
    found: dict[str, Evidence] = {}
    invalid: dict[str, None] = {}
    for cited in citations:
        if isinstance(cited, Citation) and cited.quote:
            held = library.quoted(cited)
            node, start, end = (*held, held[1] + len(cited.quote)) if held else (None, 0, 0)
        else:
            node = library.find(_name(cited))
            start, end = 0, len(node.text) if node else 0
        if node is None:
            invalid[_name(cited)] = None
        else:
            key = f"{node.node_id}:{start}:{end}"
            found.setdefault(key, _evidence(key, node, start, end))
    return tuple(found.values()), tuple(invalid)


def _name(cited: str | Citation) -> str:
    if isinstance(cited, str):
        return cited
    return cited.source if cited.turn is None else f"{cited.source}#{cited.turn}"


def _evidence(key: str, node: Node, start: int, end: int) -> Evidence:
    return Evidence(
        candidate_id=key,
        kind="node",
        citation=f"[mem:{node.node_id}]",
        text=node.text,
        quote=node.text[start:end],
        start=start,
        end=end,
        source=node.source,
        turn=node.turn,
        title=node.title,
        level=node.level,
    )


def _candidate_of(item: Evidence) -> Candidate:
    return Candidate(
        candidate_id=item.candidate_id,
        kind="node",
        text=item.text,
        source=item.source,
        turn=item.turn,
        level=item.level,
    )


def _candidate(name: str, node: Node | None) -> Candidate:
    """A ranked thing; one that is not stored keeps its name, so that it stands in the ranking as what is not gold."""
    if node is None:
        return Candidate(candidate_id=name, kind="node", text="", source=name)
    turn = node.turn if name != node.source else None
    return Candidate(
        candidate_id=name, kind="node", text=node.text, source=node.source, turn=turn, level=node.level
    )


def _trace(
    case: Case, dataset: str, candidates: tuple[Candidate, ...], ranking: tuple[str, ...], answer: Answer
) -> Trace:
    nothing: Mapping[str, Any] = {}
    return Trace(
        trace_id="",
        question=case.question,
        datasets=(dataset,),
        recipe="brain",
        profile=WRITER,
        fingerprint="",
        values=nothing,
        spaces=nothing,
        candidates=candidates,
        stages=(),
        ranking=ranking,
        answer=answer,
    )
