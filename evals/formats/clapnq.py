"""CLAPnq: ``dev_answerable.jsonl`` and ``dev_unanswerable.jsonl``, one passage a question.

Equal passages are stored once. The passage of an unanswerable question is from the right article and does not answer:
variant ``near-miss`` keeps it, variant ``absent`` hides it from that question.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from core.errors import DataError
from core.ingest.items import ArtifactItem, CaseItem, Problem
from evals.cases import Case, Gold
from evals.formats import Row
from evals.formats.lines import found, identifier, json_lines, words

SPLIT = "dev"


def load(path: Path) -> Iterator[Row]:
    """Each passage before the first question that has it."""
    if not path.is_dir():
        raise DataError(
            f"{path}: no such folder; CLAPnq holds dev_answerable.jsonl and dev_unanswerable.jsonl"
        )
    seen: dict[str, str] = {}
    files = [
        (found(path, f"{SPLIT}_{name}.jsonl"), name == "answerable")
        for name in ("answerable", "unanswerable")
    ]
    for file, answerable in files:
        for where, row in json_lines(file):
            if isinstance(row, Problem):
                yield "", where, row
                continue
            try:
                yield from _question(where, row, seen, answerable=answerable)
            except (KeyError, TypeError, ValueError) as error:
                yield (
                    "",
                    where,
                    Problem(where=where, what=f"not a CLAPnq record: {type(error).__name__} {error}"),
                )


def _question(where: str, row: dict[str, Any], seen: dict[str, str], *, answerable: bool) -> Iterator[Row]:
    case_id, question = identifier(row["id"], "id"), words(row["input"], "input")
    title, text = _passage(row["passages"])
    outputs = [_output(output) for output in _listed(row["output"], "output")]
    digest = sha256("\n".join((title, text)).encode()).hexdigest()
    source = f"{title}#{digest[:12]}"
    if source in seen:
        what = f"the passage {title!r} stood at {seen[source]} already; stored once"
        yield "", where, Problem(where=where, what=what, action="kept once")
    else:
        seen[source] = where
        yield "", where, ArtifactItem(source=source, text=text, title=title, whole=True)
    answers = tuple(dict.fromkeys(answer for answer, _ in outputs if answer))
    silent = not all(answer for answer, _ in outputs)
    selected = dict.fromkeys(sentence for _, sentences in outputs for sentence in sentences)
    citations, lost = _citations(source, text, selected)
    for what, action in _remarks(lost, silent=silent, cited=bool(citations)) if answerable else ():
        said = f"question {case_id}: {what}"
        yield "", where, Problem(where=where, what=said, action=action)
    case = Case(
        case_id=case_id,
        question=question,
        answers=answers,
        gold=(Gold(source=source),) if answerable else (),
        citations=citations,
        answerable=answerable,
        why_unanswerable=None if answerable else "not-in-passage",
        hides=() if answerable else (source,),
        split=SPLIT,
        tags={"answerable": "yes" if answerable else "no", "title": title},
    )
    yield "", where, CaseItem(case_id=case.case_id, body=case.to_body())


def _listed(value: object, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"{what} must be a list, got {type(value).__name__}")
    return value


def _passage(passages: object) -> tuple[str, str]:
    """Title and text of the one passage."""
    found = _listed(passages, "passages")
    if len(found) != 1:
        raise ValueError(f"expected one passage, got {len(found)}")
    return words(found[0]["title"], "title"), words(found[0]["text"], "text")


def _output(output: dict[str, Any]) -> tuple[str, list[str]]:
    """An annotator's answer, "" where none was written, and the sentences that were selected for it."""
    answer = output["answer"]
    blank = isinstance(answer, str) and not answer.strip()
    selected = _listed(output["selected_sentences"], "selected_sentences")
    sentences = [words(sentence, "a selected sentence").strip() for sentence in selected]
    return "" if blank else words(answer, "answer"), sentences


def _remarks(lost: list[str], *, silent: bool, cited: bool) -> Iterator[tuple[str, str]]:
    """What is to be said of an answerable question, and what was done."""
    for sentence in lost:
        yield f"the selected sentence {sentence[:60]!r} is not in its passage", "skipped"
    if not cited and not lost:
        yield "answerable, but no sentence was selected; its passage is the evidence", "kept"
    if silent:
        yield "answerable, but an annotator wrote no answer text; the others' count", "kept"


def _citations(source: str, text: str, selected: Iterable[str]) -> tuple[tuple[Gold, ...], list[str]]:
    """The selected sentences as stretches of the passage, and those that are not in it."""
    spans: dict[tuple[int, int], str] = {}
    lost = []
    for sentence in selected:
        start = text.find(sentence)
        if start < 0:
            lost.append(sentence)
        else:
            spans[start, start + len(sentence)] = sentence
    gold = tuple(
        Gold(source=source, start=start, end=end, quote=quote)
        for (start, end), quote in sorted(spans.items())
    )
    return gold, lost
