"""WiCE: does an article support a claim? ``claim/SPLIT.jsonl[.gz]`` (or ``subclaim/``), sentences as evidence.

The claim is the question, the article a document, and the sentences that annotators marked are the citations: each
annotator's set is an alternative. ``supported`` and ``partially_supported`` are answerable (``--filter label=…`` tells
them apart), ``not_supported`` is not. Files of ``non_supported_tokens/`` label words, not sentences, and are not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from core.ingest import chunk
from core.ingest.items import ArtifactItem, CaseItem, Problem
from evals.cases import Case, Gold
from evals.formats import Row
from evals.formats.lines import identifier, words
from evals.formats.passages import Span, joined, quoted
from evals.formats.records import Placed, Record, each, files_of, listed, records, split_of

FILES = ("claim/train.jsonl", "claim/dev.jsonl", "claim/test.jsonl", "train.jsonl", "dev.jsonl", "test.jsonl")
LABELS = ("supported", "partially_supported", "not_supported")
_TITLE = "(meta data) TITLE: "


def load(path: Path) -> Iterator[Row]:
    """Claim by claim: its article, then the claim as a question."""
    seen: dict[str, str] = {}
    for file in files_of(path, FILES, "WiCE"):
        split = split_of(file)
        rows = each(records(file), partial(_claim, seen=seen, split=split), "a claim of WiCE")
        yield from (("", where, item) for where, item in rows)


def _claim(where: str, row: Record, seen: dict[str, str], split: str | None) -> Iterator[Placed]:
    meta = row["meta"]
    case_id, claim, label = identifier(meta["id"], "meta.id"), words(row["claim"], "claim"), row["label"]
    if label not in LABELS:
        raise ValueError(f"label must be one of {', '.join(LABELS)}, got {label!r}")
    sentences = listed(row["evidence"], "evidence")
    text, spans = joined(sentences)
    marked = [_marked(one, spans) for one in listed(row["supporting_sentences"], "supporting_sentences")]
    title = next((one[len(_TITLE) :].strip() for one in sentences if one.startswith(_TITLE)), "")
    about = words(meta["claim_title"], "meta.claim_title")
    source = f"{title or about}#{sha256(words(text, 'evidence').encode()).hexdigest()[:12]}"
    if source in seen:
        what = f"claim {case_id}: its article stood at {seen[source]} already"
        yield where, Problem(where=where, what=what, action="kept once")
    else:
        seen[source] = where
        yield where, ArtifactItem(source=source, text=text, title=title)
    yield from ((where, Problem(where=where, what=f"claim {case_id}: {what}", action=action))
                for what, action in _remarks(label, marked))  # fmt: skip
    supported = label != "not_supported"
    sets = list(dict.fromkeys(tuple(one) for one in marked if one)) if supported else []
    citations, alternatives = _citations(source, text, spans, sets)
    case = Case(
        case_id=case_id, question=claim, gold=(Gold(source=source),) if supported else (), citations=citations,
        answerable=supported, alternatives=alternatives, why_unanswerable=None if supported else "not-supported",
        hides=() if supported else (source,), split=split, tags={"label": label, "about": about},
    )  # fmt: skip
    yield where, CaseItem(case_id=case_id, body=case.to_body())


def _marked(value: Any, spans: Sequence[Span | None]) -> list[int]:
    """The sentences of one annotator, in order. ValueError: there is no such sentence."""
    for number in listed(value, "an alternative"):
        if type(number) is not int or not 0 <= number < len(spans) or spans[number] is None:
            raise ValueError(f"there is no sentence {number!r} among {len(spans)}")
    return sorted(set(value))


def _remarks(label: str, marked: list[list[int]]) -> Iterator[tuple[str, str]]:
    sets = [tuple(one) for one in marked if one]
    if label == "not_supported" and sets:
        yield "not supported, yet an annotator marked sentences; they are no evidence", "dropped"
    if label != "not_supported" and len(sets) < len(marked):
        yield "an annotator marked no sentence of a supported claim; the others' sets count", "dropped"
    if len(set(sets)) < len(sets):
        yield "two annotators marked the same sentences", "kept once"


def _citations(
    source: str, text: str, spans: Sequence[Span | None], sets: list[tuple[int, ...]]
) -> tuple[tuple[Gold, ...], tuple[tuple[int, ...], ...]]:
    """Each marked sentence once, cut where a chunk ends inside it, and each set as places among them."""
    chunks = chunk.spans(text)
    parts: dict[int, list[int]] = {}
    golds: list[Gold] = []
    for number in sorted({number for one in sets for number in one}):
        span = spans[number]
        cut = (
            [(max(span[0], a), min(span[1], b)) for a, b in chunks if a < span[1] and span[0] < b]
            if span
            else []
        )
        parts[number] = list(range(len(golds), len(golds) + len(cut)))
        golds += [quoted(source, text, piece) for piece in cut]
    places = tuple(tuple(place for number in one for place in parts[number]) for one in sets)
    return tuple(golds), places if len(places) > 1 else ()
