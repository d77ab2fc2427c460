"""ragas' ``EvaluationDataset`` as JSON Lines, as ``to_jsonl`` writes it: one single-turn sample a line.

``user_input`` is the question, ``reference`` its answer. ``reference_contexts`` are stored and are the gold evidence,
``retrieved_contexts`` are stored beside them; each has the name in ``…_context_ids``, or one made from its text. What a
model wrote (``response``, ``multi_responses``) and how questions were made (``rubrics`` …) are no labels: dropped and
said. ``assay_case`` is ours: the whole labelled question as `assay export --to ragas` wrote it, where it stands.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from core.errors import DataError
from core.ingest.items import ArtifactItem, CaseItem, NodeItem, Problem
from evals.cases import Case, Gold
from evals.formats import Row
from evals.formats.lines import identifier, words
from evals.formats.records import (
    Placed,
    Record,
    dropped,
    each,
    files_of,
    left_over,
    listed,
    records,
)

FILES = ("ragas.jsonl", "dataset.jsonl")
OWN = "assay_case"
KINDS = ("reference", "retrieved")
FIELDS = frozenset(
    (
        "user_input",
        "reference",
        OWN,
        *(f"{kind}_{what}" for kind in KINDS for what in ("contexts", "context_ids")),
    )
)


def load(path: Path) -> Iterator[Row]:
    """Sample by sample: its contexts, then its question."""
    stored: dict[str, str] = {}
    names: set[str] = set()
    for file in files_of(path, FILES, "a ragas data set"):
        extra: Counter[str] = Counter()
        rows = left_over(records(file), FIELDS, extra)
        make = partial(_sample, stored=stored, names=names)
        yield from (("", where, item) for where, item in each(rows, make, "a single-turn sample"))
        yield from (("", problem.where, problem) for problem in dropped(file, extra))


def _sample(where: str, row: Record, stored: dict[str, str], names: set[str]) -> Iterator[Placed]:
    question = words(row["user_input"], "user_input")
    contexts = {kind: _contexts(row, kind) for kind in KINDS}
    reference = row.get("reference")
    answers = () if reference is None else (words(reference, "reference"),)
    own = row.get(OWN)
    case = _case(question, answers, contexts["reference"]) if own is None else _own(own, question)
    if case.case_id in names:
        raise ValueError(f"case {case.case_id!r} stands here again; the first is kept")
    names.add(case.case_id)
    turns = {gold.key: gold for gold in (*case.gold, *case.citations) if gold.turn is not None}
    for source, text in dict.fromkeys((*contexts["reference"], *contexts["retrieved"])):
        if source not in stored:
            stored[source] = text
            yield where, _stored(source, text, turns.get(source))
        elif stored[source] != text:
            what = f"the context {source!r} came before with another text; the first is kept"
            yield where, Problem(where=where, what=what)
    yield where, CaseItem(case_id=case.case_id, body=case.to_body())


def _stored(source: str, text: str, turn: Gold | None) -> ArtifactItem | NodeItem:
    """A context as a document, or as the turn that our own label says it is."""
    if turn is None:
        return ArtifactItem(source=source, text=text, whole=True)
    return NodeItem(level="L0", text=text, source=turn.source, turn=turn.turn)


def _contexts(row: Record, kind: str) -> list[tuple[str, str]]:
    """Source and text of each context."""
    texts = [words(one, "a context") for one in listed(row.get(f"{kind}_contexts") or [], f"{kind}_contexts")]
    given = row.get(f"{kind}_context_ids")
    if given is None:
        return [(f"context#{sha256(text.encode()).hexdigest()[:12]}", text) for text in texts]
    sources = [identifier(one, "a context id") for one in listed(given, f"{kind}_context_ids")]
    if texts and len(sources) != len(texts):
        raise ValueError(f"{len(sources)} {kind}_context_ids for {len(texts)} {kind}_contexts")
    return list(zip(sources, texts, strict=False))


def _case(question: str, answers: tuple[str, ...], reference: list[tuple[str, str]]) -> Case:
    """Without an answer and without reference contexts nobody says whether it can be answered."""
    known = bool(answers or reference)
    return Case(
        case_id=f"q#{sha256(question.encode()).hexdigest()[:12]}", question=question, answers=answers,
        gold=tuple(Gold(source=source) for source in dict.fromkeys(source for source, _ in reference)),
        answerable=True if known else None,
    )  # fmt: skip


def _own(body: Any, question: str) -> Case:
    if not isinstance(body, dict):
        raise TypeError(f"{OWN} must be an object, got {type(body).__name__}")
    try:
        words(json.dumps(body, ensure_ascii=False), OWN)
        case = Case.from_body(body)
    except DataError as error:
        raise ValueError(str(error)) from None
    if case.question != question:
        raise ValueError(f"{OWN} asks another question than user_input")
    return case
