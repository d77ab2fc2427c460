"""Is a labelled set sound? A table of checks, each from what the dataset holds to what is wrong with it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from core import clock
from core.ingest.items import Problem
from core.text import normalize
from evals.cases import Case, Gold
from evals.contents import Contents


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is wrong: which check says so, of which dataset, where (``file:line``, or the case) and what."""

    check: str
    dataset: str
    where: str
    what: str

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


Said = Iterator[tuple[str, str]]
"""Where, and what."""


def validate(dataset: Contents, problems: Iterable[Problem] = ()) -> list[Finding]:
    """Every finding of every check, in the order of ``CHECKS``; ``problems`` are those of reading the input."""
    read = [
        Finding(check=_kind(one), dataset=dataset.name, where=one.where, what=one.what) for one in problems
    ]
    return read + [
        Finding(check=name, dataset=dataset.name, where=where, what=what)
        for name, check in CHECKS.items()
        for where, what in check(dataset)
    ]


def question_key(case: Case) -> str:
    """What makes two questions one: the words, without regard to case, blanks and the marks at the end, and the times."""
    words = " ".join(normalize(case.question).split()).rstrip(" ?!.")
    return "\x1f".join((words, case.as_of or "", case.known_at or ""))


def sources_of(case: Case) -> set[str]:
    """The documents a question is about: its evidence, and what would be hidden from it."""
    return {gold.document for gold in (*case.gold, *case.citations)} | set(case.hides)


def _kind(problem: Problem) -> str:
    return LINKS if problem.what.startswith("link from") else INPUT


def _place(dataset: Contents, case_id: str) -> str:
    return dataset.places.get(case_id, f"case {case_id}")


def _shapes(dataset: Contents) -> Said:
    for case_id, why in dataset.broken.items():
        yield _place(dataset, case_id), why


def _duplicates(dataset: Contents) -> Said:
    first: dict[tuple[str, str | None], str] = {}
    for case in dataset.cases:
        key = question_key(case), case.split
        if key in first:
            yield _place(dataset, case.case_id), f"the question of {case.case_id!r} is that of {first[key]!r}"
        first.setdefault(key, case.case_id)


def _leaking_questions(dataset: Contents) -> Said:
    first: dict[str, Case] = {}
    for case in dataset.cases:
        other = first.setdefault(question_key(case), case)
        if None not in (case.split, other.split) and case.split != other.split:
            what = f"the question of {case.case_id!r} ({case.split}) is that of {other.case_id!r} ({other.split})"
            yield _place(dataset, case.case_id), what


def _leaking_sources(dataset: Contents) -> Said:
    splits: dict[str, dict[str, str]] = defaultdict(dict)
    for case in dataset.cases:
        for source in sorted(sources_of(case)) if case.split else ():
            splits[source].setdefault(str(case.split), case.case_id)
    for source, found in splits.items():
        if len(found) > 1:
            used = ", ".join(f"{split} ({case_id!r})" for split, case_id in found.items())
            yield _place(dataset, list(found.values())[-1]), f"the document {source!r} is evidence in {used}"


def _leaking_notes(dataset: Contents) -> Said:
    used = {source: case for case in dataset.cases if case.split for source in sources_of(case)}
    for note, parent in dataset.made_from:
        of_note, of_parent = used.get(note.source), used.get(parent.source)
        if of_note and of_parent and note.source != parent.source and of_note.split != of_parent.split:
            what = f"the note {note.name or note.source!r} ({of_note.split}) is made from {parent.source!r}"
            yield _place(dataset, of_note.case_id), f"{what}, which is evidence in {of_parent.split}"


def _early_notes(dataset: Contents) -> Said:
    for note, parent in dataset.made_from:
        if note.valid_at and parent.valid_at and note.valid_at < parent.valid_at:
            what = f"made on {note.valid_at} from {parent.name or parent.source!r} of {parent.valid_at}, which is later"
            yield f"note {note.name or note.source}", what


