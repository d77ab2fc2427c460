"""CLAPnq: ``dev_answerable.jsonl`` and ``dev_unanswerable.jsonl``, one passage a question.

Equal passages are stored once. The passage of an unanswerable question is from the right article and does not answer:
variant ``near-miss`` keeps it, variant ``absent`` hides it from that question.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from core.errors import DataError
from core.ingest.items import ArtifactItem, CaseItem, Problem
from evals.cases import Case, Gold
from evals.formats import Row
from evals.formats.lines import found, json_lines

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
    if len(row["passages"]) != 1:
        raise ValueError(f"expected one passage, got {len(row['passages'])}")
    passage = row["passages"][0]
    title, text = str(passage["title"]), str(passage["text"])
    digest = sha256("\n".join((title, text)).encode()).hexdigest()
    source = f"{title}#{digest[:12]}"
    if source in seen:
        what = f"the passage {title!r} stood at {seen[source]} already; stored once"
        yield "", where, Problem(where=where, what=what, action="kept once")
    else:
        seen[source] = where
        yield "", where, ArtifactItem(source=source, text=text, title=title, whole=True)
    answers = tuple(
        dict.fromkeys(str(output["answer"]) for output in row["output"] if str(output["answer"]).strip())
    )
    citations, lost = _citations(source, text, row["output"])
    for what, action in _remarks(row, lost, answerable=answerable, cited=bool(citations)):
        said = f"question {row['id']}: {what}"
        yield "", where, Problem(where=where, what=said, action=action)
    case = Case(
        case_id=str(row["id"]),
        question=str(row["input"]),
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


def _remarks(
    row: dict[str, Any], lost: list[str], *, answerable: bool, cited: bool
) -> Iterator[tuple[str, str]]:
    for sentence in lost:
        yield f"the selected sentence {sentence[:60]!r} is not in its passage", "skipped"
    if answerable and not cited and not lost:
        yield "answerable, but no sentence was selected; its passage is the evidence", "kept"
    if answerable and any(not str(output["answer"]).strip() for output in row["output"]):
        yield "answerable, but an annotator wrote no answer text; the others' count", "kept"


def _citations(source: str, text: str, outputs: list[dict[str, Any]]) -> tuple[tuple[Gold, ...], list[str]]:
    """The annotators' sentences as stretches of the passage, and those that are not in it."""
    spans: dict[tuple[int, int], str] = {}
    lost = []
    for sentence in dict.fromkeys(
        str(part).strip() for output in outputs for part in output["selected_sentences"]
    ):
        start = text.find(sentence)
        if start < 0 or not sentence:
            lost.append(sentence)
        else:
            spans[start, start + len(sentence)] = sentence
    gold = tuple(
        Gold(source=source, start=start, end=end, quote=quote)
        for (start, end), quote in sorted(spans.items())
    )
    return gold, lost