def _dangling(dataset: Contents) -> Said:
    sources = dataset.sources
    facts = {(fact.source, fact.relation, fact.target) for fact in dataset.facts}
    for case in dataset.cases:
        for gold in dict.fromkeys((*case.gold, *case.citations)):
            if gold.fact is not None and gold.fact not in facts:
                yield _place(dataset, case.case_id), f"case {case.case_id!r}: there is no fact {gold.key!r}"
            if gold.fact is not None and not gold.source:
                continue
            if gold.source not in sources:
                yield (
                    _place(dataset, case.case_id),
                    f"case {case.case_id!r}: there is no source {gold.source!r}",
                )
            elif gold.turn is not None and (gold.source, gold.turn) not in dataset.texts:
                what = f"case {case.case_id!r}: the source {gold.source!r} has no turn {gold.turn!r}"
                yield _place(dataset, case.case_id), what
        for source in case.hides:
            if source not in sources:
                yield (
                    _place(dataset, case.case_id),
                    f"case {case.case_id!r} hides {source!r}, which is not there",
                )


def _quotes(dataset: Contents) -> Said:
    for case in dataset.cases:
        for gold in dict.fromkeys((*case.gold, *case.citations)):
            text = dataset.text_of(gold)
            fault = _misquoted(gold, text) if text is not None else None
            if fault:
                yield _place(dataset, case.case_id), f"case {case.case_id!r}, {gold.key!r}: {fault}"


def _misquoted(gold: Gold, text: str) -> str | None:
    if gold.quote is not None and gold.quote not in text:
        return f"the quote {gold.quote[:60]!r} does not occur"
    if gold.start is None and gold.end is None:
        return None
    if gold.start is None or gold.end is None or not 0 <= gold.start < gold.end <= len(text):
        return f"start {gold.start} and end {gold.end} are no stretch of its {len(text)} characters"
    if gold.quote is not None and text[gold.start : gold.end] != gold.quote:
        return f"[{gold.start}:{gold.end}] is {text[gold.start : gold.end][:60]!r}, not the quote {gold.quote[:60]!r}"
    return None


def _single_class(dataset: Contents) -> Said:
    for split, cases in by_split(dataset.cases).items():
        labels = {case.answerable for case in cases} - {None}
        if len(labels) == 1:
            (label,) = labels
            kind = "answerable" if label else "unanswerable"
            what = (
                f"all {len(cases)} cases of split {split or '(none)'} are {kind}: abstention cannot be judged"
            )
            yield f"split {split or '(none)'}", what


def _dates(dataset: Contents) -> Said:
    for fact in dataset.facts:
        place = f"fact {fact.source} {fact.relation} {fact.target}"
        for begin, end in (("valid_at", "invalid_at"), ("created_at", "expired_at")):
            first, last = getattr(fact, begin), getattr(fact, end)
            if first and last and last < first:
                yield place, f"{end} {last} lies before {begin} {first}"
    for case in dataset.cases:
        for name in ("as_of", "known_at"):
            try:
                clock.parse(getattr(case, name) or "2000")
            except ValueError as error:
                yield _place(dataset, case.case_id), f"case {case.case_id!r}: {name}: {error}"


def by_split(cases: Iterable[Case]) -> dict[str | None, list[Case]]:
    """The cases of each split, in the order they came in."""
    splits: dict[str | None, list[Case]] = {}
    for case in cases:
        splits.setdefault(case.split, []).append(case)
    return splits


INPUT, LINKS = "input", "links"
"""What reading the input finds, before there is anything to check."""
CHECKS: Mapping[str, Callable[[Contents], Said]] = {
    "shape": _shapes,
    "duplicate-question": _duplicates,
    "leak-question": _leaking_questions,
    "leak-source": _leaking_sources,
    "leak-note": _leaking_notes,
    "dangling-evidence": _dangling,
    "quote": _quotes,
    "single-class": _single_class,
    "dates": _dates,
    "note-dates": _early_notes,
}
ABOUT: Mapping[str, str] = {
    INPUT: "lines that cannot be taken: malformed, a wrong type, an id twice",
    LINKS: "links whose ends are not there, or on no lower level",
    "shape": "labelled questions that are no case",
    "duplicate-question": "a question asked twice in one split",
    "leak-question": "a question in two splits",
    "leak-source": "a document that is evidence in two splits",
    "leak-note": "a note of one split that is made from evidence of another",
    "dangling-evidence": "gold evidence that names no stored source, turn or fact",
    "quote": "quotes that do not occur, or not where they are said to stand",
    "single-class": "splits with answerable or unanswerable cases only",
    "dates": "facts that end before they begin, times that are none",
    "note-dates": "notes that are older than what they were made from",
}
"""What each check is about."""


def counted(findings: Iterable[Finding]) -> dict[str, int]:
    """How many findings each check has, those with none left out."""
    found = Counter(one.check for one in findings)
    return {name: found[name] for name in ABOUT if found[name]}
